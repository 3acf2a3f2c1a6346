"""Details of a run that the report shows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Run:
    """How the clustering was computed; empty fields are not shown."""

    title: str = ""
    command: str = ""
    seed: int | None = None
    stages: tuple[tuple[str, float], ...] = ()  # name and seconds of each stage
    peak_memory: int | None = None  # bytes
    versions: Mapping[str, str] = field(default_factory=dict)
    data: tuple[str, ...] = ()  # names of input files
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
