"""
Faces under changing light
==========================

Images of one face under different lights lie near a subspace of few dimensions: the brightness of a pixel is linear
in the light, as long as nothing casts a shadow. Images of several persons are therefore clusters that are flat, and
two images of one person in different light are farther from each other than two persons in the same light.
"""

# %%
# Three made-up faces: smooth surfaces, of which each pixel has a normal and a colour. Lights come from random
# directions. `subspaces.datasets.load_yaleb` loads real faces.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans

from subspaces import FLS
from subspaces.metrics import clustering_accuracy

rng = np.random.default_rng(0)
across, down = np.meshgrid(np.linspace(-1, 1, 20), np.linspace(-1.2, 1.2, 24))


def face():
    """Normals, times the colour of the skin, of each of 24 x 20 pixels: (480, 3)."""
    height = np.sqrt(np.clip(1.9 - across**2 - (down / 1.2) ** 2, 0.05, None))
    for x, y, size, depth in [(0, 0.1, 0.2, 0.4), (-0.4, -0.3, 0.2, -0.3), (0.4, -0.3, 0.2, -0.3), (0, 0.6, 0.3, 0.1)]:
        x, y, depth = x + 0.1 * rng.normal(), y + 0.1 * rng.normal(), depth * rng.uniform(0.5, 1.5)
        height += depth * np.exp(-((across - x) ** 2 + (down - y) ** 2) / size**2)
    slopes = np.gradient(height, down[:, 0], across[0])
    normals = np.stack([-slopes[1], -slopes[0], np.ones_like(height)], axis=-1)
    normals /= np.linalg.norm(normals, axis=-1, keepdims=True)
    color = 0.8 + 0.2 * np.cos(3 * across + rng.uniform(0, 6)) * np.cos(3 * down + rng.uniform(0, 6))
    return (color[..., None] * normals).reshape(-1, 3)


persons = np.repeat(np.arange(3), 64)
faces = [face() for _ in range(3)]
lights = np.column_stack([rng.uniform(-0.6, 0.6, (len(persons), 2)), np.ones(len(persons))])
images = np.stack([faces[person] @ light for person, light in zip(persons, lights, strict=True)])
images += 0.01 * rng.normal(size=images.shape)

# %%
# FLS finds the persons, k-means mostly the lights:

fls = FLS(3, random_state=0).fit(images)
means = KMeans(3, n_init=10, random_state=0).fit_predict(images)
print(fls.verdict_)
print(f"FLS {clustering_accuracy(persons, fls.labels_):.2f}, k-means {clustering_accuracy(persons, means):.2f}")

figure, axes = plt.subplots(3, 8, figsize=(9, 4.2), layout="constrained")
for k, line in enumerate(axes):
    for ax, row in zip(line, np.flatnonzero(fls.labels_ == k), strict=False):
        ax.imshow(images[row].reshape(24, 20), cmap="gray", vmin=0, vmax=1.2)
        ax.set(xticks=[], yticks=[])
    line[0].set_ylabel(f"cluster {k}")
plt.show()
