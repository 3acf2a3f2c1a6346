"""Numbers that change the words of a verdict, never labels. All from benchmarks/study_verdict.py unless noted."""

# Below this agreement of landmarks a fit warns: labels depend more on the landmarks than on the rows. choosing.
COIN_TOSS = 0.5
# A difference of description lengths is clear if it exceeds this many standard errors. These are more than the two by
# which candidates are chosen, because the largest of several differences is judged.
CLEAR_ERRORS = 3.0
# Clusterings with a larger adjusted Rand index are the same. For graphs of nearest neighbours and of other flats it is
# the mean with the agreement of other landmarks.
SAME_AGREEMENT = 0.9
# Clusters stand out if they have at most this share of the crossings of shuffled columns, or if shuffled columns have
# at most this share of their gain.
SHUFFLED_SHARE = 0.5
# Share of neighbours in another cluster, relative to random clusters, up to which hardly an edge joins clusters.
NO_CROSSINGS = 0.01
# Gain of modularity that shows that another number of clusters is better.
COUNT_GAIN = 0.008
# A column, or two leading components of many columns, that dominate distances; agreement below which scaling matters.
TOP_COLUMN = 0.9
LEADING_SHARE = 0.6
LEADING_COLUMNS = 100
SCALE_AGREEMENT = 0.8
# If at most this share of the rows are distinct, only distinct rows are evidence. No kept study.
DISTINCT_SHARE = 0.5
# Rows of a cluster below which nothing is said about it. No study needed.
SMALL_CLUSTER = 5
