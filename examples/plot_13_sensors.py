"""
Regimes of a machine
====================

Twelve sensors of a machine that runs in three regimes. In each regime, all readings follow from load and
temperature, but in another way: rows of a regime lie near a plane. The regimes overlap around the usual operating
point, so distances to means, as in k-means, cannot separate them.
"""

# %%
# Hidden load and temperature, a matrix from both to the twelve sensors for each regime, and noise of the sensors:

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans

from subspaces import FLS
from subspaces.metrics import clustering_accuracy

rng = np.random.default_rng(3)
names = [f"sensor {j}" for j in range(1, 13)]
regime = np.repeat([0, 1, 2], [400, 300, 200])
hidden = rng.normal(size=(len(regime), 2))
mixing = rng.normal(size=(3, 2, 12))
readings = 20 + np.einsum("nh,nhs->ns", hidden, mixing[regime]) + 0.1 * rng.normal(size=(len(regime), 12))

# %%
# The number of regimes is unknown:

fls = FLS("auto", random_state=0).fit(readings)
print(fls.verdict_)
print(f"{fls.n_clusters_} clusters of dimension {fls.cluster_dims_.tolist()}")
print(f"FLS     {clustering_accuracy(regime, fls.labels_):.3f} of the rows are in the right regime")
means = KMeans(3, n_init=10, random_state=0).fit(readings)
print(f"k-means {clustering_accuracy(regime, means.labels_):.3f}")

# %%
# The flat of a regime predicts every sensor. A broken sensor makes rows unusual, and they are reported as outliers:

broken = readings[:20].copy()
broken[:, 4] += 3
scores = fls.outlier_scores(readings[:20]), fls.outlier_scores(broken)
figure, ax = plt.subplots(figsize=(6.5, 3.6), layout="constrained")
ax.plot(scores[0], "o", color="#0072B2", label="as measured")
ax.plot(scores[1], "s", color="#D55E00", label="sensor 5 reads 3 too much")
ax.set(xlabel="row", ylabel="outlier score", yscale="log")
ax.legend()
plt.show()
