"""Measure all theoretical results on standard data, and draw them in one figure."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from subspaces._core.errors import InputError, UserTypeError
from subspaces._core.progress import advance, shown
from subspaces._core.validation import check_option
from subspaces.datasets import make_subspaces
from subspaces.features import FeatureMap, FourierFeatures, LandmarkFeatures, SubspaceFeatures
from subspaces.paper.theory.curve import Curve, mean_over_draws
from subspaces.paper.theory.eigenspace import eigenspace_error, eigenspace_error_by_rows
from subspaces.paper.theory.kernel import kernel_error, kernel_error_by_rows
from subspaces.paper.theory.matrix_perturbation import Perturbation, perturbation
from subspaces.paper.theory.needed import LandmarksNeeded, landmarks_needed, pilot_errors
from subspaces.paper.theory.source import FittedMaps
from subspaces.paper.theory.uniform import UniformMeasure, uniform_measure

STAGE = "theory"  # of progress events
FAMILIES = ("Fourier", "landmarks", "subspaces")
# Flats fitted again at every n: with more rows, the same number of neighbours covers a smaller region, finally noise.
REFITTED = "subspaces, refitted"
STEPS = ("kernel_error", "kernel_error_by_rows", "eigenspace_error", "eigenspace_error_by_rows", "perturbation")
# SIGMA is narrow enough to separate clusters. WIDE_SIGMA keeps the smallest kernel entry, by which Lemma 4.3 divides,
# away from zero.
SIGMA = 0.5
WIDE_SIGMA = 1.0
DATA = "two affine planes in R^6, noise 0.02, centred and scaled into the unit ball"

# Full and small sizes. In pairs, the first is for Fourier features: their draws cost more, exact matrices are n x n.
SIZES: dict[bool, dict[str, Any]] = {
    False: {
        "rows": 2000,
        "kernel": {"n_features": [2**k for k in range(5, 13)]},
        "kernel_draws": (20, 200),
        "by_rows": {"n_rows": [10**3, 10**4, 10**5, 10**6], "n_features": 128, "n_reference": 512},
        "by_rows_draws": (8, 100),
        "eigenspace": {"n_features": [2**k for k in range(5, 11)], "n_draws": 40},
        "eigenspace_by_rows": {"n_features": 256, "n_draws": 10, "n_reference": 512},
        "eigenspace_rows": ([500, 1000, 2000, 4000], [500, 1000, 4000, 20_000, 100_000]),
        "perturbation": {"n_features": [2**k for k in range(7, 14)], "n_draws": 10},
        "perturbation_rows": 500,
        "uniform": {"n_angles": 25, "n_pairs": 10, "n_subspaces": 4000},
        "tolerances": [0.05],
        "needed_draws": None,
    },
    True: {
        "rows": 400,
        "kernel": {"n_features": [32, 128, 512], "n_pairs": 200},
        "kernel_draws": (10, 50),
        "by_rows": {"n_rows": [300, 1000, 3000], "n_features": 64, "n_reference": 128, "n_pairs": 200},
        "by_rows_draws": (10, 50),
        "eigenspace": {"n_features": [32, 128, 512], "n_draws": 5},
        "eigenspace_by_rows": {"n_features": 64, "n_draws": 5, "n_reference": 128},
        "eigenspace_rows": ([100, 200, 400], [300, 1000, 3000]),
        "perturbation": {"n_features": [256, 1024], "n_draws": 2},
        "perturbation_rows": 100,
        "uniform": {"n_angles": 7, "n_pairs": 3, "n_subspaces": 500},
        "tolerances": [0.2],
        "needed_draws": 4,
    },
}


def curves(*, small: bool = False, random_state: Any = 0, verbose: int = 0) -> dict[str, dict[str, Any]]:
    """Measure all theoretical results on standard data: about three minutes on one core, seconds if `small`.

    Parameters
    ----------
    small : bool, default=False
        Whether to use small sizes, for a quick check.
    random_state : int, RandomState instance or None, default=0
    verbose : int, default=0
        Whether to show progress.

    Returns
    -------
    found : dict of dict
        Plain values for `json.dumps`, one entry for each result: `kernel_error`, `kernel_error_by_rows`,
        `eigenspace_error`, `eigenspace_error_by_rows` and `perturbation` with one result for each of the kernel
        families under `families`, `uniform_measure` and `landmarks_needed`. Each has its `parameters` and `seconds`.
    """
    check_option("small", small, (True, False))
    with shown(verbose):
        return _curves(check_random_state(random_state), small=bool(small))


def _curves(rng: np.random.RandomState, *, small: bool) -> dict[str, dict[str, Any]]:
    sizes = SIZES[small]
    largest = max(sizes["by_rows"]["n_rows"])
    x = _rows(largest, rng)
    few = x[: sizes["rows"]]

    def measure(step: str, name: str) -> Curve | Perturbation:
        other = name != "Fourier"
        features = _map(name, WIDE_SIGMA if step == "perturbation" else SIGMA)
        if step == "kernel_error":
            draws = sizes["kernel_draws"][other]
            return kernel_error(few, features, **sizes["kernel"], n_draws=draws, random_state=rng)
        if step == "kernel_error_by_rows":
            options = {**sizes["by_rows"], "n_draws": sizes["by_rows_draws"][other], "fixed_measure": name != REFITTED}
            return kernel_error_by_rows(x, features, **options, random_state=rng)
        if step == "eigenspace_error":
            return eigenspace_error(few, features, **sizes["eigenspace"], random_state=rng)
        if step == "eigenspace_error_by_rows":
            counts = sizes["eigenspace_rows"][other]
            options = {**sizes["eigenspace_by_rows"], "n_rows": counts, "fixed_measure": name != REFITTED}
            return eigenspace_error_by_rows(x[: counts[-1]], features, **options, random_state=rng)
        return perturbation(x[: sizes["perturbation_rows"]], features, **sizes["perturbation"], random_state=rng)

    found: dict[str, dict[str, Any]] = {}
    done, total = 0, sum(len(_families(step)) for step in STEPS) + 2
    for step in STEPS:
        start, families = time.perf_counter(), {}
        for name in _families(step):
            advance(STAGE, done, total, detail=f"{step.replace('_', ' ')}: {name}")
            families[name] = measure(step, name).to_dict()
            done += 1
        parameters = {"data": DATA, "sigma": WIDE_SIGMA if step == "perturbation" else SIGMA, "small": small}
        found[step] = {"parameters": parameters, "families": families, "seconds": time.perf_counter() - start}
    advance(STAGE, done, total, detail="uniform measure")
    found["uniform_measure"] = _timed(lambda: uniform_measure(**sizes["uniform"], random_state=rng).to_dict())
    advance(STAGE, done + 1, total, detail="landmarks needed")
    found["landmarks_needed"] = _timed(lambda: _needed(few, sizes, rng))
    return found


def _families(step: str) -> tuple[str, ...]:
    return (*FAMILIES, REFITTED) if step.endswith("by_rows") else FAMILIES


def draw(curves: Mapping[str, Mapping[str, Any]], path: str | Path) -> None:
    """Draw the result of `curves`, possibly read from JSON, as a PNG with six panels."""
    from subspaces.paper.theory.plots import new_figure, plot_perturbation, plot_together, plot_uniform

    _check_steps(curves, (*STEPS, "uniform_measure"))
    figure, axes = new_figure(2, 3)
    panels = (
        ("kernel_error", "max", "Theorem 4.1: kernel entries, by features"),
        ("kernel_error_by_rows", "max", "Theorem 4.1: kernel entries, by rows"),
        ("eigenspace_error", "sine", "Theorem 4.5: eigenvectors, by features"),
        ("eigenspace_error_by_rows", "sine", "Theorem 4.5: eigenvectors, by rows"),
    )
    for ax, (step, measure, title) in zip(axes.ravel(), panels, strict=False):
        plot_together({name: Curve.from_dict(each) for name, each in curves[step]["families"].items()}, measure, ax)
        ax.set_title(title, loc="left", fontsize=10)
    plot_perturbation(Perturbation.from_dict(curves["perturbation"]["families"]["subspaces"]), axes[1, 1])
    axes[1, 1].set_title("Lemma 4.3: terms and bounds (subspaces)", loc="left", fontsize=10)
    plot_uniform(UniformMeasure.from_dict(curves["uniform_measure"]), axes[1, 2])
    axes[1, 2].set_title("Lemma 3.1: depends on distance only", loc="left", fontsize=10)
    figure.savefig(path, dpi=130, format="png")


def table(curves: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """The result of `curves` as lines of a Markdown table, one column for each family of kernels."""
    _check_steps(curves, (*STEPS, "uniform_measure", "landmarks_needed"))
    lines = [
        "| | " + " | ".join(FAMILIES) + " |",
        "|---" * (1 + len(FAMILIES)) + "|",
    ]

    def add(claim: str, cell: Callable[[Mapping[str, Any]], str], step: str) -> None:
        families = curves[step]["families"]
        lines.append(f"| {claim} | " + " | ".join(cell(families[name]) for name in FAMILIES) + " |")

    def slope(each: Mapping[str, Any]) -> str:
        return f"{each['slope']:.2f} ± {each['slope_error']:.2f}"

    def ends(each: Mapping[str, Any]) -> str:
        means = mean_over_draws(Curve.from_dict(each).errors)
        return f"{means[0]:.3g} at n = {each['sizes'][0]:,}, {means[-1]:.3g} at {each['sizes'][-1]:,}"

    def terms(each: Mapping[str, Any]) -> str:
        found = Perturbation.from_dict(each)
        share = np.nanmax(found.norms / found.bounds, axis=(0, 1))
        return ", ".join(f"{value:.2f}" for value in share) + ("" if found.holds else " (exceeded)")

    add("kernel error: slope in D", slope, "kernel_error")
    add("kernel error, by rows", ends, "kernel_error_by_rows")
    add("eigenspace error: slope in D", slope, "eigenspace_error")
    add("eigenspace error, by rows", ends, "eigenspace_error_by_rows")
    add("H1, H2, H3: largest share of the bound", terms, "perturbation")
    refitted = curves["eigenspace_error_by_rows"]["families"][REFITTED]
    lines += ["", f"Eigenspace error if flats are fitted again at every n: {ends(refitted)}."]
    uniform = curves["uniform_measure"]
    deviation = f"{uniform['rms_deviation']:.2f} standard errors, at most {uniform['max_deviation']:.1f}"
    lines += [f"Lemma 3.1: pairs differ from the closed form by {deviation}.", ""]
    lines += ["| `landmarks_needed` | tolerance | D | error at D |", "|---|---|---|---|"]
    for each in curves["landmarks_needed"]["answers"]:
        error = "–" if each["error"] is None else f"{each['error']:.3f}"
        name = f"{each['family']}, {each['criterion']}"
        lines.append(f"| {name} | {each['tolerance']} | {each['n_landmarks'] or '–'} | {error} |")
    return lines


def _check_steps(curves: Mapping[str, Any], steps: tuple[str, ...]) -> None:
    if not isinstance(curves, Mapping):
        raise UserTypeError(f"curves is {type(curves).__name__}: pass the result of theory.curves.", parameter="curves")
    missing = set(steps) - set(curves)
    if missing:
        raise InputError(f"curves lacks {', '.join(sorted(missing))}: pass the result of theory.curves.")


def _rows(count: int, rng: np.random.RandomState) -> NDArray[np.float64]:
    """Rows (count, 6) of the standard data, in random order."""
    x, _ = make_subspaces(
        (2, 2), 6, points_per_subspace=-(-count // 2), noise=0.02, outliers=0.0, affine=True, shuffle=True,
        random_state=rng,
    )  # fmt: skip
    x = x[:count] - x.mean(axis=0)
    return x / np.linalg.norm(x, axis=1).max()


def _map(name: str, sigma: float) -> FeatureMap:
    if name == "Fourier":
        return FourierFeatures(sigma=sigma)
    if name == "landmarks":
        return LandmarkFeatures(sigma=sigma, landmarks="random")
    return SubspaceFeatures(subspace_dim=2, sigma=sigma, landmarks="random", neighborhood=20)


def _needed(x: NDArray[np.float64], sizes: dict[str, Any], rng: np.random.RandomState) -> dict[str, Any]:
    """Answer of `landmarks_needed` for each family and tolerance, and the measured error with this many features."""
    rows = []
    for name in FAMILIES:
        features = _map(name, SIGMA)
        for criterion in ("kernel", "eigenspace"):
            for tolerance in sizes["tolerances"]:
                options = {"criterion": criterion, "n_clusters": 2, "n_draws": sizes["needed_draws"]}
                needed = landmarks_needed(x, tolerance, features, **options, random_state=rng)
                row = {"family": name, **{key: value for key, value in needed.to_dict().items() if key != "curve"}}
                rows.append({**row, "error": _error_at(x, features, needed, rng)})
    return {"parameters": {"data": DATA, "sigma": SIGMA, "n_rows": len(x)}, "answers": rows}


def _error_at(x: NDArray[np.float64], features: FeatureMap, needed: LandmarksNeeded, rng: Any) -> float | None:
    """Mean error of the map with the suggested number of landmarks."""
    if needed.n_landmarks is None:
        return None
    source = FittedMaps(features, x, len(x), rng)
    errors, _ = pilot_errors(source, x, needed.criterion, 2, (needed.n_landmarks,), 10, rng)
    return float(np.nanmean(errors))


def _timed(measure: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    start = time.perf_counter()
    return {**measure(), "seconds": time.perf_counter() - start}
