"""
Handwritten digits, without labels
==================================

Images of one digit differ by slant, width and stroke, which are a few directions each: they lie near a
low-dimensional, slightly curved surface. FLS finds the ten digits without labels.
"""

# %%
# The 1,797 images of 8 x 8 pixels that come with scikit-learn.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits

from subspaces import FLS
from subspaces.metrics import clustering_accuracy, match_labels
from subspaces.plots import EmbeddingDisplay

X, y = load_digits(return_X_y=True)
fls = FLS(n_clusters=10, random_state=0).fit(X)
kmeans = KMeans(10, n_init=10, random_state=0).fit(X)
print(f"FLS {clustering_accuracy(y, fls.labels_):.3f}, k-means {clustering_accuracy(y, kmeans.labels_):.3f}")

# %%
# From each cluster, the five images with the highest and the five with the lowest confidence. Red frames mark images
# that are not in the cluster of their digit.

named = match_labels(y, fls.labels_)
figure, axes = plt.subplots(10, 10, figsize=(7.5, 7.8))
for row, digit in zip(axes, np.unique(named), strict=True):
    members = np.flatnonzero(named == digit)
    order = members[np.argsort(-fls.confidence_[members], kind="stable")]
    for ax, i in zip(row, [*order[:5], *order[-5:]], strict=True):
        ax.imshow(X[i].reshape(8, 8), cmap="gray_r")
        ax.set(xticks=[], yticks=[])
        for spine in ax.spines.values():
            spine.set(color="0.8" if y[i] == digit else "#D00000", linewidth=1 if y[i] == digit else 2.5)
axes[0, 2].set_title("surest")
axes[0, 7].set_title("least sure")
plt.show()

# %%
# Value of the confidence: accuracy of the most confident rows, for increasing shares of rows.

right = (named == y)[np.argsort(-fls.confidence_, kind="stable")]
share = np.arange(1, len(y) + 1) / len(y)
figure, axes = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
axes[0].plot(share[50:], (np.cumsum(right) / np.arange(1, len(y) + 1))[50:], color="#0072B2")
axes[0].set(xlabel="share of images, the surest first", ylabel="accuracy among them", ylim=(0.85, 1.005))
EmbeddingDisplay.from_estimator(fls, X, ax=axes[1])
plt.show()
