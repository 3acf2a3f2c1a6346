"""What fuzzing found, in plain form: seeds give other mutations if a fixture is added."""

import json
import struct

import numpy as np
import pandas
import pytest
import safetensors.numpy
import scipy.io
import trials

from subspaces import FLS, LBF, SSSC, KFlats, load
from subspaces.inputs import read_table
from subspaces.saving.file import FORMAT


def rewritten(name, path, change):
    """A saved model after `change(state, arrays)`."""
    content = (trials.FIXTURES / f"{name}.subspaces").read_bytes()
    document = json.loads(json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])["__metadata__"][FORMAT])
    arrays = {place: array.copy() for place, array in safetensors.numpy.load(content).items()}
    change(document["state"], arrays)
    path.write_bytes(safetensors.numpy.save(arrays, {FORMAT: json.dumps(document)}))
    return path


def test_a_whole_number_beyond_floats(tmp_path):
    def change(state, arrays):
        state["fitted"]["sigma_"] = 10**400

    with pytest.raises(ValueError, match=r"sigma_.* is not a valid number"):
        load(rewritten("Landmark", tmp_path / "model", change))


def test_a_centre_whose_square_overflows(tmp_path):
    def change(state, arrays):
        arrays["fitted.code.shapes.center"][1] = 1e300

    with pytest.raises(ValueError, match="clusters have values that are too large"):
        load(rewritten("SSC", tmp_path / "model", change))


@pytest.mark.parametrize("cluster", [0, 1])
def test_a_centre_of_either_cluster(cluster, tmp_path):
    """The origin, which is tried, is in one of them."""

    def change(state, arrays):
        arrays[f"fitted.code.shapes.cells.{cluster}.center"][0] = 1e300

    with pytest.raises(ValueError, match="clusters have values that are too large"):
        load(rewritten("Nystrom", tmp_path / "model", change))


def test_a_flat_whose_distances_overflow(tmp_path):
    def change(state, arrays):
        name = next(name for name, array in arrays.items() if name.endswith("flats.centers"))
        arrays[name][1, 0] = np.finfo(arrays[name].dtype).max / 10

    with pytest.raises(ValueError, match="clusters have values that are too large"):
        load(rewritten("LBF", tmp_path / "model", change))


def test_a_mean_of_columns_whose_square_overflows(tmp_path):
    def change(state, arrays):
        arrays["table_preparation.mean"][0] = 1e300

    with pytest.raises(ValueError, match="clusters have values that are too large"):
        load(rewritten("prepared", tmp_path / "model", change))


def test_scales_of_zero(tmp_path):
    def change(state, arrays):
        arrays["table_preparation.scale"][:] = 0

    with pytest.raises(ValueError, match="scale holds values below"):
        load(rewritten("prepared", tmp_path / "model", change))


def test_a_half_of_the_landmarks_that_only_outliers_have():
    levels = [[0, 0], [255, 1], [1, 254], [255, 255], [254, 0], [0, 255], [1, 1]]
    with trials.quiet():
        for seed in range(40):
            x = np.random.default_rng(seed).choice(np.ravel(levels), (7, 12))
            model = FLS(2, n_nearest=1, detect_outliers=0.99, random_state=seed).fit(x)
            assert np.isfinite(model.confidence_).all()


def test_a_negative_number_of_rows(tmp_path):
    path = tmp_path / "rows.parquet"
    pandas.DataFrame({"a": np.zeros(28)}).to_parquet(path)
    content = path.read_bytes()
    # Thrift writes 28 as 56, and -29 as 57. The number of rows of the file is in front of those of its groups.
    place = content.index(b"\x16\x38", content.index(b"schema"))
    path.write_bytes(content[: place + 1] + b"\x39" + content[place + 2 :])
    with pytest.raises(ValueError, match="other numbers of rows than it says"):
        read_table(path)


def test_a_matlab_element_of_a_type_that_does_not_exist(tmp_path):
    """SciPy looks the type up beyond the end of a table: another exception each time, or the end of the process."""
    path = tmp_path / "rows.mat"
    scipy.io.savemat(path, {"x": np.eye(3), "y": np.array([[1, 2.0]], object)})
    content = path.read_bytes()
    # The tag of nine numbers of type 9 (double) and 72 bytes.
    place = content.index(struct.pack("<II", 9, 72))
    path.write_bytes(content[:place] + struct.pack("<I", 47) + content[place + 4 :])
    with pytest.raises(ValueError, match="an element of type 47, which does not exist"):
        read_table(path, key="x")


def test_a_matlab_matrix_of_a_class_that_does_not_exist(tmp_path):
    path = tmp_path / "rows.mat"
    scipy.io.savemat(path, {"x": np.eye(3)})
    content = path.read_bytes()
    # Flags of class 6 (double): the logical one hides the class from `whosmat`.
    place = content.index(struct.pack("<III", 6, 8, 6)) + 8
    for length in (8, 2**31 - 8):
        # SciPy does not read the length of the flags.
        flags = struct.pack("<I", length) + bytes([204, 2])
        path.write_bytes(content[: place - 4] + flags + content[place + 2 :])
        with pytest.raises(ValueError, match="a matrix of class 204, which does not exist"):
            read_table(path, key="x")


def test_rows_that_one_far_row_makes_parallel():
    x = np.random.default_rng(0).normal(size=(3, 40))
    x[2, 9] = 1e140
    with trials.quiet():
        assert set(SSSC(1, solver="elastic_net", affine=True, random_state=0).fit(x).labels_) == {0}


@pytest.mark.parametrize("model", [LBF(2, n_init=10**30), KFlats(2, n_init=10**30), FLS(2, n_draws=10**30)])
def test_starts_that_would_never_end(model):
    with pytest.raises(ValueError, match="must be between 1 and 10000"):
        model.fit(np.random.default_rng(0).normal(size=(30, 4)))


def test_nothing_else_is_refused(tmp_path):
    model = load(rewritten("SSC", tmp_path / "model", lambda state, arrays: None))
    assert np.isfinite(model.score(np.eye(5, model.n_features_in_)))
