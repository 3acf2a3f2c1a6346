"""Types that editors and type checkers know: fitted attributes, and what `load` returns."""

import subprocess
import sys
from pathlib import Path

import pytest
from test_all_estimators import ESTIMATORS, LINES

from subspaces import FLS, KFlats, load

ROOT = Path(__file__).parents[2]
CODE = """
from subspaces import FLS, KASP, KFlats, load
FLS(3).fit([[1.0]]).agreement_
FLS(3).fit([[1.0]]).agreemnt_  # line 4
KFlats(3).predct([[1.0]])  # line 5
KASP(3).centroids_ + FLS("auto").set_params(n_clusters=3).labels_
load("model.subspaces", FLS).confidence_
load("model.subspaces", FLS).confidense_  # line 8
load("model.subspaces").agreemnt_  # line 9
load("model.subspaces").predict([[1.0]]) + load("model.subspaces").labels_
model = load("model.subspaces")
if isinstance(model, FLS):
    model.agreement_
    model.agreemnt_  # line 14
"""
# Every estimator is what `load` returns.
PROTOCOL = """
import subspaces
from subspaces.saving import SavedModel
models: list[SavedModel] = [{}]
"""


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ESTIMATORS)
def test_fitted_attributes_are_declared(name):
    model = ESTIMATORS[name].fit(LINES)
    known = {each for base in type(model).__mro__ for each in vars(base).get("__annotations__", {})}
    assert {each for each in vars(model) if each.endswith("_")} <= known


def test_load_refuses_another_kind(tmp_path):
    path = KFlats(2, subspace_dim=1, random_state=0).fit(LINES).save(tmp_path / "model.subspaces")
    assert isinstance(load(path, KFlats), KFlats)
    with pytest.raises(ValueError, match="holds KFlats, not FLS"):
        load(path, FLS)


def wrong_lines(code, folder):
    """Lines of the code in which mypy finds errors, and what it prints."""
    pytest.importorskip("mypy")
    (folder / "code.py").write_text(code)
    words = ["--config-file", str(ROOT / "pyproject.toml"), "--cache-dir", str(ROOT / ".mypy_cache"), "code.py"]
    found = subprocess.run(
        [sys.executable, "-m", "mypy", *words],
        cwd=folder,
        env={"MYPYPATH": str(ROOT / "src"), "PATH": ""},
        capture_output=True,
        text=True,
    ).stdout
    return sorted(int(line.split(":")[1]) for line in found.splitlines() if " error:" in line), found


@pytest.mark.slow
def test_mypy_finds_misspelt_names(tmp_path):
    wrong, found = wrong_lines(CODE, tmp_path)
    assert wrong == [4, 5, 8, 9, 14], found


@pytest.mark.slow
def test_every_estimator_has_what_loaded_models_have(tmp_path):
    names = sorted({type(model).__name__ for model in ESTIMATORS.values()})
    wrong, found = wrong_lines(PROTOCOL.format(", ".join(f"subspaces.{name}(2)" for name in names)), tmp_path)
    assert (wrong, "Success" in found) == ([], True), found
