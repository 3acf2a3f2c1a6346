"""The hash of the code that a result depends on."""

from pathlib import Path

import pytest

from subspaces.paper.reproduce import provenance
from subspaces.paper.reproduce.provenance import estimator_source, source_hash

ROOT = Path(provenance.__file__).parents[2]
CACHED = (provenance._hash, provenance._tree, provenance._imported, provenance._code)


def names(*modules, scripts=()):
    return {provenance._name(path) for path in provenance._closure(modules, scripts)}


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A small package in place of this one."""
    files = {
        "__init__.py": '_HOMES = {"A": "rooms.a", "B": "rooms.b"}\n',
        "rooms/__init__.py": "from subspaces.rooms.b import helper\n",
        "rooms/a.py": "from subspaces.rooms import helper\n\n\nclass A:\n    pass\n",
        "rooms/b.py": "class B:\n    pass\n\n\ndef helper():\n    return 1\n",
        "rooms/c.py": "def f():\n    from subspaces.rooms.a import A\n    return A\n",
        "cli/__init__.py": "",
        "cli/d.py": "x = 1\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(provenance, "ROOT", tmp_path)
    for cached in CACHED:
        cached.cache_clear()
    yield tmp_path
    for cached in CACHED:
        cached.cache_clear()


def again(function, *arguments):
    for cached in CACHED:
        cached.cache_clear()
    return function(*arguments)


class TestSmallPackage:
    def test_imports_are_followed_to_the_file_that_defines_a_name(self, package):
        assert names("subspaces.rooms.a") == {"rooms/a.py", "rooms/b.py"}
        assert names("subspaces.rooms.b") == {"rooms/b.py"}
        assert names("subspaces.rooms.c") == {"rooms/c.py", "rooms/a.py", "rooms/b.py"}
        assert names("subspaces.cli.d", "numpy") == set()

    def test_scripts(self, package, tmp_path_factory):
        folder = tmp_path_factory.mktemp("scripts")
        (folder / "beside.py").write_text("from subspaces import A\n")
        (folder / "script.py").write_text("import subspaces\nfrom beside import A\nsubspaces.B()\n")
        assert names(scripts=[folder / "script.py"]) == {"script.py", "beside.py", "rooms/a.py", "rooms/b.py"}

    @pytest.mark.parametrize(
        ("text", "is_same"),
        [
            ('"""Words."""\n\n\nclass B:\n    """More."""\n\n    pass  # why\n\n\ndef helper():\n    return 1\n', True),
            ("class B:\n    pass\n\n\ndef helper():\n    return 2\n", False),
        ],
    )
    def test_words_do_not_count(self, package, text, is_same):
        before = again(source_hash, ["subspaces.rooms.a"])
        (package / "rooms" / "b.py").write_text(text)
        assert (again(source_hash, ["subspaces.rooms.a"]) == before) == is_same

    def test_estimators_depend_on_their_own_files(self, package):
        a, b, other = again(estimator_source, "A.paper"), estimator_source("B"), estimator_source("KMeans")
        assert len({a, b, other}) == 3
        (package / "rooms" / "a.py").write_text("class A:\n    x = 1\n")
        assert again(estimator_source, "A") != a
        assert estimator_source("B") == b
        assert estimator_source("KMeans") == other


def test_this_package():
    found = names("subspaces.estimators.fls")
    assert {"estimators/fls.py", "features/psi.py", "spectral/spectrum.py", "selection/choosing.py"} <= found
    assert not any(name.startswith(("cli/", "show/", "rows/formats/", "paper/")) for name in found)
    assert "estimators/lbf.py" not in found
    assert "self_expression/admm.py" in names("subspaces.estimators.ssc")
