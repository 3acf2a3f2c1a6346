"""The pointwise inequality of the paper for Example II, whose features are not bounded by one.

    python benchmarks/study_bounds.py

Writes benchmarks/results/study_bounds.json: how often the kernel of landmark points is wrong by at least epsilon at the
centre of a Gaussian measure, the bound 2 exp(-D epsilon^2 / 4) of the paper, and Hoeffding's bound with the range of f.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from kept import opened, store

RESULTS = Path(__file__).parent / "results" / "study_bounds.json"
SIGMA, N_LANDMARKS, EPSILON, REPEATS = 0.05, 100, 1.0, 100_000


def deviations(factor: float, seed: int = 0) -> np.ndarray:
    """Errors (REPEATS,) of the mean of f(0, y)^2 over D landmarks y drawn from N(0, 1)."""
    rng = np.random.default_rng(seed)
    # The mean of exp(-y^2 / sigma^2) over N(0, 1).
    exact = factor**2 / np.sqrt(1 + 2 / SIGMA**2)
    landmarks = rng.standard_normal((REPEATS, N_LANDMARKS))
    return factor**2 * np.exp(-(landmarks**2) / SIGMA**2).mean(axis=1) - exact


def measured(factor: float, epsilon: float) -> dict[str, Any]:
    """Probability of an error of at least `epsilon`, and its bounds; f is at most `factor`."""
    return {
        "largest feature": factor,
        "epsilon": epsilon,
        "probability": float((np.abs(deviations(factor)) >= epsilon).mean()),
        "bound of the paper": float(2 * np.exp(-N_LANDMARKS * epsilon**2 / 4)),
        "Hoeffding": float(min(1.0, 2 * np.exp(-2 * N_LANDMARKS * epsilon**2 / factor**4))),
    }


def main() -> None:
    record = opened(RESULTS, "python benchmarks/study_bounds.py")
    factor = float((2 * np.pi * SIGMA**2) ** -0.5)
    record["sigma"], record["landmarks"], record["repeats"] = SIGMA, N_LANDMARKS, REPEATS
    record["results"] = measured(factor, EPSILON)
    store(RESULTS, record)
    print(json.dumps(record["results"], indent=1))


if __name__ == "__main__":
    main()
