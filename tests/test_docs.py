"""Documentation: Python code of all pages gives the output shown, commands parse, and the reference is complete."""

import doctest
import importlib
import re
import runpy
import shlex
from pathlib import Path

import pytest

from subspaces.selection.verdict import BENT, BLOBS, FLAT, FOUND

ROOT = Path(__file__).parent.parent
PAGES = ["README.md", *sorted(str(page.relative_to(ROOT)) for page in (ROOT / "docs").rglob("*.md"))]
# In order: setup code in a comment, or a code block with an optional comment that skips it.
PIECES = re.compile(
    r"^<!-- run first:\n(?P<first>.*?)^-->$"
    r"|(?P<skipped>^<!-- not run: [^\n]+ -->\n+)?^```(?P<kind>[^\n]*)\n(?P<body>.*?)^```$",
    re.DOTALL | re.MULTILINE,
)


def pieces(page):
    """(kind, text, line number) of the pieces to run or parse."""
    text = (ROOT / page).read_text()
    for piece in PIECES.finditer(text):
        name = "first" if piece["first"] is not None else "body"
        if not piece["skipped"]:
            kind = "python" if name == "first" else piece["kind"].strip()
            yield kind, piece[name], text.count("\n", 0, piece.start(name))


def python_of(page):
    """(kind, code, line number) of blocks of Python, and of sessions with prompts and output."""
    return [piece for piece in pieces(page) if piece[0] in ("python", "pycon")]


def commands_of(page):
    """The words of every `subspaces ...` command in blocks without a language."""
    for kind, text, _ in pieces(page):
        if kind in ("", "sh", "bash", "console", "text"):
            for line in text.replace("\\\n", " ").splitlines():
                if line.lstrip("$ ").startswith("subspaces "):
                    yield shlex.split(line.lstrip("$ "), comments=True)[1:]


class NearlyEqual(doctest.OutputChecker):
    """Output is as shown if words and whole numbers are the same and decimals are close: they depend on rounding."""

    DECIMAL = re.compile(r"-?\d+\.\d+")

    def check_output(self, want, got, optionflags):
        shown, real = ([float(each) for each in self.DECIMAL.findall(text)] for text in (want, got))
        words, others = (self.DECIMAL.sub("0.0", text).split() for text in (want, got))
        return words == others and shown == pytest.approx(real, abs=0.02, rel=0.02)


@pytest.mark.slow
@pytest.mark.parametrize("page", [page for page in PAGES if python_of(page)])
def test_python_runs(page, tmp_path, monkeypatch):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "__main__"}
    sessions = doctest.DocTestRunner(NearlyEqual(), verbose=False)
    for kind, code, line in python_of(page):
        if kind == "pycon":
            session = doctest.DocTestParser().get_doctest(code, names, page, str(ROOT / page), line)
            sessions.run(session, clear_globs=False)
            names = session.globs
        else:
            # Empty lines in front make the line numbers of a traceback match the page.
            exec(compile("\n" * line + code, str(ROOT / page), "exec"), names)
    importlib.import_module("matplotlib.pyplot").close("all")
    assert not sessions.failures


@pytest.mark.parametrize("page", [page for page in PAGES if any(commands_of(page))])
def test_commands_parse(page):
    import click

    from subspaces.cli.app import app

    for words in commands_of(page):
        words = words[: words.index("|")] if "|" in words else words
        if words[-1] in ("--help", "--version") or {"--config", "--again"} & set(words):
            continue
        command = app
        while isinstance(command, click.Group):
            _, command, words = command.resolve_command(click.Context(command), list(words))
        command.make_context(command.name, words)


def test_pieces_are_found():
    assert sum(len(python_of(page)) for page in PAGES) > 20
    assert sum(1 for page in PAGES for _ in commands_of(page)) > 5


MODULES = [
    "", ".kernels", ".kernels.exact", ".metrics", ".datasets", ".plots", ".theory", ".self_expression", ".inputs",
    ".report", ".selection",
]  # fmt: skip


@pytest.mark.parametrize("module", MODULES)
def test_reference_names_everything(module):
    home = importlib.import_module(f"subspaces{module}")
    listed = set()
    for page in (ROOT / "docs" / "api").glob("*.rst"):
        current = None
        for line in page.read_text().splitlines():
            if found := re.fullmatch(r"\.\. currentmodule:: (\S+)", line):
                current = found[1]
            elif found := re.fullmatch(r"   (\w+)", line):
                listed.add(f"{current}.{found[1]}")
    # Submodules have pages of their own.
    pages = {name for name in home.__all__ if type(getattr(home, name)).__name__ == "module"}
    missing = [name for name in set(home.__all__) - pages - {"__version__"} if f"{home.__name__}.{name}" not in listed]
    assert not missing
    unknown = {name for name in listed if name.rpartition(".")[0] == home.__name__} - {
        f"{home.__name__}.{name}" for name in home.__all__
    }
    assert not unknown


@pytest.mark.parametrize("example", sorted((ROOT / "examples").glob("plot_*.py")), ids=lambda path: path.stem)
def test_examples_of_the_gallery_have_a_picture(example):
    assert "plt.show()" in example.read_text()


def test_is_this_for_my_data_follows_the_start():
    pages = re.findall(r"^(?:.* <)?([\w/-]+)>?$", (ROOT / "docs/index.md").read_text().rpartition(":hidden:")[2], re.M)
    assert pages[:2] == ["start", "my-data"]


def test_is_this_for_my_data_has_the_words_of_verdicts():
    page = (ROOT / "docs/my-data.md").read_text()
    for words in (*FOUND.values(), "No clusters found"):
        assert words.removesuffix(".") in page


# Words of the verdict, of the report and of tables on the command line that readers of k-means may not know.
JARGON = [
    "affine", "agreement", "bent cluster", "blob", "confidence", "description length", "dimension", "eigenvalue",
    "embedding", "flat", "landmark", "modularity", "nat", "nearest neighbours", "outlier score", "profile", "residual",
    "shuffled columns", "standardise", "subspace", "truth", "verdict",
]  # fmt: skip


@pytest.mark.parametrize("word", JARGON)
def test_the_glossary_explains(word):
    text = (ROOT / "docs/glossary.md").read_text()
    assert re.search(rf"^(.*, )?{word}(, .*)?\n: ", text, re.MULTILINE)


def test_the_glossary_is_sorted():
    terms = re.findall(r"^(.+)\n: ", (ROOT / "docs/glossary.md").read_text(), re.MULTILINE)
    assert terms == sorted(terms, key=str.casefold)


@pytest.mark.slow
def test_the_pictures_of_my_data_are_what_their_titles_say(monkeypatch):
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.switch_backend("Agg")
    models = runpy.run_path(str(ROOT / "examples/plot_00_is_this_for_my_data.py"))["models"]
    plt.close("all")
    found = {name.partition(":")[0]: model.verdict_ for name, model in models.items()}
    assert [found[kind].structure for kind in ("flat", "bent", "blobs")] == [FLAT, BENT, BLOBS]
    assert found["noise"].headline.startswith("No clusters found")
