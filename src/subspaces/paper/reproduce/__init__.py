"""Run the experiments of the paper and compare with its tables: `subspaces reproduce`."""
