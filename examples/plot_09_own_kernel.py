"""
Your own kernel
===============

A function f(x, y) and a sampler for y define a kernel, k(x, x') = E f(x, y) f(x', y). D draws of y turn rows into D
numbers whose inner products approximate it, and spectral clustering follows in time linear in the number of rows. The
measure of y is as important as the function, as this example shows.
"""

# %%
# Rows near three lines through the origin of R³, a third of them with opposite sign: -x lies on the same line as x.

import matplotlib.pyplot as plt
import numpy as np

from subspaces import KernelSpectralClustering
from subspaces.kernels import CustomFeatures
from subspaces.metrics import clustering_accuracy, match_labels

rng = np.random.default_rng(0)
lines = np.array([[1.0, 0.0, 0.2], [0.3, 1.0, 0.0], [0.0, 0.3, 1.0]])
lines /= np.linalg.norm(lines, axis=1, keepdims=True)
y = np.repeat(np.arange(3), 200)
X = rng.uniform(0.3, 1, size=(600, 1)) * rng.choice([-1, 1], size=(600, 1), p=[1 / 3, 2 / 3]) * lines[y]
X += 0.06 * rng.normal(size=X.shape)

# %%
# f is large if a row is parallel to a direction y: the eighth power of their cosine.


def along(X, directions):
    return (X @ directions.T / np.linalg.norm(X, axis=1, keepdims=True)) ** 8


def of_the_rows(X, size, rng):
    rows = X[rng.choice(len(X), size)]
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def one_way_round(X, directions):
    return np.exp(4 * (X @ directions.T / np.linalg.norm(X, axis=1, keepdims=True) - 1))


# %%
# The same directions with another function, the angle itself, separate x from -x and fail.

figure, axes = plt.subplots(1, 2, figsize=(10, 4.6), subplot_kw={"projection": "3d"}, layout="constrained")
for ax, name, function in zip(axes, ("cosine to the eighth", "angle"), (along, one_way_round), strict=True):
    features = CustomFeatures(function, of_the_rows, 300)
    labels = KernelSpectralClustering(3, feature_map=features, random_state=0).fit_predict(X)
    ax.scatter(*X.T, c=match_labels(y, labels), cmap="tab10", vmax=9, s=8, linewidths=0)
    ax.set_title(f"{name}: {clustering_accuracy(y, labels):.1%} right")
    ax.set_box_aspect((1, 1, 1), zoom=1.3)
    ax.set(xticklabels=[], yticklabels=[], zticklabels=[])
plt.show()

# %%
# Inner products of features converge to the kernel at the rate D to the power -1/2.

for size in (100, 1000, 10_000):
    psi = CustomFeatures(along, of_the_rows, size, random_state=0).fit(X).transform(X[:200])
    print(f"D = {size:6,}: k(x₀, x₁) is about {psi[0] @ psi[1]:.4f}")
