"""The hash of the code that a result depends on."""

import sys
from pathlib import Path

import pytest

import subspaces
from subspaces.datasets import make_subspaces
from subspaces.kernels import FourierFeatures
from subspaces.paper.reproduce import provenance
from subspaces.paper.reproduce.provenance import estimator_source, reached, source_hash

CACHED = (provenance._hash, provenance._lazy, provenance._source)


def forget():
    for cached in CACHED:
        cached.cache_clear()


def definitions(*modules, scripts=(), names=()):
    """The names of all definitions that these depend on, with their files."""
    found = set()
    for path, number in reached(modules, scripts, names):
        defined = provenance._source(path).defined
        found |= {f"{provenance._name(path)}:{name}" for name, numbers in defined.items() if number in numbers}
    return found


FILES = {
    "__init__.py": '_HOMES = {"A": "rooms.a", "B": "rooms.b"}\n',
    "rooms/__init__.py": "from subspaces.rooms.b import helper\n",
    "rooms/a.py": "from subspaces.rooms import helper\n\n\nclass A:\n    def fit(self):\n        return helper()\n",
    "rooms/b.py": """
from __future__ import annotations
from typing import TYPE_CHECKING
if TYPE_CHECKING:
    from subspaces.rooms.a import A
SIZE = 2
class B:
    count: int = SIZE
    def fit(self, other: A) -> A:
        from subspaces.rooms import c
        return c.f(other)
def helper():
    return 1
def unused():
    return SIZE
""",
    "rooms/c.py": "def f(x):\n    return x\n\n\ndef g():\n    from subspaces.rooms.a import A\n\n    return A\n",
    "cli/__init__.py": "",
    "cli/d.py": "x = 1\n",
}


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A small package in place of this one."""
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(provenance, "ROOT", tmp_path)
    forget()
    yield tmp_path
    forget()


def change(package, name, old, new):
    path = package / "rooms" / name
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    forget()


class TestSmallPackage:
    def test_names_are_followed_to_their_definitions(self, package):
        assert definitions(names=["A"]) == {"rooms/a.py:A", "rooms/b.py:helper"}
        assert definitions(names=["B"]) == {"rooms/b.py:B", "rooms/b.py:SIZE", "rooms/c.py:f"}
        assert definitions("subspaces.rooms.c") == {"rooms/c.py:f", "rooms/c.py:g", *definitions(names=["A"])}
        assert definitions("subspaces.cli.d", "numpy") == set()

    def test_statements_that_define_nothing_belong_to_their_file(self, package):
        before = estimator_source("A")
        change(package, "a.py", "class A", "helper.size = 3\n\n\nclass A")
        assert estimator_source("A") != before

    def test_a_module_that_is_passed_on_counts_as_a_whole(self, package):
        change(package, "b.py", "c.f(other)", "map(c, other)")
        assert {"rooms/c.py:f", "rooms/c.py:g", "rooms/a.py:A"} <= definitions(names=["B"])

    def test_unknown_names_of_a_module_stand_for_all_of_it(self, package):
        change(package, "b.py", "c.f(other)", "c.made_at_run_time")
        assert {"rooms/c.py:f", "rooms/c.py:g"} <= definitions(names=["B"])

    def test_scripts(self, package, tmp_path_factory):
        folder = tmp_path_factory.mktemp("scripts")
        (folder / "speed").mkdir()
        (folder / "data.py").write_text(
            "from subspaces import A\n\n\ndef load():\n    return A\n\n\ndef other(): ...\n"
        )
        (folder / "speed" / "script.py").write_text("import subspaces\nfrom data import load\nload(), subspaces.B()\n")
        scripts = [folder / "speed" / "script.py"]
        both = {*definitions(names=["A"]), *definitions(names=["B"])}
        assert definitions(scripts=scripts) == {"script.py:", "data.py:load", *both}

    @pytest.mark.parametrize(
        ("name", "old", "new", "is_same"),
        [
            ("b.py", "return 1", '"""Words."""\n    return 1  # why\n', True),
            ("b.py", "return SIZE", "return 3", True),
            ("b.py", "SIZE = 2", "SIZE = 3", True),
            ("b.py", "return 1", "return 2", False),
            ("a.py", "def fit", "def predict", False),
        ],
    )
    def test_what_counts(self, package, name, old, new, is_same):
        before = estimator_source("A")
        change(package, name, old, new)
        assert (estimator_source("A") == before) == is_same

    def test_estimators_depend_on_their_own_definitions(self, package):
        a, b, other = estimator_source("A.paper"), estimator_source("B"), estimator_source("KMeans")
        assert len({a, b, other}) == 3
        change(package, "a.py", "def fit", "x = 1\n\n    def fit")
        assert estimator_source("A") != a
        assert estimator_source("B") == b
        assert estimator_source("KMeans") == other

    def test_other_estimators_of_a_script_do_not_count(self, package, tmp_path_factory, monkeypatch):
        monkeypatch.setattr(provenance, "ESTIMATORS", "subspaces.rooms")
        script = tmp_path_factory.mktemp("scripts") / "script.py"
        script.write_text("from subspaces import A, B\n\nMETHODS = [A, B]\n")
        a, whole = estimator_source("A", scripts=[script]), source_hash([], [script])
        change(package, "b.py", "SIZE = 2", "SIZE = 3")
        assert estimator_source("A", scripts=[script]) == a
        assert source_hash([], [script]) != whole
        script.write_text("from subspaces import A, B\n\nMETHODS = [B, A]\n")
        forget()
        assert estimator_source("A", scripts=[script]) != a


def test_this_package():
    found = {name.split(":")[0] for name in definitions(names=["FLS"])}
    assert {"estimators/fls.py", "features/psi.py", "spectral/spectrum.py", "selection/choosing.py"} <= found
    assert not any(name.startswith(("cli/", "show/", "rows/formats/", "paper/")) for name in found)
    assert "estimators/lbf.py" not in found
    assert "self_expression/admm.py:ADMM" in definitions(names=["SSC"])
    flat = definitions(names=["LBF"])
    assert "flats/kflats.py:fit_kflats" in flat
    assert "selection/coding.py:spread" in flat  # by the number of clusters
    assert not any(name.startswith(("selection/search.py", "selection/flat_search.py")) for name in flat)


ESTIMATORS = [name for name, home in subspaces._HOMES.items() if home.startswith("estimators.")]


@pytest.mark.parametrize("name", ESTIMATORS)
def test_no_function_that_runs_is_missed(name):
    X, _ = make_subspaces((2, 2), 6, points_per_subspace=40, random_state=0)
    kernel = {"feature_map": FourierFeatures()} if name == "KernelSpectralClustering" else {}
    model = getattr(subspaces, name)(2, random_state=0, **kernel)
    ran = set()

    def note(frame, event, argument):
        path = Path(frame.f_code.co_filename)
        if event == "call" and path.is_relative_to(provenance.ROOT):
            module = ".".join(path.relative_to(provenance.ROOT.parent).with_suffix("").parts)
            if provenance._path(module) is not None and not frame.f_code.co_name.startswith("<module"):
                ran.add(f"{provenance._name(path)}:{frame.f_code.co_qualname.split('.')[0]}")

    sys.setprofile(note)
    try:
        model.fit(X).predict(X[:3])
        if name == "FLS":
            model.verdict_  # noqa: B018
    finally:
        sys.setprofile(None)
    ran = {each for each in ran if not each.endswith(("<lambda>", "<listcomp>", "<genexpr>", "<dictcomp>"))}
    assert len(ran) > 50
    assert ran <= definitions(*(each.__module__ for each in map(type, kernel.values())), names=[name])


def test_estimators_have_sources_of_their_own():
    assert len({estimator_source(name) for name in ESTIMATORS}) == len(ESTIMATORS)
