"""Feature maps, each given by a function f(x, y) and a measure from which y is drawn.

D draws give psi(x) = (f(x, y_1), ..., f(x, y_D)) / sqrt(D), whose inner products approximate the kernel
k(x1, x2) = E f(x1, y) f(x2, y) (Wang and Lerman, Section 2). Every map is a transformer: `fit` draws the y, `transform`
computes psi. They differ in f and in the measure:

=====================  ==================================  =====================================================
class                  f                                   measure
=====================  ==================================  =====================================================
`FourierFeatures`      sqrt(2) cos(w.x + t)                frequencies w of a shift-invariant kernel
`LandmarkFeatures`     exp(-|x - y|^2 / (2 sigma^2))       the data
`SubspaceFeatures`     exp(-dist(x, L)^2 / sigma^2)        local best-fit flats of the data, or uniform subspaces
`NystromFeatures`      whitened columns of a kernel        the data
`CustomFeatures`       user-defined                        user-defined
=====================  ==================================  =====================================================

The files of this room:

===================  ================================================================================
`base`               `FeatureMap`, the base class, and landmarks given by users
`distance`           base class of the maps that decrease with the distance to landmarks
`points`, `flats`    landmark points (`LandmarkFeatures`), landmark flats (`SubspaceFeatures`)
`weights`            weights of the nearest landmarks of a row
`fourier`            `FourierFeatures`
`nystrom`            `NystromFeatures`
`custom`             `CustomFeatures`
`transformer`        any scikit-learn transformer as a feature map
`exact`              kernels in closed form, the limits of these maps
`bandwidth`          sigma="auto" for kernels of distances
`thresholds`         the numbers that change results
===================  ================================================================================
"""

from subspaces.features import exact
from subspaces.features.base import FeatureMap
from subspaces.features.custom import CustomFeatures
from subspaces.features.flats import SubspaceFeatures
from subspaces.features.fourier import FourierFeatures
from subspaces.features.nystrom import NystromFeatures
from subspaces.features.points import LandmarkFeatures

__all__ = [
    "CustomFeatures",
    "FeatureMap",
    "FourierFeatures",
    "LandmarkFeatures",
    "NystromFeatures",
    "SubspaceFeatures",
    "exact",
]
