"""Clusters that are flat beyond doubt: labels by K whole flats, and a graph of some rows that only draws them."""

from __future__ import annotations

import numpy as np

from subspaces._core import progress
from subspaces.features.psi import compute_psi
from subspaces.rows.preparation import PreparedRows
from subspaces.selection.clustering import Clustering
from subspaces.selection.limits import DRAWN_ROWS_PER_LANDMARK
from subspaces.selection.setting import Setting
from subspaces.selection.structure import Structure, label_by_flats
from subspaces.spectral.iterated import sparse_spectrum
from subspaces.spectral.partition import at_most


def draw_flats(
    structure: Structure, prepared: PreparedRows, setting: Setting, rng: np.random.RandomState
) -> Clustering:
    """The clustering of prepared rows by the K flats of `structure`, with the eigenvectors of a graph of some rows."""
    landmarks = setting.landmarks
    shape = prepared.shaped_by(unit=landmarks.flats.unit, whiten=landmarks.flats.whiten)
    sample = at_most(np.arange(len(prepared.rows)), DRAWN_ROWS_PER_LANDMARK * landmarks.count, rng)
    rows = shape.shaped(prepared.rows[sample])
    progress.stage("flats at landmarks", f"fitting flats at {landmarks.count:,} landmarks")
    described = compute_psi(landmarks.features(rng).fit(rows), rows)
    progress.stage("partition", f"assigning {len(prepared.rows):,} rows to {setting.n_clusters} flats")
    spectrum = sparse_spectrum(described.psi, setting.cut.n_computed)
    # As many as separate K clusters, unless a number is given; two at least, to draw them.
    n_vectors = next((each for each in sorted(setting.cut.n_vectors) if each > 1), setting.cut.n_vectors[0])
    partition, labels = label_by_flats(described.psi, spectrum, structure, prepared.rows, sample, n_vectors=n_vectors)
    return Clustering(
        described.features,
        described.psi,
        np.arange(len(labels)),
        None,
        spectrum,
        None,
        partition,
        labels,
        unit=landmarks.flats.unit,
        structure=structure,
    )
