"""
A first look
============

Rows near three intersecting planes. k-means divides space into regions around centres, so each of its clusters
contains rows of all planes. FLS finds the planes.
"""

# %%
# 250 rows near each of three planes through the origin of R⁴, with a little noise. The figures show three of the four
# coordinates.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans

from subspaces import FLS
from subspaces.datasets import make_subspaces
from subspaces.metrics import clustering_accuracy, match_labels

X, y = make_subspaces((2, 2, 2), 4, noise=0.02, outliers=0.0, random_state=1)

# %%
# Both methods are given the number of clusters. ``match_labels`` renames clusters after the classes they match
# best, so that the figures can be compared.

fls = FLS(n_clusters=3, random_state=0).fit(X)
kmeans = KMeans(n_clusters=3, n_init=10, random_state=0).fit(X)

figure, axes = plt.subplots(1, 3, figsize=(12, 4), subplot_kw={"projection": "3d"}, layout="constrained")
colors = np.array(["#0072B2", "#E69F00", "#009E73"])
for ax, name, labels in zip(axes, ("rows", "k-means", "FLS"), (None, kmeans.labels_, fls.labels_), strict=True):
    ax.scatter(*X[:, 1:].T, c="0.55" if labels is None else colors[match_labels(y, labels)], s=8, linewidths=0)
    ax.set_title(name if labels is None else f"{name}: {clustering_accuracy(y, labels):.1%} right")
    ax.view_init(3, 92)
    ax.set_box_aspect((1, 1, 1), zoom=1.5)
    ax.set_axis_off()

# The flat of each cluster, as a disk of radius one.
radius, angle = np.meshgrid([0, 1], np.linspace(0, 2 * np.pi, 60))
disk = np.stack([radius * np.cos(angle), radius * np.sin(angle)])
for k in range(3):
    flat = np.tensordot(fls.cluster_bases_.bases[k][:, :2], disk, 1) + fls.cluster_bases_.centers[k][:, None, None]
    axes[2].plot_surface(*flat[1:], color=colors[match_labels(y, fls.labels_)[fls.labels_ == k][0]], alpha=0.13)
plt.show()

# %%
# FLS estimates the dimension of each cluster, which was not given, and a flat in the coordinates of ``X``.

for k, dim in enumerate(fls.cluster_dims_):
    print(f"cluster {k}: {(fls.labels_ == k).sum()} rows near a flat of dimension {dim}")

# %%
# Agreement with the clusters found from other landmarks: 1 means the same clusters, 0 is chance level.

print(f"agreement {fls.agreement_:.2f}")
