"""Every number of this room that changes results: what it decides, and the kept study that set it.

Studies are scripts in benchmarks/. Numbers of the eigensolvers in `spectrum.py` and `graph.py` affect accuracy in the
last digits and speed, and stay there.
"""

# --- Landmarks (landmarks.py) ---
# Rows per landmark and steps of k-means; more do not improve landmarks (Chen and Cai, AAAI 2011).
ROWS_PER_LANDMARK = 20
LLOYD_STEPS = 5

# --- k-means (kmeans.py) ---
# Starts are chosen among this many rows, or this many per centre. No kept study.
SEED_ROWS = 10_000
SEED_ROWS_PER_CENTER = 20
# More centres than this cut rows into small parts: they start at random rows instead of rows far from each other.
# Limits time for 50 clusters, with the same accuracy there. No kept study.
MANY_CENTERS = 200

# --- Partitions (partition.py) ---
# k-means on the embedding is fitted on at most this many rows. No kept study.
MAX_FIT_ROWS = 6000
# Rounds of refinement of every candidate on a sample. study_partition.
TRIAL_ROUNDS = 5
# Figures equal to this many digits are equal: rounding must not choose between the same partition under two orders of
# its clusters, or labels would depend on the block size.
DIGITS = 9
# Rows farther from every flat than this many deviations do not take part in modularity. No kept study.
ROW_DEVIATIONS = 3.0
# Numbers of eigenvectors beyond K that are tried, as multiples of K; fewer for many clusters. study_partition.
VECTORS_PER_CLUSTER = 1.6
MOST_VECTORS_PER_CLUSTER = 2
MANY_CLUSTERS = 20
VECTORS_PER_CLUSTER_OF_MANY = 1.25

# --- Separation (joins.py) ---
# Parts per cluster and least number of parts, for each way to cut rows into parts. defaults.
PARTS = ((5, 25), (8, 50), (12, 50))
# Eigenvectors in which parts are made, at least, if rows outnumber landmarks: small clusters show in later ones.
# study_parts.
PART_VECTORS = 16
# Least number of rows per part, on average. No kept study.
ROWS_PER_PART = 10
# Steps of k-means for parts. No kept study.
PART_STEPS = 20
# Weaker joins count as none (e in the formula), and the factor of the entropy. defaults.
WEAK_JOIN = 0.005
EVENNESS = 0.25
# Groups smaller than this share of an average cluster do not count as clusters. defaults.
SMALL_CLUSTER = 0.05

# --- Graphs of kernels and of rows (kernel_graph.py, graph.py) ---
# Smallest degree of a row, as a share of the mean degree. No kept study.
DEGREE_FLOOR = 0.1
# Weight added to every pair of nodes, as a share of the mean degree spread over all nodes. It orders the pieces of a
# disconnected graph: large ones come first, and a stray node does not become a cluster. study_graph.
GRAPH_TIE = 0.03
# Labels of different numbers of eigenvectors are compared by modularity if their normalised cuts are at most this many
# times the smallest. benchmarks/study_methods.py.
NEAR_CUT = 1.1
# Small parts of a graph that are joined to clusters replace labels from eigenvectors if their normalised cut is at most
# this share of theirs, and their modularity is larger. benchmarks/study_offsets.py.
BETTER_CUT = 0.5
# Starts of k-means on the eigenvectors of a graph. No kept study.
GRAPH_STARTS = 20

# --- Centroids (centroids.py) ---
# For n_centroids="auto": largest and smallest number, rows per centroid, centroids per cluster. No kept study.
MAX_CENTROIDS = 1000
FEW_CENTROIDS = 50
ROWS_PER_CENTROID = 5
CENTROIDS_PER_CLUSTER = 5
# Steps of k-means for centroids, and starts of k-means on their embedding. No kept study.
CENTROID_STEPS = 20
CENTROID_STARTS = 10
# The scale of a point is its distance to this neighbour (Zelnik-Manor and Perona, 2004).
SCALE_NEIGHBOR = 7
# Weight added to every pair of points, as a share of the mean affinity. No kept study.
CENTROID_TIE = 1e-3
