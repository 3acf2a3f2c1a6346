"""A clustering as one page."""

from __future__ import annotations

from pathlib import Path
from typing import Any


class Report:
    """Everything a page tells of a clustering, as JSON-able `data`, and the page itself."""

    def __init__(self, data: dict[str, Any]) -> None:
        self.data = data

    def to_html(self) -> str:
        """The page: one HTML text that needs no other file and no network."""
        raise NotImplementedError

    def save(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Write the page to `path`."""
        raise NotImplementedError
