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
    "“The paper's reading” is FLS.paper, the algorithm box, with affine flats, 1000 landmarks from k-means and sigma "
    "0.15 for all data. The text before the box describes linear flats: “linear flats” follows the text. The paper "
    "states neither sigma nor the number of landmarks. It projects images by “PCA”: these rows are projected by a "
    "singular value decomposition of the images, without subtracting their mean. If it is subtracted, or if sigma is "
    "the typical distance of a row to its fifth nearest flat, MNIST 4, 9 is clustered by the slant of the pen.",
    "The paper's reading is at most 0.02 below the printed means, except for [4, 9], where one draw of ten "
    "fails, and for (4, 5, 6) in R¹⁰ with 30 % outliers, where affine flats fail in some draws and linear ones do not. "
    "In a failed draw of MNIST an eigenvector separates a small group of rows, which takes a label of its own: K "
    "eigenvectors instead of K - 1 find the digits. Where the reading exceeds the paper by much, on [2, 5, 7, 8, 9], "
    "[1–9] and faces, a larger sigma gives about the printed means: see the curves. On penDigits it is above the "
    "printed mean for every sigma.",
    "LBF, SSC and SSSC run twice: with default parameters, and as published: LBF given d and without polishing, SSC "
    "and SSSC with the parameters that their authors use for faces. On more than 8,000 rows SSC is run once, because "
    "draws differ in the seed of k-means alone; SSC as published is not run on more than 20,000 rows.",
    "Motions are the sequences of Hopkins155 that are at hand, one draw each. Accuracy is one minus the error that is "
    "usual there; the published one is the mean over all 155 sequences. Ours have fewer errors with three motions, of "
    "which 10 of 35 sequences are at hand. The published results of OMP and of the elastic net on digits are for "
    "features of scattering networks, which are not at hand.",
    "Pixels are those of the publication of SSC: all choices of eight persons among persons 1 to 10, 11 to 20, 21 to "
    "30 and 31 to 38, images of 48 x 42 pixels without projection or scaling, and gross errors of single pixels. For "
    "faces, the paper gives SSC 80 principal components instead. A gross error of a pixel is spread over all "
    "components, so that the same parameters are far less accurate there than on pixels. Codes without gross errors, "
    "images that are not centred, unit rows, and leaving out two components were tried as well: none of them reaches "
    "0.87 with all edges and K eigenvectors. The defaults do, with the largest entries and a chosen number of "
    "eigenvectors.",
    "Data are those of the paper: 250 points per subspace, noise 0.05, ten draws; MNIST training images projected on "
    "80 principal components; eight random persons of Extended Yale B projected on 80 components, without the leading "
    "two except for SSC and SSSC; the 7,494 training rows of penDigits. The paper does not state the number of runs on "
    "real data. Draws of MNIST and penDigits differ only in the seed of the method.",
    "Seconds are those of one core: draws run in processes with one BLAS thread each, and the time of other processes "
    "is not counted. Loading and projecting the data are not included. Cells that name a device were computed on it, "
    "with one core, and are not compared by time. The published seconds were measured on another machine in 2015.",
    "Beyond the paper, k-means and spectral clustering (nearest neighbours) use the defaults of scikit-learn, except "
    "for ten starts of k-means; Nystroem uses 500 components of rows scaled to unit variance.",
)
PICTURES = {
    "reading": (
        "What the gaps of the paper do",
        "The paper's reading with another sigma or number of landmarks. Mean and range over the draws; dotted lines "
        "are the published accuracies of FLS.",
    ),
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
