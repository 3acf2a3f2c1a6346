"""Feature maps: a function f(x, y) and a measure that y is drawn from.

D draws give psi(x) = (f(x, y_1), ..., f(x, y_D)) / sqrt(D), whose inner products approximate the kernel
k(x1, x2) = E f(x1, y) f(x2, y) (Wang and Lerman, Section 2). Every map is a transformer: `fit` draws, `transform`
maps. They differ in f and in the measure:

=====================  ==================================  =====================================================
`FourierFeatures`      sqrt(2) cos(w.x + t)                frequencies w of a shift-invariant kernel
`LandmarkFeatures`     exp(-|x - y|^2 / (2 sigma^2))       the data
`SubspaceFeatures`     exp(-dist(x, L)^2 / sigma^2)        local best-fit flats of the data, or all subspaces alike
`NystromFeatures`      whitened columns of a kernel        the data
`CustomFeatures`       yours                               yours
=====================  ==================================  =====================================================
"""

from subspaces.features import exact
from subspaces.features.base import FeatureMap
from subspaces.features.custom import CustomFeatures
from subspaces.features.distance import LandmarkFeatures, SubspaceFeatures
from subspaces.features.fourier import FourierFeatures
from subspaces.features.nystrom import NystromFeatures

__all__ = [
    "CustomFeatures",
    "FeatureMap",
    "FourierFeatures",
    "LandmarkFeatures",
    "NystromFeatures",
    "SubspaceFeatures",
    "exact",
]
