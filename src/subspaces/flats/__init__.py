"""Flats: affine and linear subspaces, fitted to rows.

===================  ================================================================================
`flats`              `Flats`, a batch of flats of equal dimension
`distances`          distances of NumPy rows to flats, and the nearest flats of each row
`device`, `triton`   the same for other array libraries, and as a kernel for CUDA
`fitting`            least-squares flats through given sets of rows
`neighborhoods`      nearest rows, sizes chosen by beta2 (`Beta2`), local best-fit flats
`candidates`         candidate flats at random rows, and the greedy choice among them (LBF)
`kflats`             K-flats: assign rows to flats, refit, repeat
`per_cluster`        flats of the clusters of a labelling
`affinity`           affinities between rows with a flat at each, and votes of flats (SLBF)
`dimension`          the dimension of flats, from the level of noise that they leave
`cells`              Gaussians around flats, fitted to many clusters at once
`description`        description length of rows under a union of flats
`coded`              the cluster that encodes each row in the fewest nats
`cluster_model`      Gaussians of clusters that were found: dimensions, outliers
`angles`             principal angles
`thresholds`         the numbers that change results
===================  ================================================================================
"""

from subspaces.flats.angles import principal_angles
from subspaces.flats.distances import distances_to, nearest, squared_distances
from subspaces.flats.fitting import fit_flats
from subspaces.flats.flats import Flats
from subspaces.flats.kflats import FlatsFit, assign_to_flats, fit_kflats
from subspaces.flats.neighborhoods import Beta2, local_flats

__all__ = [
    "Beta2",
    "Flats",
    "FlatsFit",
    "assign_to_flats",
    "distances_to",
    "fit_flats",
    "fit_kflats",
    "local_flats",
    "nearest",
    "principal_angles",
    "squared_distances",
]
