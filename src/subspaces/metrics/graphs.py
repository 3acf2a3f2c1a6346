"""Whether a graph over the rows keeps classes together and apart.

The graph is the affinity of a spectral method, or the coefficients of a self-expressive one: row i holds what point i
is made of. Absolute values are taken, so that coefficients may be negative, and the diagonal is left out.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from subspaces._core.errors import InputError, UserTypeError
from subspaces.metrics.labels import encoded_classes

# Up to this many rows of a class the dense eigenproblem is the faster one.
DENSE_ROWS = 500


def connectivity(y_true: ArrayLike, affinity: Any, *, over: Literal["min", "mean"] = "min") -> float:
    """How well connected the classes are within themselves, by their `class_connectivity`.

    A class of connectivity 0 falls apart in the graph, and spectral clustering may cut it: connections that are all
    right are not enough. The least over classes is what papers on self-expressive clustering report.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Classes; rows with the number -1 are left out, and their connections with them.
    affinity : array-like or sparse array of shape (n, n)
        Affinities or coefficients C; the graph is |C| + |C|^T without its diagonal.
    over : {"min", "mean"}, default="min"
        Whether to return the least connectivity or the mean over classes.

    Returns
    -------
    connectivity : float
        Between 0 and 2, above 1 only where all rows of a class are connected with each other.

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
    from subspaces._core.validation import check_option

    check_option("over", over, ("min", "mean"))
    values = class_connectivity(y_true, affinity)
    return float(values.min() if over == "min" else values.mean())


def class_connectivity(y_true: ArrayLike, affinity: Any) -> NDArray[np.float64]:
    """Algebraic connectivity of the graph of each class, by itself.

    It is the second smallest eigenvalue of the normalised Laplacian I - D^(-1/2) W D^(-1/2) of the connections
    between rows of the class: 0 where the class falls into parts, n / (n - 1) where all its n rows are connected
    alike.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Classes; rows with the number -1 are left out, and their connections with them.
    affinity : array-like or sparse array of shape (n, n)
        Affinities or coefficients C; the graph is |C| + |C|^T without its diagonal. Sparse input stays sparse.

    Returns
    -------
    values : ndarray of shape (n_classes,)
        In the order of the sorted classes. A row without connections makes its class 0, and so does a class of one
        row, which has no second eigenvalue.

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
    """Share of what a row is made of that comes from rows of other classes, in the mean over rows.

    0 means that the coefficients are subspace-preserving. Papers report it as the subspace-preserving representation
    error, in percent.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Classes. Rows with the number -1 are left out of the mean; the share that other rows take from them is wrong.
    coefficients : array-like or sparse array of shape (n, n)
        Row i holds the coefficients of point i, of any sign: pass the transpose of coefficients that lie in columns.
        A symmetric affinity will do too. The diagonal is left out.

    Returns
    -------
    share : float
        Between 0 and 1. Rows without any connection have no share, and are left out of the mean.

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
            f"none of the {len(shares)} rows of a class has a connection, and no share of them can be wrong: "
            "pass coefficients that are not all 0; a smaller penalty gives more of them."
        )
    return float(connected.mean())


def subspace_preserving_rate(y_true: ArrayLike, coefficients: Any, *, tol: float = 0.0) -> float:
    """Share of rows that are made of rows of their own class alone.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Classes. Rows with the number -1 are left out; a row that takes anything from them is not preserved.
    coefficients : array-like or sparse array of shape (n, n)
        Row i holds the coefficients of point i, of any sign; the diagonal is left out.
    tol : float, default=0.0
        Wrong share of a row that still passes for none, for solvers that leave small numbers instead of zeros.

    Returns
    -------
    rate : float
        Between 0 and 1. Rows without any connection are made of nothing, and are not preserved.

    Examples
    --------
    >>> from subspaces.metrics import subspace_preserving_rate
    >>> subspace_preserving_rate([0, 0, 1, 1], [[0, -3, 1, 0], [1, 0, 0, 0], [0, 0, 0, 2], [0, 0, 1, 0]])
    0.75
    """
    if not isinstance(tol, int | float | np.number) or not 0 <= tol < 1:
        raise InputError(f"tol={tol!r} must be at least 0 and below 1: it is a share of the coefficients of a row.")
    shares = _wrong_shares(y_true, coefficients)
    # NaN, the share of rows without connections, compares as not preserved.
    return float(np.mean(shares <= tol))


def _wrong_shares(y_true: ArrayLike, coefficients: Any) -> NDArray[np.float64]:
    """Share of each inlier (n_inliers,) that lies on rows of other classes or outliers; NaN without connections."""
    codes, _ = encoded_classes(y_true)
    weights = _absolute_weights(coefficients, n_rows=len(codes)).tocoo()
    rows, columns = weights.coords
    total = np.bincount(rows, weights.data, minlength=len(codes))
    crossing = codes[rows] != codes[columns]
    wrong = np.bincount(rows[crossing], weights.data[crossing], minlength=len(codes))
    shares = np.divide(wrong, total, out=np.full(len(codes), np.nan), where=total > 0)
    return np.minimum(shares[codes >= 0], 1)


def _absolute_weights(matrix: Any, *, n_rows: int) -> Any:
    """|matrix| (n_rows, n_rows) without its diagonal, as a sparse array of float64 that stores no zeros."""
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
    # Relative to the largest, because sums of weights must not overflow; no score depends on the scale.
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
    # Parts are counted, not read off an eigenvalue, and what is left has no row of degree 0.
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
    """Largest eigenvalue of sparse `normalised` weights (n, n) beside that of the unit vector `trivial` (n,), 1."""
    from scipy.sparse import eye_array
    from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

    n = len(trivial)

    def multiply(vector: NDArray[np.float64]) -> NDArray[np.float64]:
        # Twice, so that the trivial eigenvalue moves from 1 to -1, below all others.
        flat = vector.ravel()
        result: NDArray[np.float64] = normalised @ flat - 2 * (trivial @ flat) * trivial
        return result

    start = np.random.default_rng(0).standard_normal(n)
    operator = LinearOperator((n, n), matvec=multiply, dtype=np.float64)
    try:
        return float(eigsh(operator, 1, which="LA", v0=start, ncv=40, maxiter=100, return_eigenvectors=False)[0])
    except ArpackNoConvergence:
        # Long thin graphs crowd their eigenvalues below 1; these graphs are also the ones that factor sparsely.
        laplacian = (eye_array(n) - normalised).tocsc()
        values = eigsh(laplacian, 2, sigma=-1e-10, v0=start, return_eigenvectors=False)
        return float(1 - values.max())
