"""
Pipelines, and a search without labels
======================================

The estimators follow the scikit-learn API, so they work in pipelines and grid searches. ``FLS.score`` is minus
the length of a description of held-out rows by the clusters, in nats per row, and needs no true classes.
"""

# %%
# Six of the digits, with a preprocessing step of scikit-learn.

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from subspaces import FLS
from subspaces.metrics import clustering_accuracy

X, y = load_digits(n_class=6, return_X_y=True)
pipeline = make_pipeline(
    PCA(30), FLS(6, subspace_dim=3, n_landmarks=200, affine=False, assign="balanced", random_state=0)
)

# %%
# How many rows should a flat be fitted to? Few rows follow the noise, many reach into other clusters. The score on
# rows that were not used for fitting decides; the search does not use the true classes.

search = GridSearchCV(pipeline, {"fls__neighborhood": [10, 20, 40, 80, 120]}, cv=3).fit(X)
print(search.best_params_)

# %%
# Compare with the true classes. Settings with a low score have a low accuracy; the score cannot rank the best ones.

sizes = [each["fls__neighborhood"] for each in search.cv_results_["params"]]
accuracy = [clustering_accuracy(y, pipeline.set_params(fls__neighborhood=size).fit_predict(X)) for size in sizes]

figure, ax = plt.subplots(figsize=(7.5, 4.2), layout="constrained")
scores, spread = search.cv_results_["mean_test_score"], search.cv_results_["std_test_score"]
ax.errorbar(sizes, scores, spread, color="#0072B2", marker="o", capsize=3)
ax.set(xscale="log", xlabel="rows in a neighbourhood")
ax.set_xticks(sizes, [str(size) for size in sizes], minor=False)
ax.minorticks_off()
ax.set_ylabel("score of held-out rows, in nats per row", color="#0072B2")
twin = ax.twinx()
twin.plot(sizes, accuracy, color="#E69F00", marker="s")
twin.set_ylabel("accuracy, not seen by the search", color="#B37700")
plt.show()

# %%
# None of this is needed for a good fit: ``FLS(6)`` chooses dimension, neighbourhood and kind of flats by itself.

print(f"FLS(6): {clustering_accuracy(y, FLS(6, random_state=0).fit_predict(X)):.3f}")
