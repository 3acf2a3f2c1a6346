"""Options from configuration files."""

import click
import pytest

from subspaces.cli.commands.fit import fit


def options(*words):
    """Options of `subspaces fit` by name, without running it."""
    return fit.make_context("fit", list(words)).params


def test_defaults_then_file_then_command_line(tmp_path):
    path = tmp_path / "options.toml"
    path.write_text('clusters = 4\nseed = 7\nmemory_limit = "2GB"\nset = { n_landmarks = 50 }\nno-report = true\n')
    found = options("--config", str(path), "-k", "5")
    assert found["clusters"] == 5
    assert found["seed"] == 7
    assert found["memory_limit"] == "2GB"
    assert found["set"] == {"n_landmarks": 50}
    assert found["report"] is False
    assert found["dim"] == "auto"
    assert options("--config", str(path), "--report")["report"] is True
    assert options("--config", str(path), "--set", "sigma=2")["set"] == {"sigma": 2}


def test_data_of_the_command_line_takes_precedence(tmp_path):
    path = tmp_path / "options.toml"
    path.write_text('data = ["a.csv", "b.csv"]\ncolumns = ["x, y", 3]\nimage-shape = [8, 8]\n')
    assert options("--config", str(path))["data"] == ["a.csv", "b.csv"]
    assert options("--config", str(path), "c.csv")["data"] == ["c.csv"]
    assert options("--config", str(path))["columns"] == ["x, y", "3"]
    assert options("--config", str(path))["image_shape"] == [8, 8]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("clustres = 4", "clustres is not an option of subspaces fit (did you mean clusters?)"),
        ("clusters = 'many'", "clusters: 'many' is not a whole number or \"auto\""),
        ("clusters = ", "is not valid TOML"),
        ("seed = 1\nseed = 2", "is not valid TOML"),
        ("memory-limit = '1GB'\nmemory_limit = '2GB'", "given twice"),
        ("again = 'run'", "again is not an option"),
        ("method = 'fl'", "method: 'fl' is not one of fls"),
        ("json = 1", "json: 1 is not true or false"),
        ("no-report = 3", "no-report: 3 is not true or false"),
        ("no-seed = true", "no-seed is not an option"),
        ("x = " + "[" * 5000, "is not valid TOML"),
    ],
)
def test_mistakes_name_the_file(content, message, tmp_path):
    path = tmp_path / "options.toml"
    path.write_text(content)
    with pytest.raises(click.ClickException) as error:
        options("--config", str(path))
    assert message in str(error.value)
    assert str(path) in str(error.value)


def test_files_that_are_not_configurations(tmp_path):
    (tmp_path / "bytes.toml").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "other.json").write_text('{"options": {}}')
    (tmp_path / "long.json").write_text(f'{{"k": {"9" * 5000}}}')
    (tmp_path / "long.toml").write_text(f"k = {'9' * 5000}")
    messages = {
        "bytes.toml": "not UTF-8",
        "other.json": "not the run.json of a run",
        "long.json": "is damaged: Exceeds the limit",
        "long.toml": "is not valid TOML: Exceeds the limit",
    }
    for name, message in messages.items():
        with pytest.raises(click.ClickException, match=message):
            options("--config", str(tmp_path / name))
    with pytest.raises(click.ClickException, match="--again: it cannot be combined with --config"):
        options("--config", "a.toml", "--again", "run")
    with pytest.raises(click.ClickException, match="no such file"):
        options("--config", str(tmp_path / "missing.toml"))
