"""
Rows that do not fit into memory
================================

Pass a path instead of an array. Parameters are chosen on a sample; all rows are used in passes over blocks. With a
checkpoint, an interrupted run continues from the last block.
"""

# %%
# A file of 300,000 rows, small enough for an example. It is written block by block, as larger files would be.

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from subspaces import FLS, open_rows
from subspaces.datasets import make_subspaces
from subspaces.metrics import clustering_accuracy

folder = Path(tempfile.mkdtemp())
X, y = make_subspaces((2, 3, 4), 12, points_per_subspace=100_000, outliers=0.0, random_state=0)
order = np.argsort(y + np.random.default_rng(0).normal(0, 0.4, len(y)))  # as files are: neither sorted nor shuffled
X, y = X[order], y[order]
file = np.lib.format.open_memmap(folder / "rows.npy", "w+", np.float32, X.shape)
for start in range(0, len(X), 50_000):
    file[start : start + 50_000] = X[start : start + 50_000]
file.flush()

# %%
# The cost of a fit, before it starts:

print(FLS(3, n_landmarks=500).plan(*X.shape, memory_limit="64MB"))

# %%
# Fit with little memory, labels written to a file, and a folder for the checkpoint. After an interruption, the same
# call continues at the last block and gives exactly the same result.

rows = open_rows(folder / "rows.npy", memory_limit="64MB", labels=folder / "labels.npy", checkpoint=folder / "run")
model = FLS(3, n_landmarks=500, subspace_dim=4, affine=False, random_state=0).fit(rows)
labels = np.load(folder / "labels.npy", mmap_mode="r")
print(f"{clustering_accuracy(y, labels):.2%} of {len(labels):,} rows right")

# %%
# ``predict`` labels any part of the file, and new rows. Where the clusters lie in the file:

figure, ax = plt.subplots(figsize=(10, 2.6), layout="constrained")
shares = np.stack([np.bincount(part, minlength=3) / len(part) for part in np.array_split(labels, 100)])
ax.stackplot(np.linspace(0, len(labels), 100), shares.T, colors=["#0072B2", "#E69F00", "#009E73"], alpha=0.85)
ax.set(xlabel="row of the file", ylabel="share of the block", ylim=(0, 1), xlim=(0, len(labels)))
plt.show()
