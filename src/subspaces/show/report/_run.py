"""How a clustering was made, as far as a page should tell it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Run:
    """What a page tells about how it was made; whatever is left out is not told."""

    title: str = ""
    command: str = ""
    seed: int | None = None
    stages: tuple[tuple[str, float], ...] = ()  # seconds of each stage
    peak_memory: int | None = None  # bytes
    versions: Mapping[str, str] = field(default_factory=dict)
    data: tuple[str, ...] = ()  # files the rows come from
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
