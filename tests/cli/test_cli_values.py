"""Types of options."""

import click
import pytest

from subspaces.cli import values


@pytest.mark.parametrize(
    ("word", "value"),
    [
        ("500", 500),
        ("-3", -3),
        ("0.5", 0.5),
        ("1e-3", 1e-3),
        ("true", True),
        ("No", False),
        ("none", None),
        ("auto", "auto"),
        ("4,5,6", [4, 5, 6]),
    ],
)
def test_settings(word, value):
    found = values.Settings().read(f"name={word}")["name"]
    assert found == value
    assert type(found) is type(value)


def test_shapes():
    assert values.Shape().read("28x28") == values.Shape().read([28, 28]) == [28, 28]
    assert values.Shape().read("32x16x3") == [32, 16, 3]
    assert values.Shape(square=True).read("64") == values.Shape(square=True).read(64) == [64, 64]


def test_names_are_separated_by_commas_on_the_command_line_only():
    names = values.Names()
    assert names.collect([names.read("a, b"), names.read("c")]) == ["a", "b", "c"]
    assert names.from_file(["weight, in kg", 3]) == ["weight, in kg", "3"]
    assert names.collect([]) is None


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (values.Whole(1), "0"),
        (values.Whole(1), "two"),
        (values.Whole(1), 1.5),
        (values.Whole(1), True),
        (values.Whole(1), "9" * 5000),
        (values.Whole(1), "١"),
        (values.Whole(1, word="auto"), "aut"),
        (values.Text(), ""),
        (values.Text(), "a\0b"),
        (values.Text(), 3),
        (values.OneOf(["csv", "npy"]), "xls"),
        (values.OneOf(["csv", "npy"]), 3),
        (values.Shape(), "28"),
        (values.Shape(), "0x5"),
        (values.Shape(), "axb"),
        (values.Names(), "a,,b"),
        (values.Settings(), "novalue"),
        (values.Settings(), "=3"),
        (values.Share(word="auto"), "1.1"),
        (values.Share(word="auto"), "nan"),
        (values.Share(word="auto"), "Auto"),
        (values.Seconds(), "0"),
        (values.Seconds(), "nan"),
        (values.Seconds(), "soon"),
    ],
)
def test_mistakes(kind, value):
    with pytest.raises(click.BadParameter):
        kind.convert(value, None, None)


@pytest.mark.parametrize(
    ("kind", "value"), [(values.Names(), []), (values.Settings(), {"a": {"b": 1}}), (values.Paths(), [3])]
)
def test_mistakes_in_files(kind, value):
    with pytest.raises(ValueError, match="is not"):
        kind.from_file(value)


def test_near():
    assert values.near("clustres", ["clusters", "columns"]) == " (did you mean clusters?)"
    assert values.near("zzz", ["clusters"]) == ""
