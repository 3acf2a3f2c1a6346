"""
Several methods on the same rows
================================

All methods have ``fit_predict``, so they are easy to compare. Methods that use only distances fail on intersecting
subspaces.
"""

# %%
# Five subspaces of dimensions 3 to 7 in eighty dimensions, with a tenth of outliers.

import matplotlib.pyplot as plt
from sklearn.cluster import KMeans

from subspaces import FLS, LBF, SSC, SSSC, LandmarkSpectralClustering
from subspaces.datasets import make_subspaces
from subspaces.plots import ComparisonDisplay, TradeoffDisplay

X, y = make_subspaces((3, 4, 5, 6, 7), 80, points_per_subspace=120, outliers=0.1, random_state=0)
models = {
    "k-means": KMeans(5, n_init=10, random_state=0),
    "landmark points": LandmarkSpectralClustering(5, random_state=0),
    "LBF, d = 5": LBF(5, subspace_dim=5, random_state=0),
    "SSSC": SSSC(5, n_in_sample=400, random_state=0),
    "SSC": SSC(5, random_state=0),
    "FLS": FLS(5, random_state=0),
}

# %%
# Accuracy is the share of inliers in the cluster that matches their class; the adjusted Rand index and the normalised
# mutual information need no matching.

figure, ax = plt.subplots(figsize=(9, 4.5), layout="constrained")
predictions = {name: model.fit_predict(X) for name, model in models.items()}
ComparisonDisplay.from_predictions(y, predictions, ax=ax)
plt.show()

# %%
# ``TradeoffDisplay`` fits the models again and measures the time. Seconds depend on the machine that built this page,
# and on the small number of rows: the time of SSC grows with their square, that of the others linearly. See
# :doc:`/which-method` for detailed measurements.

figure, ax = plt.subplots(figsize=(8, 4.5), layout="constrained")
TradeoffDisplay.from_models(models, X, y, ax=ax)
plt.show()
