"""
How many clusters
=================

``FLS("auto")`` chooses their number from the rows. Where clusters are flat, it is the number of flats that describe the
rows in the fewest nats; the choice is kept with its evidence, to be printed, drawn and doubted.
"""

# %%
# Three subspaces of dimensions 4, 5 and 6 in ten dimensions, and a tenth of the rows belongs nowhere.

import matplotlib.pyplot as plt

from subspaces import FLS
from subspaces.datasets import make_subspaces
from subspaces.plots import EigengapDisplay

X, y = make_subspaces((4, 5, 6), 10, outliers=0.1, random_state=0)
fls = FLS("auto", random_state=0).fit(X)
print(fls.n_clusters_, "clusters of dimensions", fls.cluster_dims_)

# %%
# Every candidate with its description length, and the reason for the winner:

print(fls.choice_["n_clusters"])

# %%
# The same as a picture, beside an old friend. The gap between eigenvalues says the same here, but only because these
# clusters separate well: where clusters touch, gaps are small and say little.

figure, axes = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
fls.choice_["n_clusters"].plot(axes[0])
EigengapDisplay.from_estimator(fls, ax=axes[1])
plt.show()
