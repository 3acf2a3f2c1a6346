"""What estimators share whose rows may be anywhere: they decide on the rows at hand and label all of them."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Any

from sklearn.utils.validation import check_is_fitted

from subspaces._core.arrays import Array, Labels
from subspaces.rows.feed import PER_ROW, BlockFunction, Feed, Rows, open_feed
from subspaces.saving import save


class FedMixin:
    """Labels of rows in memory, in files, on devices and on clusters, by one function of a block."""

    labels_: Any

    def predict(self, X: Rows) -> Labels:
        """Cluster (n,) of each row of `X` (n, p), seen or new."""
        check_is_fitted(self)
        return open_feed(self, X).label(self._labels_of)

    def save(self, path: str | PathLike[str], *, overwrite: bool = False) -> Path:
        """Write the fitted model to the file `path`, for `subspaces.load`; see `subspaces.saving.save`."""
        return save(self, path, overwrite=overwrite)

    def _labels_of(self, x: Array) -> Labels:
        """Cluster (b,) of each of the checked rows (b, p), in their array library."""
        raise NotImplementedError

    def _map(self, X: Rows, function: BlockFunction) -> Any:
        """What `function` gives for each row of `X` (n, p), where the rows are."""
        check_is_fitted(self)
        return open_feed(self, X).map(function)

    def _deliver(self, feed: Feed) -> None:
        """From labels of the rows at hand to those of all rows, where they are wanted."""
        if not feed.is_sampled:
            self.labels_ = feed.deliver(self.labels_)
            return
        # What is told of single rows is told of those at hand only.
        for name in PER_ROW:
            self.__dict__.pop(name, None)
        self.labels_ = feed.label(self._labels_of)
