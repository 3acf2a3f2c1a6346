"""Plain English: phrases of an earlier manner do not come back, in the package and on the pages."""

import ast
import io
import re
import tokenize
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
# Phrases with which this project once avoided ordinary words, each with a plainer one.
PHRASES = {
    r"\b(is|are|was|were|be|been) told\b": "report, encode, know",
    r"\btells? (rows|clusters|labels|how many|what|which|whether|that|apart|nothing)\b": "report, separate, describe",
    r"\bhas the word\b": "decide, fall back to",
    r"\bspeaks? for\b": "suggest, be evidence for",
    r"\bin vain\b": "without success, did not converge",
    r"\bnobody\b": "not, no one, none",
    r"\b(?<!there )(is|are|was|were) no\b(?! (longer|more|fewer|less|better|worse|larger|smaller|greater))": "is not a",
    r"\bso many\b": "this many, the number of",
    r"\bhears?\b|\bheard\b": "receive, read",
    r"\bwhoever\b": "any code that",
    r"\bone's own\b|\bones own\b": "your own, given",
    r"\b(be|is|are) asked\b(?! for)": "request, compute",
}
PATTERN = re.compile("|".join(f"(?:{phrase})" for phrase in PHRASES), re.IGNORECASE)
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
SOURCES = sorted((ROOT / "src").rglob("*.py"))


def prose_of_code(text: str) -> str:
    """Comments, docstrings and other strings of a Python file."""
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    comments = [token.string for token in tokens if token.type == tokenize.COMMENT]
    strings = [node.value for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Constant)]
    return "\n".join([*comments, *(each for each in strings if isinstance(each, str))])


def phrases(path: Path) -> list[str]:
    """Phrases of a file that should be plainer."""
    text = path.read_text()
    if path.suffix == ".py":
        text = prose_of_code(text)
    text = " ".join(re.sub(r"```.*?```", "", text, flags=re.DOTALL).split())
    return [text[max(0, found.start() - 30) : found.end() + 30] for found in PATTERN.finditer(text)]


@pytest.mark.parametrize("kind", ["pages", "code"])
def test_plain_words(kind):
    found = {path.relative_to(ROOT).as_posix(): phrases(path) for path in {"pages": PAGES, "code": SOURCES}[kind]}
    found = {name: texts for name, texts in found.items() if texts}
    assert found == {}


@pytest.mark.parametrize(
    ("text", "is_found"),
    [
        ("Rows told by flats: all rows are told.", True),
        ("A row is no outlier.", True),
        ("There is no file.", False),
        ("It is no longer used.", False),
        ("The number of clusters is chosen.", False),
    ],
)
def test_phrases_are_found(text, is_found):
    assert bool(PATTERN.search(text)) is is_found
