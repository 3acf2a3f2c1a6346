"""HTML report on a clustering: `describe(model, X).save("report.html")`."""

from subspaces.show.report.report import Report
from subspaces.show.report.sections import describe
from subspaces.show.report.subject import Run

__all__ = ["Report", "Run", "describe"]
