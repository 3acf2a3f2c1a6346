"""Every number of this room that changes results: what it decides, and the kept study that set it.

Studies are scripts in benchmarks/ whose results are kept in benchmarks/results/; "choosing" is benchmarks/choosing.py.
A number without a study says so.
"""

# --- Clearly better (comparison.py) ---
# One candidate is clearly better than another if the mean of paired differences exceeds this many standard errors.
# study_partition, benchmarks/cluster_count.py, study_evidence.
N_ERRORS = 2.0
# Rows that share landmarks are not independent: they form about this many groups. No kept study.
ERROR_GROUPS = 50

# --- The graph: points or flats, linear or affine, whitened or not (search.py) ---
# Dimensions of landmark flats that are tried. study_flats.
DIMS = (2, 3, 4, 6, 9)
# Sizes a d + b of a tight and a wide neighbourhood for flats of dimension d, and the largest size that is always
# allowed. study_flats.
TIGHT = (2, 2)
WIDE = (6, 4)
SMALLEST_LIMIT = 8
# Up to this many columns the graph is one of points: flats fill the space, and unit rows fill their circle or sphere.
# study_evidence.
LOW_COLUMNS = 3
# From this many columns on, whitening is tried, to these powers: leading components may be common to all clusters.
# study_evidence.
WHITEN_COLUMNS = 20
WHITEN = (0.5, 1.0)
# Limits of time: starts of k-means for each trial; rows, landmarks and dimensions of the pilot that decides the kind;
# rows and landmarks of the sample that decides the rest; landmarks that describe a row. study_regime.
SEARCH_STARTS = 2
PILOT_ROWS = 2500
PILOT_LANDMARKS = 1000
PILOT_DIMS = (2, 4)
SAMPLE_ROWS = 8000
SAMPLE_LANDMARKS = 700
SAMPLE_NEAREST = 8

# --- Partition: modularity or separation (partition.py) ---
# Refinement: candidates of each origin that are refined on all rows, and rounds. study_partition.
N_FINALISTS = 2
FINAL_ROUNDS = 20
# How much better separated a partition must be than that of the largest modularity. choosing.
SEPARATION_MARGIN = 0.2
# Clusters joined from different parts are trusted from this adjusted Rand index on. choosing.
SURE_AGREEMENT = 0.8
# Partitions that agree this well differ only in details, which modularity judges better. choosing.
SAME_AGREEMENT = 0.9
# A cluster needs this many rows of a sample. No kept study.
MIN_CLUSTER_ROWS = 10
# Eigenvalues this near to one count as one: the graph is in separate pieces. Rounding, no study needed.
EQUAL = 1e-5
# Starts of k-means: in all, and per number of eigenvectors if candidates are refined afterwards. study_partition.
N_STARTS = 10
N_STARTS_EACH = 2

# --- Landmarks (choosing.py) ---
# Number of landmarks; every row is one if there are at most LANDMARK_REACH times as many rows. study_kernel.
N_LANDMARKS = 2000
LANDMARK_REACH = 1.5
# Nearest flats that describe a row, and how many if every row is a landmark. study_kernel.
N_NEAREST = 5
N_NEAREST_ALL = 8

# --- Other landmarks: confidence and votes (confidence.py, consensus.py) ---
# Further landmark sets if the first is unsure; their share of the landmarks if every row is one. choosing.
UNSURE_DRAWS = 4
FEWER_LANDMARKS = 0.6
# How often landmarks are split in halves, and the agreement that needs no second split. choosing.
MAX_SPLITS = 2
SURE_AT_ONCE = 0.85
# Rows and starts with which each half is clustered. No kept study.
OPINION_ROWS = 5000
OPINION_STARTS = 2
# Below this agreement labels depend more on the landmarks than on the rows, and a warning says so. choosing.
COIN_TOSS = 0.5
# Weight of agreement against separation when clusterings are ranked. choosing.
AGREEMENT_WEIGHT = 2.0

# --- Flat, blobs or bent (structure.py) ---
# Clusters are flat if K flats reach this share of the shortening of the description by any number of flats.
# study_evidence.
FLAT_SHARE = 0.75
# Principal columns in which rows are described, and the least number of rows per column. Further columns add noise.
# study_evidence.
CODE_COLUMNS = 20
ROWS_PER_COLUMN = 10
# Up to this many columns flats may have as many directions as they like: clusters are ellipsoids. study_evidence.
FEW_COLUMNS = 5
# Limits of time: rows of the description; further flats that are tried; largest number of clusters for that; steps of
# K-flats from local flats.
FLAT_ROWS = 2000
MORE_FLATS = 6
MANY_FLATS = 15
KFLATS_STEPS = 30

# --- Number of clusters (flat_count.py, graph_count.py) ---
# Rows of the search. benchmarks/cluster_count.py.
SEARCH_ROWS = 2000
# Dimensions and starts of the local flats at which the search begins. benchmarks/cluster_count.py.
START_DIMS = (1, 4)
COUNT_STARTS = 2
# Numbers whose relative modularity is this near to the largest are ties; the largest wins. choosing.
COUNT_TIE = 0.01
# Settings whose partitions are compared to report agreement. Reported only.
N_COMPARED = 4

# --- Evidence for the verdict (comparison.py) ---
# Rows, at least this many for each cluster; fewest and most principal columns; neighbours; starts. Limits of time.
VERDICT_ROWS = 1000
VERDICT_ROWS_PER_CLUSTER = 50
VERDICT_COLUMNS = (20, 80)
VERDICT_NEIGHBORS = 10
VERDICT_STARTS = 5

# --- Verdict (verdict.py), all from benchmarks/study_verdict.py ---
# Nats a row by which the gain over one cluster must exceed that of shuffled columns, or the share of shuffled crossings
# below which there are clusters.
CLEAR_GAIN = 0.3
FEW_CROSSINGS = 0.5
# Agreement with another method that confirms clusters.
CONFIRMED = 0.8
# Nats a row that a split may save and that other clusters must cost more; nats a row that a join must cost.
MAX_SPLIT = 0.6
MIN_RIVAL = 0.3
MIN_JOIN = 0.3
# Gain of modularity that shows that another number of clusters is better.
COUNT_GAIN = 0.01
# A column, or two leading components of many columns, that dominate distances; agreement below which scaling matters.
TOP_COLUMN = 0.5
LEADING_SHARE = 0.6
LEADING_COLUMNS = 100
SCALE_AGREEMENT = 0.8
# Agreement of landmarks and seeds that bent clusters need, because no description confirms them.
STABLE = 0.9
# Rows of a cluster below which nothing is said about it. No study needed.
SMALL_CLUSTER = 5
