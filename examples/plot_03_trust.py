"""
Are the clusters reliable?
==========================

Any method returns K clusters, even for pure noise. FLS checks whether other landmarks give the same clusters, and
warns if they do not.
"""

# %%
# Three subspaces with increasing noise, up to more than their own size, and Gaussian noise only.

import warnings

import matplotlib.pyplot as plt
import numpy as np

from subspaces import FLS
from subspaces.datasets import make_subspaces
from subspaces.metrics import clustering_accuracy

levels = (0.02, 0.1, 0.2, 0.3, 0.45, 0.7)
agreement, accuracy = [], []
for noise in levels:
    X, y = make_subspaces((3, 3, 3), 15, noise=noise, outliers=0.0, points_per_subspace=150, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the figure shows the agreement instead
        fls = FLS(n_clusters=3, random_state=0).fit(X)
    agreement.append(fls.agreement_)
    accuracy.append(clustering_accuracy(y, fls.labels_))

figure, ax = plt.subplots(figsize=(7.5, 4.2), layout="constrained")
ax.plot(levels, accuracy, "s-", color="#E69F00", label="accuracy, unknown in practice")
ax.plot(levels, agreement, "o-", color="#0072B2", label="agreement_, which needs no truth")
ax.axhline(0.5, color="0.6", linestyle=":", label="below this FLS warns")
ax.set(xlabel="standard deviation of the noise in each column", ylim=(0, 1.03))
ax.legend()
plt.show()

# %%
# Noise only, and the complete warning:

noise = np.random.default_rng(0).normal(size=(600, 15))
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    fls = FLS(n_clusters=3, random_state=0).fit(noise)
print(f"agreement {fls.agreement_:.2f}")
print(caught[-1].message)
