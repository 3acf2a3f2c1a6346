"""The tables and figures of the paper beside those of this package: `subspaces reproduce`."""
