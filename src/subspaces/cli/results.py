"""Labels in files, and the figures of a clustering as text."""

from __future__ import annotations

import csv
import io
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from subspaces._core.arrays import to_host
from subspaces._core.blocks import row_blocks
from subspaces._core.errors import InputError, file_errors
from subspaces._core.files import new_file
from subspaces._core.plain import plain
from subspaces.cli.output import table as text_table
from subspaces.cli.targets import STDOUT
from subspaces.rows import Table
from subspaces.rows.formats.keyed import check_safe
from subspaces.rows.formats.npy import array_in
from subspaces.show.models import cluster_dims

# Above this number of rows only labels.npy is written, not labels.csv.
MOST_CSV_ROWS = 10_000_000
CSV_BLOCK = 100_000
# Letters of the words that describe a cluster in a table.
PROFILE_WIDTH = 90


def check_count(n_rows: int | None, out: str | Path) -> None:
    """Refuse more rows than a CSV file should have; their number may not be known yet."""
    is_csv = str(out) == STDOUT or Path(out).suffix.lower() == ".csv"
    if n_rows is not None and n_rows > MOST_CSV_ROWS and is_csv:
        raise too_many(out)


def too_many(out: str | Path) -> InputError:
    """The error for more rows than a CSV file should have."""
    return InputError(f"--out {out}: there are more than {MOST_CSV_ROWS:,} rows, too many for CSV: name labels.npy")


def write_labels(path: Path, labels: Any) -> None:
    """Labels (n,) to an .npy file, in blocks."""
    from numpy.lib.format import dtype_to_descr, write_array_header_1_0

    values = labels if isinstance(labels, np.memmap) else to_host(labels)
    with new_file(path) as stream:
        described = {"descr": dtype_to_descr(values.dtype), "fortran_order": False, "shape": (len(values),)}
        write_array_header_1_0(stream, described)
        for block in row_blocks(len(values), values.itemsize):
            stream.write(np.ascontiguousarray(values[block]).tobytes())


def read_labels(path: Path, n_clusters: int) -> NDArray[Any]:
    """Labels (n,) of a run, mapped from an .npy file; refuses numbers that are not clusters of its model."""
    stored = array_in(path)
    check_safe(stored.refusal, str(path))
    if len(stored.shape) != 1 or not stored.kind.startswith(("int", "uint")):
        raise InputError(f"{path} holds {stored.kind} values of shape {stored.shape}, which are not labels: fit again")
    try:
        with file_errors():
            labels: NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, EOFError) as error:
        raise InputError(f"{path} is damaged ({error}): fit again") from None
    for block in row_blocks(len(labels), labels.itemsize):
        if not -1 <= labels[block].min() <= labels[block].max() < n_clusters:
            raise InputError(f"{path} has labels outside of the {n_clusters} clusters of the model: fit again")
    return labels


def write_csv(path: Path, columns: Mapping[str, Sequence[Any] | NDArray[Any]]) -> None:
    """Columns of equal length to a CSV file."""
    with new_file(path) as stream:
        stream_csv(stream, columns)


def stream_csv(stream: IO[bytes], columns: Mapping[str, Sequence[Any] | NDArray[Any]]) -> None:
    """Columns of equal length as CSV, block by block."""
    stream.write(_csv_lines([list(columns)]))
    count = len(next(iter(columns.values())))
    for start in range(0, count, CSV_BLOCK):
        cells = [_cells(column[start : start + CSV_BLOCK]) for column in columns.values()]
        stream.write(_csv_lines(zip(*cells, strict=True)))


def label_columns(
    labels: NDArray[Any],
    table: Table,
    confidence: NDArray[Any] | None = None,
    outlier_scores: NDArray[Any] | None = None,
) -> dict[str, Sequence[Any] | NDArray[Any]]:
    """Columns of labels.csv: number or name of each row, its cluster, its confidence and its outlier score."""
    columns: dict[str, Sequence[Any] | NDArray[Any]] = {}
    if table.row_names is not None:
        columns["name"] = table.row_names
    else:
        columns["row"] = table.kept if table.kept is not None else range(len(labels))
    columns["label"] = labels
    for name, values in {"confidence": confidence, "outlier_score": outlier_scores}.items():
        if values is not None and len(values) == len(labels):
            columns[name] = np.round(to_host(values).astype(np.float64), 4)
    return columns


def cluster_sizes(labels: NDArray[Any], n_clusters: int) -> tuple[list[int], int]:
    """Number of rows of each cluster, and of outliers."""
    counts = np.zeros(n_clusters + 1, np.int64)
    for block in row_blocks(len(labels), 8):
        counts += np.bincount(np.asarray(labels[block], np.int64) + 1, minlength=n_clusters + 1)
    return counts[1:].tolist(), int(counts[0])


def facts(model: Any, labels: NDArray[Any]) -> dict[str, Any]:
    """What a fit found, in values that JSON can hold."""
    n_clusters = int(getattr(model, "n_clusters_", None) or model.n_clusters)
    sizes, outliers = cluster_sizes(labels, n_clusters)
    dims = cluster_dims(model)
    choice, verdict = getattr(model, "choice_", None), getattr(model, "verdict_", None)
    unusual = getattr(model, "outlier_scores_", None)
    return {
        "n_clusters": n_clusters,
        "sizes": sizes,
        "outliers": outliers,
        "dimensions": None if dims is None else plain(dims),
        "columns": int(model.n_features_in_),
        "agreement": plain(getattr(model, "agreement_", None)),
        # About 1 for most rows: the quartiles, and the largest.
        "outlier_scores": None if unusual is None else plain(np.percentile(to_host(unusual), (25, 50, 75, 100))),
        "choice": None if choice is None else choice.to_dict(),
        "verdict": None if verdict is None else verdict.to_dict(),
        # What makes each cluster different, in the words of the report.
        "profiles": None,
    }


def scores(truth: NDArray[Any], labels: Any) -> dict[str, float]:
    """Scores of labels against the true classes."""
    from subspaces.metrics import adjusted_rand, clustering_accuracy, normalized_mutual_info

    found = np.asarray(labels)
    return {
        "accuracy": float(clustering_accuracy(truth, found)),
        "adjusted_rand": float(adjusted_rand(truth, found)),
        "normalized_mutual_info": float(normalized_mutual_info(truth, found)),
    }


def scores_text(found: Mapping[str, float]) -> str:
    """The scores in one line."""
    return (
        f"against the truth: accuracy {found['accuracy']:.3f}, adjusted Rand index {found['adjusted_rand']:.3f}, "
        f"normalised mutual information {found['normalized_mutual_info']:.3f}"
    )


def clusters_text(found: Mapping[str, Any]) -> str:
    """Sizes and dimensions of clusters, as a table, and what makes each different if the report has it."""
    total = max(1, sum(found["sizes"]) + found["outliers"])
    dims = found["dimensions"]
    heads = ["cluster", "rows", "share"] + (["dimension"] if dims else [])
    rows = [[str(k), f"{size:,}", f"{size / total:.1%}"] for k, size in enumerate(found["sizes"])]
    if found["outliers"]:
        rows.append(["none", f"{found['outliers']:,}", f"{found['outliers'] / total:.1%}"])
    if dims:
        shown = [*map(str, dims), "-"]
        rows = [[*row, dim] for row, dim in zip(rows, shown, strict=False)]
    lines = text_table(heads, rows).split("\n")
    words = ["what makes it different", *found["profiles"]] if found.get("profiles") else []
    shown = [f"  {textwrap.shorten(each, PROFILE_WIDTH, placeholder=' ...')}" if each else "" for each in words]
    return "\n".join(line + more for line, more in zip_longest(lines, shown, fillvalue=""))


def _cells(part: Any) -> list[Any]:
    return part.tolist() if isinstance(part, np.ndarray) else list(part)


def _csv_lines(rows: Iterator[Any] | list[Any] | zip[Any]) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    # Names of files may contain bytes that are not text.
    return text.getvalue().encode("utf-8", "surrogateescape")
