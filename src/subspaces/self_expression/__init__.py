"""Self-expression: every row as a sparse combination of the other rows.

Rows of one subspace are combinations of each other, so the rows that a sparse combination picks are mostly of the
same subspace, and the picks of all rows make a graph whose clusters are the subspaces. The solvers differ in what
"sparse" means:

==============  ====================================================  =====================================
`ADMM`          least l1 norm, with terms for noise and outliers      the published method
`ElasticNet`    l1 and squared l2 norm: more, and better, neighbours  as accurate, faster
`OMP`           a given number of rows, picked greedily               fastest
==============  ====================================================  =====================================
"""

from subspaces.self_expression.admm import ADMM
from subspaces.self_expression.base import Solver, affinity, homogeneous, self_codes, typical_length
from subspaces.self_expression.elastic_net import ElasticNet
from subspaces.self_expression.omp import OMP

__all__ = ["ADMM", "OMP", "ElasticNet", "Solver", "affinity", "homogeneous", "self_codes", "typical_length"]
