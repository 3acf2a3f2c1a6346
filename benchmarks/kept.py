"""Results that scripts keep from run to run."""

from __future__ import annotations

import json
import platform
from pathlib import Path
from typing import Any

import numpy as np
import sklearn

import subspaces


def opened(path: Path, command: str) -> dict[str, Any]:
    """What was kept at `path`, with the command and the versions that go on with it."""
    kept: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
    kept["command"] = command
    kept["versions"] = {
        "subspaces": subspaces.__version__,
        "numpy": np.__version__,
        "scikit-learn": sklearn.__version__,
        "python": platform.python_version(),
    }
    return kept
