"""Numbers of this room that change results: what each decides, and which kept study set it."""

from __future__ import annotations

# If all landmarks share one sigma, sigma="auto" is the typical distance of a row to its landmark of this rank, in a
# sample of this many rows. No kept study.
SIGMA_RANK = 5
SIGMA_ROWS = 1000
# Sigma of FLS.paper, whose rows have unit norm. study_sigma.
PAPER_SIGMA = 0.15
# With sigma="auto" for kernels of distances, sigma is this factor times the typical distance to the neighbour of this
# rank, in a sample of this many rows. No kept study.
KERNEL_NEIGHBOR = 7
KERNEL_FACTOR = 2.0
KERNEL_ROWS = 1000
# trim=True drops flats whose residual is more than this many (robust) standard deviations above the median. No kept
# study.
FLAT_DEVIATIONS = 5.0
