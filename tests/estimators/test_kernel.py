"""KernelSpectralClustering: any feature map, of this package, of scikit-learn or of the user."""

import numpy as np
import pytest
import reference
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.ensemble import RandomTreesEmbedding
from sklearn.kernel_approximation import RBFSampler
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from subspaces import KernelSpectralClustering, LandmarkSpectralClustering, NystromSpectralClustering
from subspaces.kernels import FourierFeatures, LandmarkFeatures, NystromFeatures
from subspaces.metrics import clustering_accuracy

BLOBS, BLOB_LABELS = make_blobs(120, centers=3, n_features=4, random_state=0)


def same_partition(first, second):
    return clustering_accuracy(first, second) == 1


def test_the_map_is_not_fitted_itself():
    features = LandmarkFeatures(20, n_nearest=3)
    model = KernelSpectralClustering(3, feature_map=features, random_state=0).fit(BLOBS)
    assert not hasattr(features, "landmarks_")
    assert model.feature_map_.landmarks_.shape == (20, 4)
    assert features.random_state is None


def test_the_seed_of_the_map_is_kept():
    first, second = (
        KernelSpectralClustering(3, feature_map=FourierFeatures(50, random_state=7), random_state=seed).fit(BLOBS)
        for seed in range(2)
    )
    np.testing.assert_array_equal(first.feature_map_.frequencies_, second.feature_map_.frequencies_)


def test_maps_of_other_estimators_give_their_clusters():
    for sibling, features in (
        (LandmarkSpectralClustering(3, n_landmarks=25, random_state=0), LandmarkFeatures(25, n_nearest=5)),
        (NystromSpectralClustering(3, n_landmarks=25, random_state=0), NystromFeatures(25, sigma="auto")),
    ):
        own = KernelSpectralClustering(3, feature_map=features, random_state=0).fit(BLOBS)
        assert same_partition(own.labels_, sibling.fit(BLOBS).labels_)


def test_a_transformer_is_a_map():
    sampler = RBFSampler(gamma=1 / 18, n_components=400, random_state=0)
    model = KernelSpectralClustering(3, feature_map=sampler, n_components=2, random_state=0).fit(BLOBS)
    assert isinstance(model.feature_map_, RBFSampler)
    assert not hasattr(sampler, "random_weights_")
    values, _ = reference.embedding(clone(sampler).fit_transform(BLOBS), 2)
    np.testing.assert_allclose(model.eigenvalues_[1:], values, atol=1e-8)
    pipeline = make_pipeline(StandardScaler(), RBFSampler(gamma=0.2, n_components=200))
    first, second = (
        KernelSpectralClustering(3, feature_map=pipeline, random_state=0).fit_predict(BLOBS) for _ in range(2)
    )
    np.testing.assert_array_equal(first, second)
    assert same_partition(BLOB_LABELS, first)


@pytest.mark.parametrize("feature_map", ["gaussian", LandmarkFeatures, 3, np.eye(4)])
def test_other_objects_are_refused(feature_map):
    with pytest.raises(TypeError, match="feature_map="):
        KernelSpectralClustering(3, feature_map=feature_map).fit(BLOBS)


def test_sparse_features_below_zero_are_refused():
    class Negative(RandomTreesEmbedding):
        def transform(self, X):
            return -super().transform(X)

    with pytest.raises(ValueError, match="below zero"):
        KernelSpectralClustering(3, feature_map=Negative(10), random_state=0).fit(BLOBS)
