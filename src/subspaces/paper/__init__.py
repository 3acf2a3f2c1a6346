"""The experiments and the theory of the paper."""
