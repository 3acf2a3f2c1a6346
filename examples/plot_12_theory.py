"""
Why a few landmarks are enough
==============================

D features stand for a kernel with an error that falls as D to the power -1/2, and the number of rows does not enter.
That is what the paper proves; here it is measured on rows of our own.
"""

# %%
# Two affine planes in six dimensions, scaled into the unit ball, and the feature map of the paper: nearness to flats at
# random rows, all of which count.

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
# The error of kernel entries for growing D. Its slope in a picture of logarithms is -1/2, says the theorem.

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
# Flats at the data need far fewer features than waves that look at no data. How many are enough for these rows:

print(theory.landmarks_needed(X, 0.1, maps["landmark subspaces"], random_state=0))
