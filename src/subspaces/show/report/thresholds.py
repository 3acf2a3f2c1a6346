"""The numbers that decide the facts that a report points out; those of the verdict are in `selection/thresholds.py`.

They change words on the page, never labels. All of them are conventions of the page, fixed by hand; the two limits of
agreement are those that `FLS` uses itself.
"""

from __future__ import annotations

from subspaces.selection.thresholds import SURE_AGREEMENT
from subspaces.selection.verdict_thresholds import COIN_TOSS

# Agreement of landmarks or of refits (adjusted Rand index) from which on it is good; below the second, poor.
GOOD_AGREEMENT = SURE_AGREEMENT
POOR_AGREEMENT = COIN_TOSS
# Rows with a lower confidence count as doubtful.
DOUBTFUL_CONFIDENCE = 0.5
# Up to the first share of doubtful or misplaced rows is good, above the second is poor. The second is also the
# share of outliers above which the page warns.
FEW_ROWS, MANY_ROWS = 0.05, 0.25
# Landmarks: one with a smaller share of its weight in a single cluster counts as shared between clusters.
PURE_LANDMARK = 0.8
# Landmarks: rows with a smaller effective number of landmarks count as described by few.
FEW_LANDMARKS = 2.0
# Profile: a mean differs from that of all rows by this many of their standard deviations, clearly or by far.
SHIFT, FAR_SHIFT = 0.5, 1.5
# Profile: standard deviation in a cluster, divided by that of all rows, for a steady and for a varied column.
STEADY_RATIO, VARIED_RATIO = 0.5, 1.5
# Profile: two columns are related in a cluster from this correlation on, if it exceeds that of all rows by the second
# number and chance by the third, in standard errors of Fisher's transform.
STRONG_RELATION, RELATION_GAIN, CLEAR_RELATION = 0.8, 0.3, 5.0
