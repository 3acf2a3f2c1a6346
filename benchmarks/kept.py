"""Results that scripts store between runs."""

from __future__ import annotations

import json
import platform
from pathlib import Path
from typing import Any

import numpy as np
import sklearn

import subspaces


def opened(path: Path, command: str) -> dict[str, Any]:
    """Stored results at `path`, with the current command and versions."""
    kept: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
    kept["command"] = command
    kept["versions"] = {
        "subspaces": subspaces.__version__,
        "numpy": np.__version__,
        "scikit-learn": sklearn.__version__,
        "python": platform.python_version(),
    }
    return kept
