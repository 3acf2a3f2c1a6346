"""One HTML page that explains a clustering: `describe(model, X).save("report.html")`."""

from subspaces.show.report._describe import describe
from subspaces.show.report._report import Report
from subspaces.show.report._run import Run

__all__ = ["Report", "Run", "describe"]
