"""Numbers of this room that change results: what each decides, and which kept study set it.

Those of `ADMM` and `ElasticNet` set the path to the minimum and the moment of stopping, so they change results within
`tol` only.
"""

from __future__ import annotations

# ADMM: default penalty on the difference of the two copies of a code, which sets the speed of convergence; 1 / PENALTY
# is about the size of an entry. No kept study.
PENALTY = 30.0
# ADMM: over-relaxation, which saves about a third of the iterations (Eckstein and Bertsekas, 1992). No kept study.
RELAXATION = 1.8
# ADMM: number of iterations between checks of convergence, at which finished rows are replaced. Speed:
# benchmarks/speed/ssc_iteration.py.
CHECK_EVERY = 10
# ElasticNet: factor of the fidelity from stage to stage; without stages, the first Newton steps would be a thousand
# times too long. No kept study.
STAGE = 4.0
# ElasticNet: tolerance of all stages but the last. No kept study.
ROUGH = 0.1
# ElasticNet: share of the predicted rise of the dual that a step must reach, or it is halved (Armijo). No kept study.
RISE = 1e-4
# ElasticNet: largest number of times that a step is halved. No kept study.
HALVINGS = 30
# Graph: least number of entries of a code that make edges. In a plane, codes have two or three large
# entries, and without the smallest the rows of the plane fall apart. benchmarks/study_methods.py.
MIN_EDGES = 3
# affine="auto": number of rows, evenly spaced, on which kinds of codes are compared. No kept study.
DECIDING_ROWS = 600
# OMP: a row adds nothing if its part orthogonal to the chosen rows is below this many rounding errors. No kept study.
ROUNDING = 100.0
