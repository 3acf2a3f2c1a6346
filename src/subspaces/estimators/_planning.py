"""The plan of a fit of FLS from its parameters."""

from __future__ import annotations

from typing import Any

from subspaces._core.validation import check_integer, is_auto
from subspaces.rows.plan import Plan, make_plan
from subspaces.selection.choosing import landmark_count, nearest_count, searches_flats
from subspaces.selection.limits import DRAWN_ROWS_PER_LANDMARK
from subspaces.selection.thresholds import DIMS


def plan_of(model: Any, n_rows: int, n_columns: int, **machine: Any) -> Plan:
    """What `model.fit` would do with rows (n, p)."""
    for name in ("n_landmarks", "subspace_dim", "n_draws", "n_nearest"):
        value = getattr(model, name)
        if not is_auto(value) and not (value is None and name == "n_nearest"):
            check_integer(name, value, low=0 if name == "subspace_dim" else 1)
    asked = model._asked()
    n_landmarks = landmark_count(n_rows, asked)
    drawn = landmark_count(n_rows, asked, is_settled=True)
    return make_plan(
        n_rows,
        n_columns,
        n_landmarks=n_landmarks,
        subspace_dim=max(DIMS) if is_auto(model.subspace_dim) else int(model.subspace_dim),
        usual_dim=DIMS[len(DIMS) // 2] if is_auto(model.subspace_dim) else None,
        max_columns=model._row_options().max_columns,
        n_nearest=nearest_count(model.n_nearest, n_landmarks, n_rows),
        drawn=(DRAWN_ROWS_PER_LANDMARK * drawn, drawn) if searches_flats(asked) else None,
        n_draws=1 if is_auto(model.n_draws) else int(model.n_draws),
        **machine,
    )
