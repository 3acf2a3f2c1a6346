"""What a reader must know of the numbers, in the words of both pages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

TITLE = "The paper's tables beside ours"
READ = (
    "Each cell is the mean accuracy over the draws and, in brackets, the mean seconds of a fit; below it the lowest "
    "and highest accuracy, then what the paper prints for the method. Outliers do not count in the accuracy. The best "
    "accuracy and the least time of a column are bold."
)
NOTES = (
    "FLS, LBF, SSC and SSSC are untuned: they run with their defaults, see no label and are told nothing but the "
    "number of clusters. The defaults are one setting for all data, but they were settled while looking at these data "
    "sets: other data are the real test.",
    "“Told d” marks methods that are also given d, the dimension of the subspaces, for each data set, as the paper "
    "gave it to its own: 3 for MNIST, as it says, and where it is silent 3 for faces and penDigits, and 2, 5, 6 and 5, "
    "the middle dimension, for the synthetic models. They are compared with each other only: what is bold is decided "
    "apart.",
    "FLS.paper is the algorithm box of the paper, with affine flats; the text before the box speaks of linear ones, "
    "and “linear flats” is that reading. The paper does not say how it found sigma; both take the typical distance "
    "of a row to its fifth nearest flat.",
    "LBF runs twice: with defaults, where it chooses the dimension and polishes its flats, and as published, told "
    "d and not polished.",
    "Data are the paper's: 250 points a subspace, noise 0.05, ten draws; MNIST training images on 80 principal "
    "components; eight random persons of Extended Yale B on 80 components, the leading two dropped but for SSC and "
    "SSSC; the 7,494 training rows of penDigits. The paper does not say how many runs its means over real data have; "
    "draws of MNIST and penDigits differ in the seed of the method alone.",
    "Seconds are those of one core: draws run side by side in processes of one BLAS thread each, and loading and "
    "projecting the data are not counted. Cells that name a device were computed there, with one core beside it, and "
    "do not compete for the least time. The paper's seconds are of another machine, in 2015.",
    "Beyond the paper, k-means and spectral clustering (nearest neighbours) have scikit-learn's defaults, ten starts "
    "for k-means, and Nystroem takes 500 components of rows scaled to variance one.",
)
PICTURES = {
    "tradeoff": (
        "Accuracy against time",
        "More landmarks (FLS), candidate flats (LBF) or sampled rows (SSSC), the least and most written beside: mean "
        "and range of the draws. Solid lines of FLS and LBF have the time in them that choosing the dimension takes; "
        "dotted lines are told d.",
    ),
    "robustness": (
        "Robustness",
        "Three subspaces of dimension 3, 4, 5 in R²⁰, noise 0.05, 5 % outliers, one thing changed at a time; angles: "
        "three of dimension 4; mixed dimensions: around 5. Mean and range of the draws, all methods untuned.",
    ),
    "theory": ("Theory", "The convergence that the paper proves, measured."),
}


def environments(records: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """What the results were measured with, one line for each kind of machine and versions."""
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
