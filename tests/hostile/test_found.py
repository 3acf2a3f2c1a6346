"""What fuzzing found, in plain form: seeds give other mutations if a fixture is added."""

import json
import struct

import numpy as np
import pandas
import pytest
import safetensors.numpy
import scipy.io
import trials

from subspaces import SSSC, load
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


def test_rows_that_one_far_row_makes_parallel():
    x = np.random.default_rng(0).normal(size=(3, 40))
    x[2, 9] = 1e140
    with trials.quiet():
        assert set(SSSC(1, solver="elastic_net", affine=True, random_state=0).fit(x).labels_) == {0}


def test_nothing_else_is_refused(tmp_path):
    model = load(rewritten("SSC", tmp_path / "model", lambda state, arrays: None))
    assert np.isfinite(model.score(np.eye(5, model.n_features_in_)))
