"""Sizes of searches: samples, starts and rounds. Larger ones take longer and seldom change labels."""

# --- Search for a graph (search.py) ---
# The pilot that decides the kind: rows, landmarks, dimensions. The sample that decides the rest: rows, landmarks.
PILOT_ROWS = 2500
PILOT_LANDMARKS = 1000
PILOT_DIMS = (2, 4)
SAMPLE_ROWS = 8000
SAMPLE_LANDMARKS = 700
# Landmarks that describe a row of a sample, and starts of k-means for each trial.
SAMPLE_NEAREST = 8
SEARCH_STARTS = 2
# Rows that share landmarks are not independent: for standard errors they form about this many groups.
# benchmarks/study_kinds.py compares other numbers.
ERROR_GROUPS = 100

# --- Partition (partition.py, clustering.py) ---
# Candidates of each origin that are refined on all rows, and rounds of that.
N_FINALISTS = 2
FINAL_ROUNDS = 20
# Starts of k-means per number of eigenvectors, without and with refinement afterwards.
N_STARTS = 10
N_STARTS_EACH = 2
# Eigenvalues this near to one count as one: the graph is in separate pieces. Rounding.
EQUAL = 1e-5

# --- Other landmarks (consensus.py, joint.py, confidence.py) ---
# Further landmark sets if the first is unsure; how often parts are made in each way if sets are joined; rows and starts
# for each half of the landmarks.
UNSURE_DRAWS = 4
JOINT_DRAWS = 6
OPINION_ROWS = 5000
OPINION_STARTS = 2

# --- Whole flats and their number (flat_search.py, flat_count.py, structure.py) ---
# Rows that are described; further flats that are tried, and the largest number of clusters for which they are.
FLAT_ROWS = 2000
MORE_FLATS = 6
MANY_FLATS = 15
# Dimensions, candidates per flat and starts of the local flats at which searches begin. From there, steps of K-flats,
# and the share of the rows of each flat that another search begins with. Flats that are split, rounds of splitting and
# joining, and further starts if no flat pays for itself.
START_DIMS = (1, 4)
START_CANDIDATES = 30
COUNT_STARTS = 2
KFLATS_STEPS = 30
NEAREST_SHARE = 0.3
SPLIT_FLATS = 2
SPLIT_ROUNDS = 3
MORE_STARTS = 10

# For a graph that serves only plots and `transform`: most landmarks, and rows for each of them.
DRAWN_LANDMARKS = 1000
DRAWN_ROWS_PER_LANDMARK = 5

# --- Number of clusters of a graph (graph_count.py) ---
# Settings whose partitions are compared to report agreement.
N_COMPARED = 4

# --- Evidence for the verdict (evidence.py) ---
# Rows, at least this many for each cluster; columns, of wider rows evenly spaced ones; fewest and most principal
# columns; neighbours; starts; draws of shuffled columns, of which neighbours are compared.
VERDICT_ROWS = 1000
VERDICT_ROWS_PER_CLUSTER = 50
VERDICT_RAW_COLUMNS = 5000
VERDICT_COLUMNS = (20, 80)
VERDICT_NEIGHBORS = 10
VERDICT_STARTS = 5
VERDICT_SHUFFLES = 3
