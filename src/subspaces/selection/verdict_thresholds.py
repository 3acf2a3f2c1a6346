"""Numbers that change the words of a verdict, never labels. All from benchmarks/study_verdict.py unless noted."""

# Below this agreement of landmarks a fit warns: labels depend more on the landmarks than on the rows. choosing.
COIN_TOSS = 0.5
# Clusterings with a larger adjusted Rand index are the same.
SAME_AGREEMENT = 0.9
# Nats a row by which the gain over one cluster must exceed that of shuffled columns, or the share of shuffled crossings
# below which there are clusters.
CLEAR_GAIN = 0.3
FEW_CROSSINGS = 0.25
# Agreement with another method that confirms clusters.
CONFIRMED = 0.8
# Nats a row that a split may save, and that a join must cost.
MAX_SPLIT = 0.6
MIN_JOIN = 0.6
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
