"""Numbers in words."""

from subspaces._core.words import duration


def test_durations_have_the_unit_that_suits_them():
    expected = {0.123: "0.12 s", 5.06: "5.1 s", 42: "42 s", 300: "5 min", 7200: "2.0 h", 9000: "2.5 h"}
    assert {seconds: duration(seconds) for seconds in expected} == expected
