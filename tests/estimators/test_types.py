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
load("model.subspaces").anything
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


@pytest.mark.slow
def test_mypy_finds_misspelt_names(tmp_path):
    pytest.importorskip("mypy")
    (tmp_path / "code.py").write_text(CODE)
    words = ["--config-file", str(ROOT / "pyproject.toml"), "--cache-dir", str(ROOT / ".mypy_cache"), "code.py"]
    found = subprocess.run(
        [sys.executable, "-m", "mypy", *words],
        cwd=tmp_path,
        env={"MYPYPATH": str(ROOT / "src"), "PATH": ""},
        capture_output=True,
        text=True,
    ).stdout
    wrong = sorted(int(line.split(":")[1]) for line in found.splitlines() if " error:" in line)
    assert wrong == [4, 5, 8], found
