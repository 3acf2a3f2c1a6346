"""The estimators, one class a file, and what they share.

- `fls`: FLS, with the algorithm box (`cluster`) below the class
- `landmark`, `nystrom`, `fourier`, `kernel`: spectral clustering by other feature maps; shared steps in `_spectral`
- `kasp`: spectral clustering of centroids
- `lbf`, `kflats`: K whole flats; shared steps in `_flats`; `slbf`: spectral clustering by the flats of all rows
- `ssc`, `sssc`: self-expression; shared steps in `_self_expressive`
- `_base`: predict, transform, save, and the one place that assigns fitted attributes
- `_models`: the frozen objects that label new rows
- `access`: the feature map of a fitted estimator, for reports and theory
"""
