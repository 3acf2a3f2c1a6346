"""The theory of the paper (Lemma 3.1 and Section 4), claim by claim, measured on your own rows."""

from subspaces.paper.theory._curve import Curve
from subspaces.paper.theory._eigenspace import eigenspace_error, eigenspace_error_by_rows
from subspaces.paper.theory._kernel import kernel_error, kernel_error_by_rows
from subspaces.paper.theory._needed import LandmarksNeeded, landmarks_needed
from subspaces.paper.theory._perturbation import Perturbation, perturbation
from subspaces.paper.theory._standard import curves, draw, table
from subspaces.paper.theory._uniform import UniformMeasure, uniform_measure

__all__ = [
    "Curve",
    "LandmarksNeeded",
    "Perturbation",
    "UniformMeasure",
    "curves",
    "draw",
    "eigenspace_error",
    "eigenspace_error_by_rows",
    "kernel_error",
    "kernel_error_by_rows",
    "landmarks_needed",
    "perturbation",
    "table",
    "uniform_measure",
]
