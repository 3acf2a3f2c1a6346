"""Progress reports: the logger "subspaces", shown on stderr when an estimator is verbose."""

from __future__ import annotations

import logging

logger = logging.getLogger("subspaces")


def report(verbose: int, message: str, *values: object) -> None:
    """Log progress: at level DEBUG, or with `verbose` at level INFO, shown even where logging is not set up."""
    if verbose and not logger.hasHandlers():
        handler = logging.StreamHandler()
        handler.setFormatter(logging.Formatter("[%(name)s] %(message)s"))
        logger.addHandler(handler)
    if verbose and logger.level == logging.NOTSET:
        logger.setLevel(logging.INFO)
    logger.log(logging.INFO if verbose else logging.DEBUG, message, *values)
