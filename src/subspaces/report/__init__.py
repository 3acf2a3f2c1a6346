"""One HTML page that explains a clustering: `describe(model, X).save("report.html")`."""

from subspaces.report._describe import describe
from subspaces.report._report import Report
from subspaces.report._run import Run

__all__ = ["Report", "Run", "describe"]
