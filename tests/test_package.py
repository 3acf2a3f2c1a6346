"""What the package promises as a whole: its names, its imports, its files."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import subspaces

ROOT = Path(__file__).parent.parent


def run_python(code):
    # A user's own options must not decide what is imported.
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "COV"))}
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment
    ).stdout


def test_every_public_name_exists():
    for name in subspaces.__all__:
        assert getattr(subspaces, name) is not None
    assert dir(subspaces) == sorted(subspaces.__all__)
    with pytest.raises(AttributeError, match="nothing_like_it"):
        _ = subspaces.nothing_like_it


@pytest.mark.parametrize("module", subspaces._MODULES)
def test_public_modules_list_their_names(module):
    home = getattr(subspaces, module)
    for name in home.__all__:
        assert hasattr(home, name)


def test_documented_modules_are_imported_on_access():
    code = "import subspaces; print(subspaces.selection.Choice is subspaces.choice.Choice, subspaces.rows.RowSource)"
    assert run_python(code).startswith("True")


def test_importing_the_package_is_free():
    loaded = json.loads(
        run_python("import subspaces, sys, json; print(json.dumps([m for m in sys.modules if '.' not in m]))")
    )
    assert not {"numpy", "scipy", "sklearn"} & set(loaded)


def test_importing_fls_loads_no_optional_framework():
    # What scikit-learn loads by itself, as pandas where it is installed, is not ours.
    loaded = json.loads(
        run_python(
            "import sys, json, sklearn.cluster; before = set(sys.modules); from subspaces import FLS;"
            "print(json.dumps([m for m in sys.modules if m not in before]))"
        )
    )
    assert not {"torch", "cupy", "dask", "matplotlib", "zarr", "pyarrow", "h5py"} & set(loaded)


def test_versions_agree():
    import re

    assert f'version = "{subspaces.__version__}"' in (ROOT / "pyproject.toml").read_text()
    assert re.search(rf"^version: {subspaces.__version__}$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE)


@pytest.mark.parametrize(
    "file",
    [
        "README.md",
        "docs/benchmarks.md",
        "docs/index.md",
        "docs/methods.md",
        "docs/scaling.md",
        "docs/studies.md",
        "docs/theory.md",
        "docs/which-method.md",
    ],
)
def test_tables_come_from_the_kept_results(file, monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    import tables

    text = (ROOT / file).read_text()
    for table in tables.TABLES[file]:
        assert f"<!-- {table.__name__}: made by" in text
    assert tables.with_tables(file) == text
