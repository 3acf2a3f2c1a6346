"""Data for trying subspace clustering: random data from models, and real data sets of the literature.

=====================  =======================================================================
`synthetic`            random subspaces with noise and outliers (`make_subspaces`)
`motions`              random tracks of points on moving rigid bodies (`make_motions`)
`digits`               MNIST and penDigits (`load_mnist`, `load_pendigits`)
`faces`                Extended Yale B (`load_yaleb`)
`motion_sequences`     real point tracks, Hopkins155 (`load_motions`)
`archives`             the data folder, checked reading and writing of its .npz files
`downloads`            files from the network (pooch), and parsers of their formats
`arguments`            checks of lists, shares and seeds
=====================  =======================================================================
"""

from subspaces.datasets.digits import load_mnist, load_pendigits
from subspaces.datasets.faces import load_yaleb
from subspaces.datasets.motion_sequences import load_motions
from subspaces.datasets.motions import make_motions
from subspaces.datasets.synthetic import make_subspaces

__all__ = ["load_mnist", "load_motions", "load_pendigits", "load_yaleb", "make_motions", "make_subspaces"]
