"""Published settings of estimators, by name."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Self

from subspaces._core.validation import check_option


class Published:
    """Mixin: `published` makes an estimator with the parameters of its publication."""

    @staticmethod
    @abstractmethod
    def _settings(n_clusters: int) -> dict[str, dict[str, Any]]:
        """Parameters by the name of a setting."""

    @classmethod
    def published(cls, setting: str, n_clusters: int = 8, **parameters: Any) -> Self:
        """The estimator with published parameters.

        Parameters
        ----------
        setting : str
            Name of the setting, most often of the data that the publication used it for. The guide lists all.
        n_clusters : int, default=8
            Number K of clusters.
        **parameters
            Other parameters, such as `random_state`; they replace published ones.

        Returns
        -------
        estimator : not fitted
        """
        settings = cls._settings(n_clusters)
        check_option("setting", setting, tuple(settings))
        return cls(**{"n_clusters": n_clusters, **settings[setting], **parameters})
