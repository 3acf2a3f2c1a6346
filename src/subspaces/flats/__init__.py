"""Affine and linear subspaces: fitting them, distances to them, describing rows by them."""
