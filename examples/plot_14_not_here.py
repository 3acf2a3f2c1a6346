"""
Do not use it here
==================

Subspace clustering is not a better k-means. Three tables on which another method is simpler or better, and how the
verdict says so.
"""

# %%
# *Blobs.* The iris flowers are groups around their means, and the verdict names blobs. A Gaussian mixture finds
# about the same clusters, is quicker, and is understood by more people:

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA
from sklearn.mixture import GaussianMixture

from subspaces import FLS
from subspaces.metrics import clustering_accuracy

X, y = load_iris(return_X_y=True)
fls = FLS(3, random_state=0).fit(X)
print(fls.verdict_)
print(f"\nFLS              {clustering_accuracy(y, fls.labels_):.2f}")
print(f"k-means          {clustering_accuracy(y, KMeans(3, n_init=10, random_state=0).fit_predict(X)):.2f}")
mixture = GaussianMixture(3, n_init=5, random_state=0).fit(X)
print(f"Gaussian mixture {clustering_accuracy(y, mixture.predict(X)):.2f}")

# %%
# *Independent columns.* Rows whose columns have nothing to do with each other have no subspaces, however many rows
# there are. With "auto", FLS finds one cluster; with a number, it warns:

rng = np.random.default_rng(0)
uniform = rng.uniform(size=(500, 8))
one = FLS("auto", random_state=0).fit(uniform)
print(one.verdict_)

# %%
# *Few rows.* A plane in 30 columns needs more than a handful of rows. Here, each of three planes has six:

few = np.concatenate([rng.normal(size=(6, 2)) @ rng.normal(size=(2, 30)) for _ in range(3)])
few += 0.3 * rng.normal(size=few.shape)
none = FLS("auto", random_state=0).fit(few)
print(none.verdict_)

# %%
# The rows in their two leading principal components, coloured by the clusters of FLS: groups around their means, one
# cloud, and a few rows without a shape. The last picture shows the planes that these rows come from.

planes = np.repeat(np.arange(3), 6)
pictures = {
    "blobs: iris, clusters of FLS": (X, fls.labels_),
    f"independent columns: {one.n_clusters_} cluster": (uniform, one.labels_),
    f"few rows: {none.n_clusters_} cluster": (few, none.labels_),
    "few rows: the true planes": (few, planes),
}
colors = np.array(["#0072B2", "#E69F00", "#009E73"])
figure, axes = plt.subplots(1, 4, figsize=(13, 3.4), layout="constrained")
for ax, (title, (rows, labels)) in zip(axes, pictures.items(), strict=True):
    ax.scatter(*PCA(2).fit_transform(rows).T, c=colors[labels], s=40 if len(rows) < 50 else 8, linewidths=0)
    ax.set(title=title, xticks=[], yticks=[])
plt.show()
