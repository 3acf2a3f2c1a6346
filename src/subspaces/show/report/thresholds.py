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
# Text beside the smallest angle, in degrees: below it, the directions of two clusters are almost shared.
SMALL_ANGLE = 10.0
# Landmarks: one with a smaller share of its weight in a single cluster counts as shared between clusters.
PURE_LANDMARK = 0.8
# Landmarks: rows with a smaller effective number of landmarks count as described by few.
FEW_LANDMARKS = 2.0
