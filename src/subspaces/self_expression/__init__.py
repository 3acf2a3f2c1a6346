"""Self-expression: each row as a sparse combination of the other rows.

Rows of a subspace are combinations of each other, so a sparse combination mostly uses rows of the same subspace, and
the coefficients of all rows define a graph whose clusters are the subspaces. The solvers differ in their notion of
sparsity:

==============  ====================================================  =====================================
`ADMM`          smallest l1 norm, with terms for noise and outliers   the published method
`ElasticNet`    l1 and squared l2 norm: more neighbours               as accurate, faster
`OMP`           a given number of rows, chosen greedily               faster
`Thresholding`  the rows with the smallest angles                     fastest
`LeastSquares`  smallest squared l2 norm, largest entries kept        in closed form
`LowRank`       smallest nuclear norm, largest entries kept           in closed form
==============  ====================================================  =====================================

The files of this room:

===================  ================================================================================
`base`               `Solver`, the interface of solvers, and `self_codes`, which runs one in blocks
`admm`               `ADMM`
`elastic_net`        `ElasticNet`
`omp`                `OMP`
`nearest`            `Thresholding`
`least_squares`      `LeastSquares` and `LowRank`
`graph`              `affinity`, the graph of the codes
`residuals`          labels of new rows, from a labelled sample
`thresholds`         the numbers that change results
===================  ================================================================================
"""

from subspaces.self_expression.admm import ADMM
from subspaces.self_expression.base import Solver, homogeneous, self_codes, typical_length
from subspaces.self_expression.elastic_net import ElasticNet
from subspaces.self_expression.graph import affinity
from subspaces.self_expression.least_squares import LeastSquares, LowRank
from subspaces.self_expression.nearest import Thresholding
from subspaces.self_expression.omp import OMP

__all__ = [
    "ADMM",
    "OMP",
    "ElasticNet",
    "LeastSquares",
    "LowRank",
    "Solver",
    "Thresholding",
    "affinity",
    "homogeneous",
    "self_codes",
    "typical_length",
]
