"""Leading eigenvectors of dense symmetric matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg
from numpy.typing import NDArray


def largest_eigenpairs(matrix: NDArray[Any], count: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """The largest eigenvalues (count,) of a symmetric matrix (m, m), ascending, and their vectors (m, count).

    If m is smaller than `count`, there are m. The routine of LAPACK that computes some pairs alone fails for some
    matrices whose eigenvalues are mostly equal, such as those of copies of rows; the one that computes all does not.
    """
    size = len(matrix)
    try:
        found = scipy.linalg.eigh(matrix, subset_by_index=[max(0, size - count), size - 1])
    except np.linalg.LinAlgError:
        found = np.linalg.eigh(matrix)
    return found[0][-count:], found[1][:, -count:]
