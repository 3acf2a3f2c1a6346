"""
Outliers
========

A third of these rows lies in no subspace. FLS computes an outlier score for each row. With
``detect_outliers=True``, it labels rows -1 that a background of noise explains better than any cluster. The number
of outliers is not given.
"""

# %%
# 500 rows near two planes in six dimensions, and 215 rows scattered in the surrounding cube.

import matplotlib.pyplot as plt
import numpy as np

from subspaces import FLS
from subspaces.datasets import make_subspaces

X, y = make_subspaces((2, 2), 6, outliers=0.3, random_state=0)
fls = FLS(n_clusters=2, detect_outliers=True, random_state=0).fit(X)

found, true = fls.labels_ == -1, y == -1
print(f"{(found & true).sum()} of {true.sum()} outliers found, {(found & ~true).sum()} of {(~true).sum()} inliers lost")

# %%
# The score of a typical row is about one. Left: the scores of inliers and outliers. Right: the distances of all
# rows to both planes, coloured by label.

figure, axes = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
bins = np.geomspace(0.1, fls.outlier_scores_.max(), 50)
axes[0].hist([fls.outlier_scores_[~true], fls.outlier_scores_[true]], bins, stacked=True, color=["#0072B2", "0.65"])
axes[0].set(xscale="log", xlabel="outlier score", ylabel="rows")
axes[0].legend(["near a plane", "outliers"])

distances = []
for center, basis in zip(fls.cluster_bases_.centers, fls.cluster_bases_.bases, strict=True):
    offset = X - center
    distances.append(np.linalg.norm(offset - offset @ basis @ basis.T, axis=1))
for label, color in zip((-1, 0, 1), ("0.65", "#0072B2", "#E69F00"), strict=True):
    rows = fls.labels_ == label
    name = "outliers" if label < 0 else f"cluster {label}"
    axes[1].scatter(distances[0][rows], distances[1][rows], s=9, color=color, label=name, linewidths=0)
axes[1].set(xlabel="distance to the flat of cluster 0", ylabel="distance to that of cluster 1")
axes[1].legend()
plt.show()

# %%
# New rows are labelled by the same rule.

print(fls.predict(np.vstack([X[:2], [[5.0] * 6]])))
