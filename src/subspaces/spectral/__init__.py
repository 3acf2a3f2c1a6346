"""The spectral step: landmarks, sums over blocks, eigenvectors, embedding, k-means and cuts."""
