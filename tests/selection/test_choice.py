"""What estimators tell of their choices: as a table, as JSON, as a picture."""

import copy
import json
import pickle
import sys
from dataclasses import FrozenInstanceError, replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from subspaces.flats.neighborhoods import Beta2
from subspaces.selection.record import NOTHING, Choice, Decision
from subspaces.selection.record_text import TABLE_ROWS, TABLE_WIDTH

NAN = float("nan")


def numbered(name="n_clusters", count=9, winner=3):
    """Candidates 2, 3, ... with the best score at the winner."""
    tried = tuple({"n_clusters": k + 2, "modularity": 0.8 - 0.02 * abs(k - winner)} for k in range(count))
    return Decision(name, winner, "modularity", "the largest modularity", tried)


def described(count=30, winner=11):
    """Candidates of several words, the winner not the one of the best score."""
    methods = ("k-means", "joined parts", "refined on the landmarks")
    tried = tuple(
        {"method": methods[i % 3], "n_vectors": 3 + i // 3, "polish": i % 2 == 0, "modularity": np.sin(i)}
        for i in range(count)
    )
    return Decision("partition", winner, "modularity", "as good as the best, by fewer eigenvectors", tried)


def odd():
    """Everything that is not a plain number."""
    tried = (
        {"flats": Beta2(start_size=None, step_size=2), "energy": 2.25, "nested": {"a": [1, NAN, (np.float32(0.5),)]}},
        {"flats": 20, "energy": NAN, "array": np.array([1.0, np.inf])},
        {"flats": "größte\n流形 \x00 \ud800", "energy": None, "ok": True},
        {"flats": np.float32, "energy": "diverged", "ok": np.False_, "long": np.longdouble(1)},
        {"flats": 10**400, "energy": np.float64(1.5), "half": 1j},
        {"energy": 10**400},
        {"flats": "x" * 500, "energy": -np.inf},
        {},
    )
    return Decision("flats", 0, "energy", "smallest $\\energy$ of_all", tried, larger_is_better=False)


plain_values = st.none() | st.booleans() | st.integers() | st.floats() | st.text()
mappings = st.dictionaries(st.text(max_size=20), plain_values | plain_values.map(np.asarray), max_size=6)


@st.composite
def decisions(draw):
    tried = draw(st.lists(mappings, min_size=1, max_size=12))
    score = draw(st.sampled_from([key for each in tried for key in each] or ["none"]))
    winner = draw(st.integers(0, len(tried) - 1))
    return Decision(draw(st.text()), winner, score, draw(st.text()), tuple(tried), draw(st.booleans()))


class TestLookup:
    def test_decisions_are_found_by_name(self):
        first, second = numbered(), described()
        choice = Choice((first, second))
        assert choice["partition"] is second
        assert "n_clusters" in choice
        assert "sigma" not in choice
        assert len(choice) == 2
        assert list(choice) == [first, second]
        assert first.chosen == {"n_clusters": 5, "modularity": 0.8}

    def test_an_unknown_name_lists_the_known_ones(self):
        with pytest.raises(KeyError, match=r"'sigma'.*'n_clusters', 'partition'"):
            Choice((numbered(), described()))["sigma"]
        with pytest.raises(KeyError, match="none"):
            Choice(())["sigma"]

    @pytest.mark.parametrize("winner", [-1, 9])
    def test_the_winner_is_a_candidate(self, winner):
        with pytest.raises(ValueError, match=f"winner={winner} of the decision 'n_clusters'.* 9 candidates"):
            replace(numbered(), winner=winner)


class TestValue:
    def test_nothing_changes_later(self):
        tried = {"n_clusters": 2, "modularity": 0.5}
        decision = Decision("n_clusters", 0, "modularity", "the only one", (tried,))
        tried["n_clusters"] = 3
        assert decision.chosen["n_clusters"] == 2
        with pytest.raises(FrozenInstanceError):
            decision.winner = 1

    def test_copies_are_equal_and_others_are_not(self):
        choice = Choice((numbered(), odd()))
        for twin in (copy.copy(choice), copy.deepcopy(choice), pickle.loads(pickle.dumps(choice))):
            assert twin == choice
            assert str(twin) == str(choice)
        assert choice != Choice((numbered(), replace(odd(), winner=1)))
        assert choice != Choice((numbered(),))
        assert numbered() != numbered(count=8)
        assert numbered() != "n_clusters"


class TestWords:
    def structure(self, kind):
        return Decision("structure", 0, "share", "why", ({"clusters": kind, "share": 1.0},))

    def test_the_answer_comes_first(self):
        choice = Choice((numbered(), self.structure("blobs"), described()))
        assert str(choice) == repr(choice)
        lines = str(choice).split("\n")
        assert lines[0].startswith("5 clusters were chosen. They are blobs: rows around a centre.")
        assert lines[-1].startswith("print(choice_.details())")
        table = [line for line in lines if line.startswith("  ")]
        # The winner and the numbers around it, in order.
        assert table[0].split() == ["clusters", "distinctness", "(1", "is", "best)"]
        assert [line.split()[0] for line in table[1:]] == ["3", "4", "5", "6", "7"]
        assert [line.endswith("<- chosen") for line in table[1:]] == [False, False, True, False, False]
        assert "modularity" not in str(choice)

    def test_a_given_number_of_clusters(self):
        tried = tuple(
            {"flats": kind, "subspace_dim": dim, "neighborhood": size, "modularity": 0.5 - 0.1 * dim}
            for kind, dim, size in (("points", 0, 1), ("affine flats", 2, 6), ("affine flats", 2, 9))
        )
        choice = Choice((Decision("flats", 1, "modularity", "why", tried), self.structure("bent")))
        assert choice.answer.startswith("The clusters are bent: connected, but not flat. Rows were compared by affine ")
        # Candidates that look the same are listed once.
        assert str(choice).count("affine flats ") == 2
        assert str(choice).count("<- chosen") == 1

    def test_one_cluster(self):
        tried = ({"n_clusters": 1, "nats_per_row": 3.0}, {"n_clusters": 2, "nats_per_row": 4.0})
        choice = Choice((Decision("n_clusters", 0, "nats_per_row", "why", tried, larger_is_better=False),))
        assert choice.answer.startswith("One cluster was chosen")

    def test_unknown_decisions(self):
        text = str(Choice((described(),)))
        assert text.count("<- chosen") == 1
        assert "k-means" in text

    @pytest.mark.parametrize("decision", [numbered(), described(), odd()])
    def test_html_is_escaped(self, decision):
        tried = tuple({"<b>": f"<img src={i}>", **each} for i, each in enumerate(decision.candidates))
        hostile = replace(decision, name="<script>", candidates=tried)
        for html in (hostile._repr_html_(), Choice((hostile, decision))._repr_html_()):
            assert not {"<script", "<img", "<b>"} & {html[i:j] for i in range(len(html)) for j in (i + 3, i + 4, i + 7)}
        assert "<table>" in decision._repr_html_()

    @settings(deadline=None)
    @given(st.lists(decisions(), max_size=3))
    def test_any_record_can_be_shown(self, tried):
        choice = Choice(tuple(tried))
        assert isinstance(str(choice), str)
        assert choice._repr_html_().startswith("<")
        assert choice.details()


class TestTable:
    def test_it_reads_as_meant(self):
        tried = (
            {"method": "k-means", "n_vectors": 5, "modularity": 0.25, "refined": False},
            {"method": "joined", "modularity": 0.5, "refined": True, "seconds": 12345.6},
        )
        choice = Choice(
            (Decision("partition", 1, "modularity", "the largest modularity", tried), numbered(count=1, winner=0))
        )
        assert choice.details().split("\n") == [
            "partition: the largest modularity",
            "    method   n_vectors  modularity  refined  seconds",
            "  * joined                  0.5000  yes        12346",
            "    k-means          5      0.2500  no",
            "",
            "n_clusters: the largest modularity",
            "    n_clusters  modularity",
            "  *          2      0.8000",
        ]

    def test_an_empty_record(self):
        assert str(Choice(())) == Choice(()).details() == NOTHING
        assert Choice(()).answer == ""
        assert NOTHING in Choice(())._repr_html_()

    @pytest.mark.parametrize("larger", [True, False])
    def test_the_best_and_the_winner_are_shown(self, larger):
        decision = replace(described(), larger_is_better=larger)
        lines = str(decision).split("\n")
        assert lines[-1] == f"    ... and {30 - TABLE_ROWS} more"
        shown = [float(line.split()[-1]) for line in lines[2:-1]]
        scores = sorted((each["modularity"] for each in decision.candidates), reverse=larger)
        # The winner has the smallest score: the worst or the best.
        assert decision.chosen["modularity"] == min(scores)
        expected = [*scores[: TABLE_ROWS - 1], scores[-1]] if larger else scores[:TABLE_ROWS]
        assert shown == pytest.approx(expected, rel=1e-3)
        (mark,) = (line for line in lines if line.startswith("  * "))
        assert float(mark.split()[-1]) == pytest.approx(decision.chosen["modularity"], rel=1e-3)

    def test_candidates_without_a_score_come_last(self):
        tried = ({"a": "none"}, {"a": "nan", "s": NAN}, {"a": "low", "s": 1.0}, {"a": "high", "s": 2.0})
        lines = str(Decision("a", 0, "s", "why", tried)).split("\n")
        assert [line[4:].split()[0] for line in lines[2:]] == ["high", "low", "none", "nan"]

    def test_omitted_columns_are_named(self):
        tried = ({**{f"a_rather_long_name_{i}": "x" * 29 for i in range(9)}, "score": 1.0},)
        text = str(Decision("wide", 0, "score", "why " * 60, tried))
        assert max(map(len, text.split("\n"))) <= TABLE_WIDTH
        assert "1.000" in text
        assert "not shown: a_rather_long_name_" in text
        for key in tried[0]:
            assert text.count(key) == 1

    def test_odd_values(self):
        text = str(odd())
        for part in ("* Beta2(start_size=None, step_size=2)", "größte 流形", "diverged", "-", "none", "yes"):
            assert part in text
        text.encode()


class TestPlainValues:
    def test_odd_values(self):
        told = odd().to_dict()
        assert (told["name"], told["winner"], told["score"], told["larger_is_better"]) == ("flats", 0, "energy", False)
        first, second, third, fourth, *_ = told["candidates"]
        assert first == {
            "flats": "Beta2(start_size=None, step_size=2)",
            "energy": 2.25,
            "nested": {"a": [1, None, [0.5]]},
        }
        assert second == {"flats": 20, "energy": None, "array": [1.0, None]}
        assert third["energy"] is None
        assert third["ok"] is True
        assert fourth["ok"] is False

    def test_numpy_scalars_become_python_ones(self):
        tried = ({"n_clusters": np.int64(3), "score": np.float32(0.5), "last": np.array(True)},)
        decision = Decision("n_clusters", np.int64(0), "score", "why", tried)
        for candidate in (decision.chosen, decision.to_dict()["candidates"][0]):
            assert [type(value) for value in candidate.values()] == [int, float, bool]
        assert type(decision.winner) is int


@given(decisions())
def test_anything_prints_and_converts(decision):
    choice = Choice((decision, odd()))
    lines = repr(decision).split("\n")
    assert max(map(len, lines)) <= TABLE_WIDTH
    assert all(line.isprintable() for line in lines)
    assert sum(line.startswith("  * ") or line == "  *" for line in lines) >= any(map(len, decision.candidates))
    told = choice.to_dict()
    assert json.loads(json.dumps(told, allow_nan=False)) == told
    assert pickle.loads(pickle.dumps(choice)) == choice


class TestPicture:
    @pytest.fixture(autouse=True)
    def canvas(self):
        matplotlib = pytest.importorskip("matplotlib")
        matplotlib.use("Agg")
        yield
        from matplotlib import pyplot

        pyplot.close("all")

    @staticmethod
    def winners(ax):
        return [line.get_xydata()[0].tolist() for line in ax.lines if line.get_marker() == "D"]

    def test_numbered_candidates_become_a_line(self):
        ax = numbered().plot()
        (line,) = (line for line in ax.lines if line.get_marker() == "o")
        assert line.get_xdata().tolist() == list(range(2, 11))
        assert self.winners(ax) == [[5, 0.8]]
        assert ax.get_title(loc="left") == "n_clusters"
        assert ax.get_ylabel() == "modularity\n(larger is better)"
        assert "chosen: 5" in ax.get_xlabel()

    @pytest.mark.parametrize("larger", [True, False])
    def test_others_become_dots_with_the_best_on_top(self, larger):
        decision = replace(described(count=8, winner=2), larger_is_better=larger)
        ax = decision.plot()
        labels = [tick.get_text() for tick in ax.get_yticklabels()]
        points = sorted(line.get_xydata()[0][::-1].tolist() for line in ax.lines)
        scores = [score for _, score in points]
        assert scores == sorted(scores, reverse=larger)
        assert ax.yaxis_inverted()
        ((score, place),) = self.winners(ax)
        assert score == decision.chosen["modularity"]
        assert labels[int(place)] == "refined on the landmarks, n_vectors 3, polish yes"
        assert [tick.get_fontweight() for tick in ax.get_yticklabels()].count("bold") == 1

    @pytest.mark.parametrize(
        ("tried", "labels"),
        [
            # What all share is left out, and so are fractions that are not needed.
            (({"a": 1, "b": "x", "c": 0.5, "s": 2.0}, {"a": 1, "b": "y", "c": 0.25, "s": 1.0}), ["x", "y"]),
            (({"b": "x", "c": 0.5, "s": 2.0}, {"b": "x", "c": 0.25, "s": 1.0}), ["0.5000", "0.2500"]),
            (({"s": 2.0, "b": "x", "c": 3}, {"s": 1.0, "b": "y", "c": 4}), ["x, c 3", "y, c 4"]),
            (({"b": "x", "s": 2.0}, {"b": "x", "s": 1.0}), ["x", "x"]),
            (({"s": 2.0}, {"s": 1.0}), ["candidate 0", "candidate 1"]),
        ],
    )
    def test_labels_of_candidates_differ(self, tried, labels):
        ax = Decision("a", 0, "s", "why", tried).plot()
        assert [tick.get_text() for tick in ax.get_yticklabels()] == labels

    @pytest.mark.parametrize(("width", "height"), [(None, None), (5, 4)])
    def test_thirty_labels_do_not_overlap(self, width, height):
        from matplotlib import pyplot
        from matplotlib.text import Text

        ax = pyplot.subplots(figsize=(width, height), layout="constrained")[1] if width else None
        ax = replace(described(), reason="a reason of many words " * 8).plot(ax)
        ax.figure.canvas.draw()
        boxes = [tick.get_window_extent() for tick in ax.get_yticklabels()]
        assert boxes
        assert all(upper.y0 >= lower.y1 for upper, lower in pairwise(boxes))
        page = ax.figure.bbox
        (title,) = ax.findobj(lambda artist: isinstance(artist, Text) and artist.get_text() == "partition")
        (reason,) = (text for text in ax.texts if text.get_text() != "chosen")
        assert title.get_window_extent().y0 >= reason.get_window_extent().y1
        for box in (*boxes, title.get_window_extent(), reason.get_window_extent()):
            assert page.x0 - 1 <= box.x0
            assert box.x1 <= page.x1 + 1
            assert box.y1 <= page.y1 + 1

    @pytest.mark.parametrize("decision", [numbered(), described()])
    def test_the_winner_is_named(self, decision):
        ax = decision.plot()
        (note,) = (text for text in ax.texts if text.get_text() == "chosen")
        score = decision.chosen[decision.score]
        assert score in (note.xy if decision.name == "n_clusters" else note.xy[:1])

    def test_many_candidates_are_cut_but_not_the_winner(self):
        ax = described(count=300, winner=11).plot()
        assert len(ax.get_yticks()) == 40
        assert "260 more not shown" in ax.get_xlabel()
        assert len(self.winners(ax)) == 1

    def test_a_choice_is_one_below_the_other(self):
        grid = Choice((numbered(), described())).plot()
        assert grid.shape == (2,)
        assert grid[0].figure is grid[1].figure
        assert [ax.get_title(loc="left") for ax in grid] == ["n_clusters", "partition"]

    def test_own_axes_hold_one_decision(self):
        from matplotlib import pyplot

        ax = pyplot.figure().subfigures().subplots()
        assert numbered().plot(ax) is ax
        assert Choice((numbered(),)).plot(ax).tolist() == [ax]
        with pytest.raises(ValueError, match=r"2: .*choice\['n_clusters'\].plot\(ax\)"):
            Choice((numbered(), described())).plot(ax)
        assert Choice(()).plot()[0].texts[0].get_text() == NOTHING

    def test_odd_values(self):
        decision = odd()
        # No font here has every letter of the world.
        tried = [{**each, "flats": "größte"} if "流" in str(each) else each for each in decision.candidates]
        ax = replace(decision, candidates=tuple(tried)).plot()
        ax.figure.canvas.draw()
        assert {text.get_text() for text in ax.texts} >= {"-", "diverged", "no score"}

    def test_without_matplotlib_the_error_says_what_to_install(self, monkeypatch):
        monkeypatch.setitem(sys.modules, "matplotlib", None)
        with pytest.raises(ImportError, match=r"pip install 'subspaces\[plot\]'"):
            numbered().plot()
        monkeypatch.undo()
