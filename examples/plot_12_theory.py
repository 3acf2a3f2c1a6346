"""
Why a few landmarks are enough
==============================

D features approximate a kernel with an error that decreases as D to the power -1/2, independent of the number of
rows. The paper proves this; here it is measured.
"""

# %%
# Two affine planes in six dimensions, scaled into the unit ball, and the feature map of the paper: all distances to
# flats at random rows.

import matplotlib.pyplot as plt
import numpy as np

from subspaces import theory
from subspaces.datasets import make_subspaces
from subspaces.kernels import FourierFeatures, LandmarkFeatures, SubspaceFeatures

X, _ = make_subspaces((2, 2), 6, points_per_subspace=1000, noise=0.02, outliers=0.0, affine=True, random_state=0)
X = (X - X.mean(axis=0)) / np.linalg.norm(X - X.mean(axis=0), axis=1).max()
maps = {
    "landmark subspaces": SubspaceFeatures(subspace_dim=2, sigma=0.5, landmarks="random"),
    "landmark points": LandmarkFeatures(sigma=0.5, landmarks="random"),
    "random waves": FourierFeatures(sigma=0.5),
}

# %%
# The error of kernel entries for increasing D. By the theorem, its slope on logarithmic axes is -1/2.

curves = {name: theory.kernel_error(X, each, n_draws=20, random_state=0) for name, each in maps.items()}
for name, curve in curves.items():
    print(f"{name:20s} slope {curve.slope:.2f} ± {curve.slope_error:.2f}")

figure, ax = plt.subplots(figsize=(7.5, 4.6), layout="constrained")
for (name, curve), color in zip(curves.items(), ("#0072B2", "#E69F00", "#009E73"), strict=True):
    ax.loglog(curve.sizes, curve.errors.mean(axis=1), "o-", color=color, label=name)
sizes = curves["random waves"].sizes
law = curves["random waves"].errors[0].mean() * (sizes / sizes[0]) ** -0.5
ax.loglog(sizes, 1.5 * law, "--", color="0.5", label="D to the power -1/2")
ax.set(xlabel="number D of features", ylabel="error of kernel entries")
ax.legend()
plt.show()

# %%
# Flats at the data need far fewer features than Fourier features, which do not depend on the data. Number of
# landmarks needed for these rows:

print(theory.landmarks_needed(X, 0.1, maps["landmark subspaces"], random_state=0))
