"""Texts of the Markdown and the HTML page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

TITLE = "Comparison with the paper"
READ = (
    "Each cell shows the mean accuracy over the draws and, in brackets, the mean seconds of a fit; below, the lowest "
    "and highest accuracy, then the published numbers of the method. Outliers are left out of the accuracy. The best "
    "accuracy and the shortest time of each column are bold."
)
NOTES = (
    "FLS, LBF, SSC and SSSC are not tuned: they run with default parameters and are given only the number of clusters. "
    "The defaults are the same for all data, but they were developed on these data sets, so other data are a fairer "
    "test.",
    "“Given d” marks methods that are also given d, the dimension of the subspaces, as in the paper: 3 for MNIST, as "
    "stated there; 3 for faces and penDigits, and 2, 5, 6 and 5 (the middle dimension) for the synthetic models, for "
    "which the paper does not state it. They are compared with each other only, so bold numbers are chosen separately.",
    "FLS.paper is the algorithm box of the paper, with affine flats. The text before the box describes linear flats: "
    "“linear flats” follows the text. The paper does not state how sigma was chosen; both variants use the typical "
    "distance of a row to its fifth nearest flat.",
    "LBF runs twice: with default parameters, so that it chooses the dimension and polishes its flats, and as "
    "published, given d and without polishing.",
    "Data are those of the paper: 250 points per subspace, noise 0.05, ten draws; MNIST training images projected on "
    "80 principal components; eight random persons of Extended Yale B projected on 80 components, without the leading "
    "two except for SSC and SSSC; the 7,494 training rows of penDigits. The paper does not state the number of runs on "
    "real data. Draws of MNIST and penDigits differ only in the seed of the method.",
    "Seconds are measured on one core: draws run in parallel processes with one BLAS thread each. Loading and "
    "projecting the data are not included. Cells that name a device were computed on it, with one core, and are not "
    "compared by time. The published seconds were measured on another machine in 2015.",
    "Beyond the paper, k-means and spectral clustering (nearest neighbours) use the defaults of scikit-learn, except "
    "for ten starts of k-means; Nystroem uses 500 components of rows scaled to unit variance.",
)
PICTURES = {
    "tradeoff": (
        "Accuracy against time",
        "Increasing numbers of landmarks (FLS), candidate flats (LBF) or sampled rows (SSSC); the smallest and largest "
        "are written beside the line. Mean and range over the draws. Solid lines of FLS and LBF include the time to "
        "choose the dimension; dotted lines are given d.",
    ),
    "robustness": (
        "Robustness",
        "Three subspaces of dimension 3, 4, 5 in R²⁰, noise 0.05, 5 % outliers, with one property changed at a time. "
        "Angles: three subspaces of dimension 4. Mixed dimensions: around 5. Mean and range over the draws; default "
        "parameters.",
    ),
    "theory": ("Theory", "Measured convergence rates of the theorems of the paper."),
}


def environments(records: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Versions and hardware of the results, one line per combination."""
    lines: dict[str, list[str]] = {}
    for name, record in records.items():
        for each in record["environments"]:
            machine, versions = each["machine"], each["versions"]
            several = machine["processes"] > 1
            line = (
                f"{machine['processor']}, {machine['cores']} cores, {machine['processes']} "
                f"{'processes' if several else 'process'} of {machine['blas_threads_each']} BLAS thread"
                f"{' each' if several else ''}; "
                + ", ".join(f"{package} {version}" for package, version in versions.items())
            )
            lines.setdefault(line, []).append(name)
    return [f"{', '.join(names)}: {line}" for line, names in lines.items()]
