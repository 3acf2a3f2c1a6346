"""Every number that decides about labels in this room: what it decides, and the kept study that set it.

Studies are scripts in benchmarks/ whose results are kept in benchmarks/results/; "choosing" is benchmarks/choosing.py,
"defaults" is benchmarks/defaults.py.
`limits` has sizes of searches, `verdict_thresholds` numbers that change only words.
"""

# One candidate is clearly better than another if the mean of paired differences exceeds this many standard errors.
# study_partition, study_kinds.
N_ERRORS = 2.0

# --- The graph (choosing.py, search.py) ---
# Up to this many columns the graph is one of points, and whole flats may have as many directions as they like: flats
# fill the space, and clusters are ellipsoids. study_kinds, study_structure.
FEW_COLUMNS = 5
# From this many columns on, whitening is tried, to these powers in turn: leading components may be common to all
# clusters. Whole flats are described in as many principal columns; further ones add noise. study_kinds,
# study_structure.
MANY_COLUMNS = 20
WHITEN = (1.0, 0.5)
# Columns are standardised only if one of them has more than this share of the variance. study_units.
TOP_COLUMN = 0.9
# Dimensions of landmark flats that are tried, each with a tight and a wide neighbourhood of a d + b rows.
# study_landmarks.
DIMS = (2, 3, 4, 6, 9)
NEIGHBORHOODS = ((2, 2), (6, 4))
# Number of landmarks; all rows if the data have fewer. study_landmarks.
N_LANDMARKS = 3000
# Nearest flats that describe a row, and how many if every row is a landmark. study_landmarks.
N_NEAREST = 5
N_NEAREST_ALL = 8

# --- The partition (partition.py, joint.py) ---
# How much better separated a partition must be than that of the largest modularity if there is one set of landmarks.
# defaults, study_kinds.
SEPARATION_MARGIN = 0.2
# Clusterings with a larger adjusted Rand index agree; with a smaller one they need other landmarks. defaults.
SURE_AGREEMENT = 0.8
# Rows that a cluster and a column of a description need at least. study_structure.
LEAST_ROWS = 10

# --- Flat, blobs or bent (coding.py, structure.py) ---
# Clusters are flat if K flats reach this share of the shortening of the description by any number of flats.
# study_structure.
FLAT_SHARE = 0.75

# --- Number of clusters (graph_count.py) ---
# Numbers whose relative modularity is this near to the largest are ties; the largest wins. choosing.
COUNT_TIE = 0.01
