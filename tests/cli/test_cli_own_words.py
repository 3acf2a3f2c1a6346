"""Messages of the library in the words of the command line."""

import click
import numpy as np
import pytest
from conftest import write_csv

from subspaces import cli
from subspaces.cli.commands.fit import fit
from subspaces.cli.own_words import in_own_words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("n_clusters=31 must be between 1 and 30", "-k 31 must be between 1 and 30"),
        ('fill them with missing="mean".', "fill them with --missing mean."),
        ("leave it out by drop='x y'.", "leave it out by --drop 'x y'."),
        ("leave it out by drop='a,b'.", """leave it out by --drop '"a,b"'."""),
        ("a.npz has no array key='x y'", "a.npz has no array --key 'x y'"),
        ("too many for memory_limit=1GB: raise it", "too many for --memory-limit 1GB: raise it"),
        ("scale all to one size, image_size=(28, 28).", "scale all to one size, --image-size 28x28."),
        ("n_landmarks=0 must be at least 1", "--set n_landmarks=0 must be at least 1"),
        ("--set n_landmarks=0 is odd", "--set n_landmarks=0 is odd"),
        (
            "no clusters; look at choice_ and confidence_.",
            "no clusters; see `subspaces choose`, and the confidences in labels.csv.",
        ),
        ("set SUBSPACES_DATA or data_home to it", "set the environment variable SUBSPACES_DATA to it"),
        # Neither parameters of the library nor options of the command.
        ("X has n_samples=30 rows", "X has n_samples=30 rows"),
        ("my_key=3, --key=3 and key==3", "my_key=3, --key=3 and key==3"),
    ],
)
def test_options_in_place_of_parameters(text, expected):
    with click.Context(fit) as context:
        context.params = {"set": {"n_landmarks": 0}}
        assert in_own_words(text) == expected
    assert in_own_words(text) == text


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("fit holes.csv -k 2", "drop such rows with --missing drop, or fill in column means with --missing mean"),
        ("fit typo.csv", "'2,5' is not a number (1 of 3); correct it"),
        ("fit typo.csv", "or leave the column out by --drop b"),
        ("fit holes.csv --columns z", "holes.csv has no column 'z': it has"),
        ("fit two.npz -k 2", "--key"),
        ("fit two.npz -k 2 --key z", "has no array --key z"),
        ("fit rows.npy -k 2 --key z", "--key z names an array"),
        ("fit rows.npy -k 2 --method kasp --set n_centroids=1", "--set n_centroids=1 must be at least 2"),
        ("fit rows.npy -k 2 --device nowhere", "--device nowhere"),
        ("fit rows.npy -k 2 --image-shape 3x3", "--image-shape 3x3 is 9 pixels"),
        ("fit rows.npy -k 2 --image-size 3x3", "--image-size 3x3 is for images"),
        ("choose rows.npy -k 500", "-k"),
        ("compare rows.npy -k 500", "-k"),
    ],
)
def test_mistakes(words, message, rows, tmp_path, capsys):
    X, _ = rows
    holes = X.copy()
    holes[3, 2] = np.nan
    write_csv(tmp_path / "holes.csv", holes, "abcdefgh")
    (tmp_path / "typo.csv").write_text('a,b\n1,1.5\n2,"2,5"\n3,4.5\n')
    np.savez("two.npz", x=X, y=X)
    assert cli.main([*words.split(), *(["--out", "run"] if words.startswith("fit") else [])]) == 2
    line = capsys.readouterr().err
    assert message in line
    for parameter in ("missing=", "key=", "n_clusters=", "memory_limit=", "image_shape=", "image_size=", "device="):
        assert parameter not in line
