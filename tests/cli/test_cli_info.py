"""`subspaces info`."""

import json

import numpy as np

from subspaces import cli


def test_it_prints_versions_and_optional_packages(capsys):
    assert cli.main(["info"]) == 0
    printed = capsys.readouterr().out
    for word in ("subspaces", "Python", "numpy", "GPU", "data folder"):
        assert word in printed


def test_json(capsys):
    assert cli.main(["info", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["packages"]["numpy"] == np.__version__
    # Required packages are not optional ones.
    assert "pyarrow" in document["packages"]
    assert "pyarrow" not in document["optional"]
    assert document["cores"] >= 1
    assert isinstance(document["gpu"], list)
