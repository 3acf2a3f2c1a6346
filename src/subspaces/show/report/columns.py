"""Means and spreads of the columns in each cluster, and how far each column separates a cluster from all rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from subspaces._core.blocks import row_blocks
from subspaces.show.report.subject import Subject

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class ColumnFacts:
    """Columns of the rows in original units, in each cluster and in all rows. The last line belongs to the outliers."""

    means: Floats  # (K + 1, q)
    spreads: Floats  # (K + 1, q), standard deviations
    mean: Floats  # (q,), of all rows
    spread: Floats  # (q,), of all rows
    divergences: Floats  # (K + 1, q), from the distribution of all rows; -1 for a constant column
    counts: Floats  # (K + 1,), rows

    @property
    def shifts(self) -> Floats:
        """Means (K + 1, q) minus the mean of all rows, in standard deviations of all rows."""
        return (self.means - self.mean) / np.where(self.spread > 0, self.spread, 1)

    @property
    def ratios(self) -> Floats:
        """Standard deviations (K + 1, q), divided by those of all rows."""
        return self.spreads / np.where(self.spread > 0, self.spread, 1)

    def telling(self, cluster: int, count: int) -> NDArray[np.intp]:
        """The `count` columns in which a cluster differs most from all rows, the first most; no constant columns."""
        order = np.argsort(-self.divergences[cluster], kind="stable")[:count]
        return order[self.divergences[cluster, order] >= 0]

    def telling_together(self, count: int) -> NDArray[np.intp]:
        """The `count` columns in which clusters differ most, on average over rows; in the order of the columns."""
        clusters = self.divergences[:-1].T @ self.counts[:-1]
        return np.sort(np.argsort(-clusters, kind="stable")[:count])


def column_facts(subject: Subject) -> ColumnFacts:
    """Means, spreads and divergences in one pass over the rows.

    The divergence is that of Kullback and Leibler, between normal distributions with the mean and variance of the
    cluster and of all rows.
    """
    k, (n, q) = subject.n_clusters, subject.values.shape
    center = subject.values.mean(axis=0, dtype=np.float64)
    counts, sums, squares = np.zeros((k + 1, 1)), np.zeros((k + 1, q)), np.zeros((k + 1, q))
    for block in row_blocks(n, 24 * q):
        rows = subject.values[block] - center
        for label in np.unique(subject.labels[block]):
            own = rows[subject.labels[block] == label]
            counts[label] += len(own)
            sums[label] += own.sum(axis=0)
            squares[label] += np.square(own).sum(axis=0)
    means = sums / np.maximum(counts, 1)
    variances = np.maximum(squares / np.maximum(counts, 1) - means**2, 0)
    total = np.maximum(squares.sum(axis=0) / n, 0)
    # Constant columns carry no information; within a cluster a column may be constant.
    usable = total > 1e-12 * max(float(total.max()), 1e-300)
    safe = np.where(usable, total, 1.0)
    ratio = np.maximum(variances / safe, 1e-6)
    divergence = np.where(usable, (ratio + means**2 / safe - 1 - np.log(ratio)) / 2, -1.0)
    return ColumnFacts(
        means + center, np.sqrt(variances), center, np.sqrt(np.where(usable, total, 0)), divergence, counts[:, 0]
    )
