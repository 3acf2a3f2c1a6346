"""
Angles and residuals
====================

Two questions about clusters: which of them have almost the same directions, and which rows fit their cluster
badly? Two displays answer them.
"""

# %%
# Four subspaces of R²⁰. The second is the first, rotated by 20 degrees; the fourth has twice the noise of the others.

import matplotlib.pyplot as plt
import numpy as np

from subspaces import LBF
from subspaces.metrics import clustering_accuracy
from subspaces.plots import AnglesDisplay, ResidualsDisplay

rng = np.random.default_rng(0)
basis = np.linalg.qr(rng.normal(size=(20, 12)))[0]
turned = np.cos(np.radians(20)) * basis[:, :3] + np.sin(np.radians(20)) * basis[:, 9:12]
bases = [basis[:, :3], turned, basis[:, 3:6], basis[:, 6:9]]
X = np.vstack([rng.normal(size=(150, 3)) @ each.T for each in bases])
y = np.repeat(np.arange(4), 150)
X += np.where(y == 3, 0.1, 0.05)[:, None] * rng.normal(size=X.shape)

lbf = LBF(n_clusters=4, random_state=0).fit(X)
print(f"{clustering_accuracy(y, lbf.labels_):.1%} right; dimension {lbf.subspace_dim_}")

# %%
# The smallest angle between two clusters shows how hard they are to separate; the diagonal shows the dimensions. The
# box of each cluster shows the distances of its rows to its flat, and which cluster is noisy. With ``FLS`` instead of
# ``LBF``, it shows outlier scores, which are relative to the noise of each cluster.

figure, axes = plt.subplots(1, 2, figsize=(11, 4.4), layout="constrained")
AnglesDisplay.from_estimator(lbf, ax=axes[0])
ResidualsDisplay.from_estimator(lbf, X, ax=axes[1])
plt.show()

# %%
# Numbers instead of figures: all angles between two clusters, from their bases.

from subspaces.metrics import principal_angles

pairs = [(j, k) for j in range(4) for k in range(j)]
bases = lbf.flats_.bases
angles = {(j, k): np.degrees(principal_angles(bases[j], bases[k])) for j, k in pairs}
closest = min(angles, key=lambda pair: angles[pair].min())
print("closest clusters:", closest, "at", angles[closest].round(1), "degrees")
