"""`fit` and `predict` take the path of every format, and give the labels of the array."""

import h5py
import numpy as np
import pandas as pd
import pytest
import scipy.io
import zarr
from numpy.testing import assert_array_equal
from PIL import Image

from subspaces import FLS, KFlats, open_rows
from subspaces.datasets import make_subspaces

ROWS = make_subspaces((1, 2), 6, points_per_subspace=60, noise=0.01, random_state=0)[0]
FRAME = pd.DataFrame(ROWS, columns=[f"x{i}" for i in range(6)])


def write_hdf5(path):
    with h5py.File(path, "w") as file:
        file["rows"] = ROWS


WRITERS = {
    "rows.csv": lambda path: FRAME.to_csv(path, index=False),
    "rows.tsv": lambda path: FRAME.to_csv(path, index=False, sep="\t"),
    "rows.csv.gz": lambda path: FRAME.to_csv(path, index=False),
    "rows.parquet": FRAME.to_parquet,
    "rows.xlsx": lambda path: FRAME.to_excel(path, index=False),
    "rows.npy": lambda path: np.save(path, ROWS),
    "rows.npz": lambda path: np.savez(path, X=ROWS, y=np.zeros(len(ROWS))),
    "rows.mat": lambda path: scipy.io.savemat(path, {"X": ROWS}),
    "rows.h5": write_hdf5,
    "rows.zarr": lambda path: zarr.create_array(path, data=ROWS),
}


@pytest.mark.parametrize("name", WRITERS)
def test_every_format(name, tmp_path):
    WRITERS[name](tmp_path / name)
    expected = FLS(2, random_state=0).fit(ROWS)
    model = FLS(2, random_state=0).fit(str(tmp_path / name))
    assert_array_equal(model.labels_, expected.labels_)
    assert_array_equal(model.predict(tmp_path / name), expected.labels_)
    named = name.startswith(("rows.csv", "rows.tsv", "rows.parquet", "rows.xlsx"))
    assert getattr(model, "feature_names_in_", [None])[0] == ("x0" if named else None)


@pytest.mark.parametrize("index", [False, True])
def test_columns_without_names(tmp_path, index):
    """A dataframe without names is written with the numbers of its columns above them."""
    pd.DataFrame(ROWS).to_csv(tmp_path / "rows.csv", index=index)
    assert_array_equal(
        FLS(2, random_state=0).fit(tmp_path / "rows.csv").labels_, FLS(2, random_state=0).fit(ROWS).labels_
    )
    # Whole numbers below may be rows as well as these.
    np.savetxt(tmp_path / "whole.csv", np.vstack([np.arange(6), np.round(10 * ROWS)]), fmt="%d", delimiter=",")
    assert len(FLS(2, random_state=0).fit(tmp_path / "whole.csv").labels_) == len(ROWS) + 1


def test_images(tmp_path):
    pixels = np.random.default_rng(0).integers(0, 256, (20, 4, 5)).astype(np.uint8)
    for number, image in enumerate(pixels):
        Image.fromarray(image).save(tmp_path / f"{number}.png")
    expected = KFlats(2, subspace_dim=1, random_state=0).fit(
        pixels.reshape(20, -1).astype(np.float32) / np.float32(255)
    )
    for path in (tmp_path, tmp_path / "*.png"):
        assert_array_equal(KFlats(2, subspace_dim=1, random_state=0).fit(str(path)).labels_, expected.labels_)


def test_text_that_does_not_fit_into_memory_is_streamed(tmp_path):
    rows = np.random.default_rng(0).integers(-99, 99, (50_000, 50)).astype(np.float64)
    pd.DataFrame(rows.astype(int)).to_csv(tmp_path / "rows.csv", index=False, header=False)
    source = open_rows(tmp_path / "rows.csv", memory_limit="32MB")
    sizes = [len(block) for block in source.blocks()]
    assert sum(sizes) == len(rows)
    assert max(sizes) * 50 * 8 <= 2_000_000
    assert_array_equal(np.concatenate(list(source.blocks(3))), rows[3 * source.block_rows :])
    assert_array_equal(source.take([0, 31_000]), rows[[0, 31_000]])


def test_text_columns_are_left_out_with_a_warning(tmp_path):
    FRAME.assign(name="r").to_csv(tmp_path / "rows.csv", index=False)
    with pytest.warns(UserWarning, match=r"1 column does not hold numbers and is left out: 'name' \(text\)"):
        model = FLS(2, random_state=0).fit(tmp_path / "rows.csv")
    assert_array_equal(model.labels_, FLS(2, random_state=0).fit(ROWS).labels_)


def test_a_cell_that_is_not_a_number(tmp_path):
    lines = FRAME.to_csv(index=False).splitlines()
    lines[6] = "abc," + lines[6].partition(",")[2]
    (tmp_path / "rows.csv").write_text("\n".join(lines))
    with pytest.raises(ValueError, match=r"rows\.csv, line 7, column 'x0': 'abc' is not a number"):
        FLS(2, random_state=0).fit(tmp_path / "rows.csv")
