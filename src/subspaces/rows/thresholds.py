"""Every number of this room that changes results: what it decides, and the kept study that set it."""

# --- Preparation inside an estimator (preparation.py) ---
# Rows of more columns are projected on their leading principal directions. No kept study.
MAX_COLUMNS = 80
# For `SSC`, a mean farther from the origin than this many standard errors may be an offset of the
# measurement. No kept study.
FAR_OFFSET = 2.5
# Whitening stretches directions as if their standard deviation were at least this share of the largest. No kept study.
LEAST_SPREAD = 0.001
# The step to which values are rounded is this quantile of the gaps between neighbouring values of a column; at most
# this many rows and columns are looked at. Whole numbers must not be described more finely. benchmarks/study_grain.py.
GRAIN_QUANTILE = 0.1
GRAIN_SHAPE = (1000, 200)

# --- Sample (feed.py) ---
# All decisions are made on at most this many rows; the others take part in sums and are labelled. No kept study.
FIT_ROWS = 100_000
# A sample of rows that are not in memory takes at most this share of the memory limit, because rows are copied,
# projected and scaled; but it has at least LEAST_ROWS rows, unless these are so wide that they take more than
# WIDE_SHARE of it, or WHOLE_SHARE if the estimator copies rows of all columns. If that leaves fewer than FEWEST_ROWS,
# the fit is refused. No kept study.
SAMPLE_SHARE = 8
LEAST_ROWS = 1000
WIDE_SHARE = 2
WHOLE_SHARE = 8
FEWEST_ROWS = 100
# Products of columns are summed if they take at most this share of the memory limit, or of the default one if that is
# smaller, which are about 3,000 columns; otherwise principal directions are those of the sample. No kept study.
PRODUCT_SHARE = 4
# If weights of rows are not whole numbers, decisions are made on this many times as many rows as have a weight. No kept
# study.
COPIES = 4
