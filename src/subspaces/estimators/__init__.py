"""The estimators, one class a file."""
