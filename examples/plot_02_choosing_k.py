"""
How many clusters
=================

``FLS("auto")`` chooses the number of clusters from the rows. For flat clusters, it is the number of flats with the
shortest description of the rows. ``choice_`` has the evidence, which can be printed and plotted.
"""

# %%
# Three subspaces of dimensions 4, 5 and 6 in ten dimensions, with a tenth of outliers.

import matplotlib.pyplot as plt

from subspaces import FLS
from subspaces.datasets import make_subspaces
from subspaces.plots import EigengapDisplay

X, y = make_subspaces((4, 5, 6), 10, outliers=0.1, random_state=0)
fls = FLS("auto", random_state=0).fit(X)
print(fls.n_clusters_, "clusters of dimensions", fls.cluster_dims_)

# %%
# All candidates with their description lengths, and the reason for the choice:

print(fls.choice_["n_clusters"])

# %%
# The same as a figure, next to the eigenvalues. The eigenvalue gap gives the same answer here, because these clusters
# are well separated. If clusters touch, gaps are small and not informative.

figure, axes = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
fls.choice_["n_clusters"].plot(axes[0])
EigengapDisplay.from_estimator(fls, ax=axes[1])
plt.show()
