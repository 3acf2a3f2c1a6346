"""The spectral step: from psi to an embedding, and from an embedding to labels.

- `landmarks`: landmark points of the rows
- `spectrum`: sums over blocks of psi, eigenvectors of the D x D matrix, embedding of any row; `sparse`: psi on devices
- `iterated`: the same eigenvectors of sparse psi in memory, without the D x D matrix
- `kmeans`: k-means with all restarts in one batch
- `partition`: how a row gets its label; refinement of labels on the landmarks
- `modularity`, `joins`: two measures of a partition without labels
- `kernel_graph`: the graph of a dense kernel; `graph`: spectral clustering of a sparse graph of rows
"""
