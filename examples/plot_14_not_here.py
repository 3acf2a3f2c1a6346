"""
Do not use it here
==================

Subspace clustering is not a better k-means. Three tables on which another method is simpler or better, and how the
verdict says so.
"""

# %%
# *Blobs.* The iris flowers are groups around their means, and the verdict names blobs. A Gaussian mixture finds
# about the same clusters, is quicker, and is understood by more people:

import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris
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
print(FLS("auto", random_state=0).fit(uniform).verdict_)

# %%
# *Few rows.* A plane in 30 columns needs more than a handful of rows. Here, each of three planes has six:

few = np.concatenate([rng.normal(size=(6, 2)) @ rng.normal(size=(2, 30)) for _ in range(3)])
few += 0.3 * rng.normal(size=few.shape)
print(FLS("auto", random_state=0).fit(few).verdict_)
