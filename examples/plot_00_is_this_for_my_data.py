"""
Is this for my data?
====================

Four tables of two or three columns: flat clusters, bent clusters, blobs, and noise. FLS fits each of them, and its
verdict says which kind it found. Only flat clusters need subspace clustering.
"""

# %%
# Each row is a point. Two planes that cross, two half circles, three blobs, and rows without any clusters:

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_blobs, make_moons

from subspaces import FLS
from subspaces.datasets import make_subspaces

tables = {
    "flat: two planes": make_subspaces((2, 2), 3, points_per_subspace=200, noise=0.02, outliers=0.0, random_state=1)[0],
    "bent: two half circles": make_moons(800, noise=0.05, random_state=0)[0],
    "blobs": make_blobs(400, centers=3, random_state=1)[0],
    "noise": np.random.default_rng(0).normal(size=(400, 2)),
}
numbers = {"bent: two half circles": 2}  # of clusters, if known; otherwise FLS chooses
models = {name: FLS(numbers.get(name, "auto"), random_state=0).fit(X) for name, X in tables.items()}

# %%
# What FLS found:

figure = plt.figure(figsize=(13, 3.6), layout="constrained")
colors = np.array(["#0072B2", "#E69F00", "#009E73", "#CC79A7"])
for place, (name, X) in enumerate(tables.items(), start=1):
    flat = X.shape[1] == 3
    ax = figure.add_subplot(1, 4, place, **({"projection": "3d", "elev": 8, "azim": 130} if flat else {}))
    if flat:
        ax.set_box_aspect(None, zoom=1.3)
    ax.scatter(*X.T, c=colors[models[name].labels_ % 4], s=6, linewidths=0)
    ax.set(title=f"{name}\n{models[name].n_clusters_} found", xticks=[], yticks=[], **({"zticks": []} if flat else {}))
plt.show()

# %%
# What the verdict says:

for name, model in models.items():
    print(f"{name}\n{model.verdict_}\n")

# %%
# *Flat*: k-means cannot separate planes that cross, and this library can. *Bent*: the labels are those of a graph of
# neighbours, as in spectral clustering; there are clusters, but a flat describes none of them. *Blobs*: k-means or a
# Gaussian mixture is simpler. *Noise*: there is nothing to find, whatever the method.
