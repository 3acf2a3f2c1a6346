"""What the package promises as a whole: its names, its imports, its files."""

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
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
    assert f'version = "{subspaces.__version__}"' in (ROOT / "pyproject.toml").read_text()
    assert re.search(rf"^version: {subspaces.__version__}$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE)


def test_the_oldest_versions_are_the_lower_bounds():
    content = tomllib.loads((ROOT / "pyproject.toml").read_text())
    extras = content["project"]["optional-dependencies"]
    given = [*content["project"]["dependencies"], *extras["plot"], *extras["io"], *content["dependency-groups"]["test"]]
    bounds = dict(re.fullmatch(r"([\w-]+)(?:\[.*\])?>=([\w.]+)", each).groups() for each in given)
    # Packages that are not ours to require have upper bounds only.
    lines = [line for line in (ROOT / "tests/oldest.txt").read_text().splitlines() if not line.startswith("#")]
    pinned = dict(line.split("==") for line in lines if "<" not in line)
    assert {re.match(r"[\w-]+", each)[0] for each in content["project"]["dependencies"]} <= set(pinned)
    for name, version in pinned.items():
        # 2.0 and 2.0.0 are the same version.
        assert version == bounds[name] or re.fullmatch(rf"{re.escape(bounds[name])}(\.0)+", version), name
    assert set(extras["all"][0][len("subspaces[") : -1].split(",")) == set(extras) - {"all"}


@pytest.mark.slow
def test_the_image_has_all_that_it_needs(tmp_path):
    """The steps of the Dockerfile without Docker: the copied files alone give a package whose program runs."""
    extras = re.search(r'pip install --no-cache-dir "/source\[(.*)\]"', (ROOT / "Dockerfile").read_text())[1].split(",")
    known = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert set(extras) <= set(known["optional-dependencies"])
    assert known["scripts"]["subspaces"]
    source = tmp_path / "source"
    source.mkdir()
    for name in ("pyproject.toml", "README.md", "LICENSE", "src"):
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, source / name)
    words = ["-m", "pip", "install", "--no-deps", "--no-build-isolation", "--target", tmp_path / "site", source]
    subprocess.run([sys.executable, *map(str, words)], check=True, capture_output=True)
    shutil.rmtree(source)
    (tmp_path / "rows.csv").write_text("a,b\n" + "".join(f"{i % 2},{i}\n" for i in range(20)))
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(tmp_path / "site"), "HOME": "/nonexistent"}
    words = ["-m", "subspaces", "fit", "rows.csv", "-k", "2", "--out", "run"]
    subprocess.run([sys.executable, *words], cwd=tmp_path, env=environment, check=True, capture_output=True)
    assert (tmp_path / "run/report.html").is_file()


def test_the_workflow_is_valid():
    """Jobs have steps; each uses a fixed version of an action or runs a command; its Python is supported."""
    yaml = pytest.importorskip("yaml")
    workflow = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text())
    least = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["requires-python"].removeprefix(">=")
    # YAML 1.1 reads the key `on` as true.
    assert {"push", "pull_request"} <= set(workflow[True])
    for job in workflow["jobs"].values():
        assert job["runs-on"].startswith("ubuntu-")
        for step in job["steps"]:
            assert ("run" in step) != bool(re.fullmatch(r"actions/[\w-]+@v\d+", step.get("uses", "")))
    versions = workflow["jobs"]["check"]["strategy"]["matrix"]["python"]
    assert least in versions
    assert os.access(ROOT / ".ci/run", os.X_OK)


def test_the_workflow_runs_what_a_change_must_pass():
    workflow = (ROOT / ".github/workflows/ci.yml").read_text()
    targets = re.findall(r"run: make (\w+)", workflow) + re.findall(
        r"^make (\w+)", (ROOT / ".ci/run").read_text(), re.M
    )
    made = (ROOT / "Makefile").read_text()
    assert "run: .ci/run" in workflow
    assert {"test", "slow", "lint", "types", "dist", "docs", "oldest"} <= set(targets)
    assert all(f"\n{target}:" in made for target in targets)


def test_the_image_copies_files_that_exist_and_runs_the_program():
    lines = (ROOT / "Dockerfile").read_text().splitlines()
    copied = [word for line in lines if line.startswith("COPY") for word in line.split()[1:-1]]
    ignored = (ROOT / ".dockerignore").read_text().splitlines()
    assert {"pyproject.toml", "README.md", "LICENSE", "src"} == set(copied)
    for name in copied:
        assert (ROOT / name).exists()
        assert f"!{name}" in ignored
    assert 'ENTRYPOINT ["subspaces"]' in lines
    assert 'CMD ["demo"]' in lines
    # The commands of the start page are those at the top.
    said = re.findall(r"`(docker (?:build|run) [^`]+)`", (ROOT / "docs/start.md").read_text())
    assert len(said) == 2
    assert {f"# {command}" for command in said} <= set(lines)


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
    assert tables.without_marks(tables.with_tables(file)) == tables.without_marks(text)
