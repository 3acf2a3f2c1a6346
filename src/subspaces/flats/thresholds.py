"""Numbers of this room that change results: what each decides, and which kept study set it.

`benchmarks/study_flats.py` measures LBF and K-flats, `benchmarks/cluster_count.py` the number of clusters and their
dimensions, `benchmarks/choosing.py` (docs/studies.md) outliers and flat clusters of FLS. They measure these numbers
together; "no kept study" marks those that were never varied on their own in a script that is kept.
"""

from __future__ import annotations

# Candidate flats, `candidates`.
# Candidate flats per cluster. As published (Zhang, Szlam, Wang and Lerman, 2012).
CANDIDATES_PER_CLUSTER = 70
# Rows of the neighbourhood of a flat at which a search begins, for each row that the flat passes through. No kept
# study.
SMALL_NEIGHBORHOOD = 2
# Neighbourhoods are searched among at most this many rows; with more, neighbourhoods only get smaller. No kept study.
MAX_POOL_ROWS = 50_000
# Neighbourhoods of rows of more columns stop to grow after this work in all, or for each of them if that is more. It is
# counted in entries of Gram matrices times rows and columns: limits time where wide rows are noise. No kept study.
WIDE_COLUMNS = 128
GROWTH_WORK = 1_500_000_000
GROWTH_WORK_EACH = 5_000_000
# Size of the table of distances between rows and candidates, in entries: limits memory and time. No kept study.
TABLE_ENTRIES = 2**23
# Least number of rows in that table for each flat to choose. No kept study.
ROWS_PER_FLAT = 100
# Rounds over all slots of the greedy choice; it stops far earlier when nothing changes. No kept study.
MAX_GREEDY_ROUNDS = 50

# K-flats, `kflats`.
# Stop if labels stay the same and the energy falls by a smaller share. No kept study.
ENERGY_TOLERANCE = 1e-5

# Affinities of rows with a flat at each, `affinity`.
# Least scale of a flat, as a share of the median scale, so that a flat that fits exactly has neighbours. No kept study.
LEAST_SCALE_SHARE = 0.1

# The dimension of flats by the level of noise, `dimension`. Together: benchmarks/study_flats.py.
# Largest dimension tried.
MAX_DIM = 12
# Up to this many columns clusters may be points, flats of dimension 0: lines and planes hardly differ there.
FEW_COLUMNS = 3
# Distances are capped at this many medians, because outliers would hide how well the other rows fit.
CAP_MEDIANS = 3.0
# Rows, starts and steps of the search: limits of time.
SEARCH_ROWS = 4000
SEARCH_STARTS = 3
SEARCH_STEPS = 30

# Description length, `description`. Together: benchmarks/cluster_count.py, and outliers in benchmarks/choosing.py.
# Rounds of assigning rows and refitting; more do not change accuracies. No kept study.
MAX_CODE_ROUNDS = 6
# Steps of the spatial median. No kept study.
MEDIAN_STEPS = 6
# Least noise, as a share of the size of the data. Real clusters are nearly flat: tracks of a moving body bend by the
# perspective of the camera, and columns may be constant in some rows. A finer precision would encode that and split
# clusters. benchmarks/study_structure.py.
RESOLUTION = 1e-2
# A direction belongs to a flat if it saves each row this many nats, which needs four or five times the variance of the
# noise. Otherwise a slowly decaying spectrum, as of curved clusters, would use nearly all columns. No kept study.
NATS_PER_DIRECTION = 1.0
# Flats of a larger share of the columns do not count as low-dimensional subspaces, in `cluster_dim` and in
# selection/coding.py. The latter: benchmarks/study_structure.py.
MAX_DIM_SHARE = 2 / 3
# Share of the rows of a Gaussian within its reach; rows within reach of a flat are not outliers. No kept study.
REACH = 0.999
# Squared distances to the background are capped at this many variances per column. No kept study.
BACKGROUND_CAP = 10.0

# Models of clusters, `cluster_model`.
# Clusters are modelled from at most this many rows: limits time. No kept study.
MODEL_ROWS = 5000

# Codes of rows by clusters, `score` of estimators.
# Rows that clusters are modelled from: limits time. No kept study.
SCORE_ROWS = 2000
# Fewer if they are so wide that they would take more bytes: limits memory. No kept study.
SCORE_BYTES = 128 * 2**20
# Rows are encoded in this many principal directions: with more, flats cost more than they save, and a grid search takes
# too few clusters. benchmarks/study_score.py.
SCORE_COLUMNS = 20
