"""
Motion segmentation
===================

Points on a rigid body, seen by a distant camera, have tracks in an affine subspace of dimension at most three, for
every motion. Motion segmentation is therefore subspace clustering, and needs no model of the bodies.
"""

# %%
# Three bodies that rotate and move; a row is the track of one point: its two image coordinates in each of 30 frames.

import matplotlib.pyplot as plt
import numpy as np

from subspaces import FLS
from subspaces.datasets import make_motions
from subspaces.metrics import clustering_accuracy

X, y = make_motions(3, n_points=100, n_frames=30, noise=0.002, random_state=4)
fls = FLS(n_clusters=3, random_state=0).fit(X)
print(f"{clustering_accuracy(y, fls.labels_):.1%} right, flats are {'affine' if fls.affine_ else 'linear'}")

# %%
# Tracks in the image, grey without labels and coloured by cluster. The bodies overlap, so a single frame cannot
# separate them.

tracks = X.reshape(len(X), 30, 2)
figure, axes = plt.subplots(1, 2, figsize=(11, 4.8), sharex=True, sharey=True, layout="constrained")
colors = np.array(["#0072B2", "#E69F00", "#009E73"])
for ax, color in zip(axes, (np.full(len(X), "0.5"), colors[fls.labels_]), strict=True):
    for track, each in zip(tracks, color, strict=True):
        ax.plot(*track.T, color=each, linewidth=0.6, alpha=0.55)
    ax.scatter(*tracks[:, -1].T, s=10, c=color, zorder=3, linewidths=0)
    ax.set(aspect="equal", xticks=[], yticks=[])
axes[0].set_title("tracks of 300 points")
axes[1].set_title("what FLS makes of them")
plt.show()
