"""Measure the theoretical results of the paper (Lemma 3.1 and Section 4) on your own rows."""

from subspaces.paper.theory.curve import Curve
from subspaces.paper.theory.eigenspace import eigenspace_error, eigenspace_error_by_rows
from subspaces.paper.theory.kernel import kernel_error, kernel_error_by_rows
from subspaces.paper.theory.matrix_perturbation import Perturbation, perturbation
from subspaces.paper.theory.needed import LandmarksNeeded, landmarks_needed
from subspaces.paper.theory.standard import curves, draw, table
from subspaces.paper.theory.uniform import UniformMeasure, uniform_measure

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
