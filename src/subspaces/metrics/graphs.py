"""Scores of a graph between rows: whether it connects rows of a class, and separates classes.

The graph is the affinity of a spectral method, or the coefficients of a self-expressive one, with the coefficients of
point i in row i. Coefficients may be negative, because absolute values are used. The diagonal is ignored.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from subspaces._core.errors import InputError, UserTypeError
from subspaces._core.validation import check_option
from subspaces.metrics.labels import encoded_classes

# Up to this many rows of a class, the dense eigenproblem is faster. Does not change results.
DENSE_ROWS = 500


def connectivity(y_true: ArrayLike, affinity: Any, *, over: Literal["min", "mean"] = "min") -> float:
    """How well the rows of each class are connected: the smallest or mean `class_connectivity`.

    A class of connectivity 0 is disconnected in the graph, and spectral clustering may cut it even if all connections
    are correct. Papers on self-expressive clustering report the smallest over classes.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Classes; rows with the number -1 and their connections are ignored.
    affinity : array-like or sparse array of shape (n, n)
        Affinities or coefficients C; the graph is |C| + |C|^T without its diagonal.
    over : {"min", "mean"}, default="min"
        Whether to return the smallest connectivity or the mean over classes.

    Returns
    -------
    connectivity : float
        Between 0 and 2; above 1 only if all rows of a class are connected to each other.

    References
    ----------
    C. You, D. P. Robinson and R. Vidal, Scalable sparse subspace clustering by orthogonal matching pursuit, CVPR 2016,
    https://doi.org/10.1109/CVPR.2016.425

    Examples
    --------
    >>> import numpy as np
    >>> from subspaces.metrics import connectivity
    >>> path = np.diag([1.0, 1.0, 0.0, 1.0], k=1)
    >>> connectivity([0, 0, 0, 1, 1], path)
    1.0
    >>> connectivity([0, 0, 0, 1, 1], path, over="mean")
    1.5
    """
    check_option("over", over, ("min", "mean"))
    values = class_connectivity(y_true, affinity)
    return float(values.min() if over == "min" else values.mean())


def class_connectivity(y_true: ArrayLike, affinity: Any) -> NDArray[np.float64]:
    """Algebraic connectivity of the graph of each class alone.

    It is the second smallest eigenvalue of the normalised Laplacian I - D^(-1/2) W D^(-1/2) of the connections between
    rows of the class: 0 if the class is disconnected, n / (n - 1) if all its n rows are connected with equal weights.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Classes; rows with the number -1 and their connections are ignored.
    affinity : array-like or sparse array of shape (n, n)
        Affinities or coefficients C; the graph is |C| + |C|^T without its diagonal. Sparse input stays sparse.

    Returns
    -------
    values : ndarray of shape (n_classes,)
        In the order of the sorted classes. 0 for a class with an unconnected row, and for a class of one row.

    Examples
    --------
    >>> import numpy as np
    >>> from subspaces.metrics import class_connectivity
    >>> class_connectivity(["b", "b", "b", "a", "a"], np.diag([1.0, 1.0, 0.0, 0.0], k=1))
    array([0., 1.])
    """
    codes, classes = encoded_classes(y_true)
    weights = _absolute_weights(affinity, n_rows=len(codes))
    order = np.argsort(codes, kind="stable")
    members = np.split(order, np.searchsorted(codes[order], np.arange(len(classes))))[1:]
    graphs = (weights[rows][:, rows] for rows in members)
    return np.array([_second_eigenvalue(graph + graph.T) for graph in graphs])


def wrong_connection_share(y_true: ArrayLike, coefficients: Any) -> float:
    """Share of the coefficients of a row that belong to rows of other classes, averaged over rows.

    0 means that the coefficients are subspace-preserving. Papers report it as the subspace-preserving representation
    error, in percent.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Classes. Rows with the number -1 are left out of the mean; coefficients on them count as wrong.
    coefficients : array-like or sparse array of shape (n, n)
        Row i contains the coefficients of point i, of any sign; pass the transpose if they are in columns. A symmetric
        affinity is allowed as well. The diagonal is ignored.

    Returns
    -------
    share : float
        Between 0 and 1. Rows without connections are left out of the mean.

    References
    ----------
    C. You, D. P. Robinson and R. Vidal, Scalable sparse subspace clustering by orthogonal matching pursuit, CVPR 2016,
    https://doi.org/10.1109/CVPR.2016.425

    Examples
    --------
    >>> from subspaces.metrics import wrong_connection_share
    >>> wrong_connection_share([0, 0, 1], [[0, -3, 1], [1, 0, 0], [0, 0, 0]])
    0.125
    """
    shares = _wrong_shares(y_true, coefficients)
    connected = shares[~np.isnan(shares)]
    if not len(connected):
        raise InputError(
            f"none of the {len(shares)} rows of a class has a connection: "
            "pass coefficients that are not all 0; a smaller penalty gives more of them."
        )
    return float(connected.mean())


def subspace_preserving_rate(y_true: ArrayLike, coefficients: Any, *, tol: float = 0.0) -> float:
    """Share of rows whose coefficients belong to rows of their own class only.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Classes. Rows with the number -1 are ignored; a row with a coefficient on them does not count as preserved.
    coefficients : array-like or sparse array of shape (n, n)
        Row i contains the coefficients of point i, of any sign; the diagonal is ignored.
    tol : float, default=0.0
        Largest wrong share of a row that counts as zero, for solvers that return small numbers instead of zeros.

    Returns
    -------
    rate : float
        Between 0 and 1. Rows without connections do not count as preserved.

    Examples
    --------
    >>> from subspaces.metrics import subspace_preserving_rate
    >>> subspace_preserving_rate([0, 0, 1, 1], [[0, -3, 1, 0], [1, 0, 0, 0], [0, 0, 0, 2], [0, 0, 1, 0]])
    0.75
    """
    if not isinstance(tol, int | float | np.number) or not 0 <= tol < 1:
        raise InputError(f"tol={tol!r} must be at least 0 and below 1: it is a share of the coefficients of a row.")
    shares = _wrong_shares(y_true, coefficients)
    # NaN, the share of rows without connections, compares as False.
    return float(np.mean(shares <= tol))


def _wrong_shares(y_true: ArrayLike, coefficients: Any) -> NDArray[np.float64]:
    """Share of the coefficients of each inlier (n_inliers,) on other classes or outliers; NaN without connections."""
    codes, _ = encoded_classes(y_true)
    weights = _absolute_weights(coefficients, n_rows=len(codes)).tocoo()
    rows, columns = weights.coords
    total = np.bincount(rows, weights.data, minlength=len(codes))
    crossing = codes[rows] != codes[columns]
    wrong = np.bincount(rows[crossing], weights.data[crossing], minlength=len(codes))
    shares = np.divide(wrong, total, out=np.full(len(codes), np.nan), where=total > 0)
    return np.minimum(shares[codes >= 0], 1)


def _absolute_weights(matrix: Any, *, n_rows: int) -> Any:
    """|matrix| (n_rows, n_rows) without its diagonal, as a sparse array of float64 without explicit zeros."""
    from scipy.sparse import csr_array, issparse

    if not issparse(matrix):
        try:
            matrix = np.asarray(matrix)
        except ValueError as error:
            raise InputError("the matrix of connections is a ragged list: pass n rows of n numbers.") from error
    if matrix.dtype.kind not in "biuf":
        raise UserTypeError(f"the matrix of connections has dtype {matrix.dtype}: pass real numbers.")
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise InputError(f"the matrix of connections has shape {matrix.shape}: pass a square one, rows by rows.")
    if matrix.shape[0] != n_rows:
        raise InputError(
            f"y_true has {n_rows} labels and the matrix of connections has {matrix.shape[0]} rows: "
            "pass one label for every row."
        )
    weights = csr_array(matrix, dtype=np.float64, copy=True)
    weights.sum_duplicates()
    if not np.isfinite(weights.data).all():
        raise InputError("the matrix of connections has NaN or infinite entries: pass finite numbers.")
    weights.data = np.abs(weights.data)
    # Divide by the largest weight, so that sums do not overflow. Scores do not depend on the scale.
    weights.data /= weights.data.max(initial=0) or 1
    weights.data[np.repeat(np.arange(n_rows), np.diff(weights.indptr)) == weights.indices] = 0
    weights.eliminate_zeros()
    return weights


def _second_eigenvalue(graph: Any) -> float:
    """Second smallest eigenvalue of the normalised Laplacian of symmetric weights (n, n); 0 for a single row."""
    from scipy.linalg import eigh
    from scipy.sparse import diags_array
    from scipy.sparse.csgraph import connected_components

    n = graph.shape[0]
    # Connected components are exact, while a tiny eigenvalue may be rounding. Beyond this, no degree is 0.
    if n == 1 or connected_components(graph, directed=False, return_labels=False) > 1:
        return 0.0
    degrees = graph.sum(axis=1)
    scale = diags_array(degrees**-0.5)
    normalised = scale @ graph @ scale
    if n <= DENSE_ROWS:
        largest = eigh(normalised.toarray(), eigvals_only=True, subset_by_index=[n - 2, n - 2])[0]
    else:
        largest = _largest_but_trivial(normalised, np.sqrt(degrees / degrees.sum()))
    return float(max(0.0, 1 - largest))


def _largest_but_trivial(normalised: Any, trivial: NDArray[np.float64]) -> float:
    """Largest eigenvalue of sparse `normalised` weights (n, n) without that of the eigenvector `trivial` (n,)."""
    from scipy.sparse import eye_array
    from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

    n = len(trivial)

    def multiply(vector: NDArray[np.float64]) -> NDArray[np.float64]:
        # Subtracted twice, so that the trivial eigenvalue moves from 1 to -1, below all others.
        flat = vector.ravel()
        result: NDArray[np.float64] = normalised @ flat - 2 * (trivial @ flat) * trivial
        return result

    start = np.random.default_rng(0).standard_normal(n)
    operator = LinearOperator((n, n), matvec=multiply, dtype=np.float64)
    try:
        return float(eigsh(operator, 1, which="LA", v0=start, ncv=40, maxiter=100, return_eigenvectors=False)[0])
    except ArpackNoConvergence:
        # Long thin graphs have many eigenvalues just below 1, but their Laplacians have sparse factors.
        laplacian = (eye_array(n) - normalised).tocsc()
        values = eigsh(laplacian, 2, sigma=-1e-10, v0=start, return_eigenvectors=False)
        return float(1 - values.max())
