"""What the command line is made of: values, configurations, targets, the console."""

import logging
import os
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

from subspaces._core.log import logger, report
from subspaces.cli import _values as values
from subspaces.cli._commands import COMMANDS, FIT
from subspaces.cli._config import near, resolve
from subspaces.cli._console import STAGES, Console
from subspaces.cli._errors import Mistake
from subspaces.cli._methods import METHODS, method_of
from subspaces.cli._targets import check_target, put_folder, working_folder
from subspaces.cli._watched import WatchedRows
from subspaces.cli._words import one_line, seconds_text, table
from subspaces.rows import open_rows


class TestValues:
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
    def test_words_become_what_they_name(self, word, value):
        found = values.settings("--set", [f"name={word}"])["name"]
        assert found == value
        assert type(found) is type(value)

    def test_shapes(self):
        assert values.shape("--image-shape", "28x28") == values.shape("image-shape", [28, 28]) == [28, 28]
        assert values.shape("--image-shape", "32x16x3") == [32, 16, 3]
        assert values.size("--image-size", "64") == values.size("image-size", 64) == [64, 64]

    def test_names_are_parted_by_commas_on_the_command_line_only(self):
        assert values.names("--columns", [values.Words("a, b"), values.Words("c")]) == ["a", "b", "c"]
        assert values.names("columns", ["weight, in kg", 3]) == ["weight, in kg", "3"]

    @pytest.mark.parametrize(
        ("read", "value"),
        [
            (values.whole(1), "0"),
            (values.whole(1), "two"),
            (values.whole(1), 1.5),
            (values.whole(1), True),
            (values.whole(1), "9" * 5000),
            (values.whole(1, word="auto"), "aut"),
            (values.flag, "yes"),
            (values.text, ""),
            (values.text, "a\0b"),
            (values.text, 3),
            (values.shape, "28"),
            (values.shape, "0x5"),
            (values.shape, "axb"),
            (values.names, []),
            (values.names, [values.Words("a,,b")]),
            (values.settings, ["novalue"]),
            (values.settings, ["=3"]),
            (values.settings, {"a": {"b": 1}}),
            (values.seconds, "0"),
            (values.seconds, "nan"),
            (values.seconds, "soon"),
        ],
    )
    def test_mistakes_are_told_by_the_name_of_the_option(self, read, value):
        with pytest.raises(Mistake, match="--option"):
            read("--option", value)


class TestResolve:
    def test_defaults_then_file_then_command_line(self, tmp_path):
        path = tmp_path / "options.toml"
        path.write_text('clusters = 4\nseed = 7\nmemory_limit = "2GB"\nset = { n_landmarks = 50 }\nno-report = true\n')
        found = resolve(FIT, {"config": str(path), "clusters": "5"})
        assert found["clusters"] == 5
        assert found["seed"] == 7
        assert found["memory-limit"] == "2GB"
        assert found["set"] == {"n_landmarks": 50}
        assert found["report"] is False
        assert found["dim"] == "auto"

    @pytest.mark.parametrize(
        ("content", "message"),
        [
            ("clustres = 4", "clustres is no option of subspaces fit; did you mean clusters?"),
            ("clusters = 'many'", 'clusters many must be a whole number or "auto"'),
            ("clusters = ", "is no TOML"),
            ("seed = 1\nseed = 2", "is no TOML"),
            ("memory-limit = '1GB'\nmemory_limit = '2GB'", "given twice"),
            ("again = 'run'", "again is no option"),
            ("json = 1", "must be true or false"),
            ("no-report = 3", "must be true or false"),
            ("x = " + "[" * 5000, "is no TOML"),
        ],
    )
    def test_mistakes_in_the_file(self, content, message, tmp_path):
        path = tmp_path / "options.toml"
        path.write_text(content)
        with pytest.raises(Mistake) as told:
            resolve(FIT, {"config": str(path)})
        assert message in str(told.value)
        assert str(path) in str(told.value)

    def test_files_that_are_no_configurations(self, tmp_path):
        (tmp_path / "bytes.toml").write_bytes(b"\xff\xfe\x00")
        (tmp_path / "other.json").write_text('{"options": {}}')
        for name, message in (("bytes.toml", "not UTF-8"), ("other.json", "not the run.json of a run")):
            with pytest.raises(Mistake, match=message):
                resolve(FIT, {"config": str(tmp_path / name)})
        with pytest.raises(Mistake, match="give one of them"):
            resolve(FIT, {"config": "a.toml", "again": "run"})

    def test_every_default_is_what_its_reader_returns(self):
        for command in COMMANDS.values():
            for option in command.all_options():
                if option.default is not None and option.name != "name":
                    assert option.read(option.name, option.default) == option.default


def test_near():
    assert near("clustres", ["clusters", "columns"]) == "; did you mean clusters?"
    assert near("zzz", ["clusters"]) == ""


class TestMethods:
    @pytest.mark.parametrize("name", METHODS)
    def test_every_method_builds_what_it_says(self, name):
        method = METHODS[name]
        dim = 3 if method.needs_dim else "auto"
        method.check(4, dim)
        model = method.build(4, dim, 7, {}, verbose=0)
        assert type(model).__name__ == method.estimator
        assert model.get_params()["n_clusters"] == 4
        assert model.get_params()["random_state"] == 7
        assert method.seconds(1000, 50) > 0

    @pytest.mark.parametrize("name", METHODS)
    def test_what_a_method_says_of_itself_is_so(self, name):
        import inspect

        method = METHODS[name]
        parameters = inspect.signature(method.builder()).parameters
        assert ("subspace_dim" in parameters) == method.takes_dim
        assert ("max_clusters" in parameters) == method.counts

    def test_what_is_refused(self):
        with pytest.raises(Mistake, match="did you mean fls"):
            method_of("fl")
        with pytest.raises(Mistake, match="needs the number of clusters"):
            METHODS["ssc"].check("auto", "auto")
        with pytest.raises(Mistake, match="needs the dimension"):
            METHODS["fls-paper"].check(3, "auto")
        with pytest.raises(Mistake, match="fits no subspaces"):
            METHODS["kasp"].check(3, 2)
        with pytest.raises(Mistake, match="did you mean n_landmarks"):
            METHODS["fls"].build(3, "auto", 0, {"n_landmark": 5}, verbose=0)
        with pytest.raises(Mistake, match="option of its own, -k"):
            METHODS["fls"].build(3, "auto", 0, {"n_clusters": 5}, verbose=0)


class TestTargets:
    FILES = ("a.txt", "b.txt")

    def test_what_is_there_stays_unless_forced(self, tmp_path):
        out = tmp_path / "run"
        out.mkdir()
        check_target(out, force=False, ours=self.FILES)
        (out / "a.txt").write_text("old")
        with pytest.raises(Mistake, match="by --force"):
            check_target(out, force=False, ours=self.FILES)
        check_target(out, force=True, ours=self.FILES)

    def test_a_folder_of_other_things_is_never_replaced(self, tmp_path):
        out = tmp_path / "home"
        out.mkdir()
        (out / "thesis.tex").write_text("precious")
        with pytest.raises(Mistake, match=r"other things in it, such as thesis\.tex"):
            check_target(out, force=True, ours=self.FILES)

    def test_data_is_never_replaced(self, tmp_path):
        data = tmp_path / "rows.csv"
        data.write_text("1,2\n")
        with pytest.raises(Mistake, match="the data itself"):
            check_target(data, force=True, inputs=[str(data)])

    @pytest.mark.parametrize("ours", [FILES, ()])
    @pytest.mark.parametrize("source", ["data", "data/", "linked", "data/*", "data/r*"])
    def test_nor_is_anything_put_into_it(self, source, ours, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        (tmp_path / "data").mkdir()
        (tmp_path / "linked").symlink_to("data")
        given = os.path.join(str(tmp_path), source)
        with pytest.raises(Mistake, match="which is read"):
            check_target(Path("data/run"), force=False, ours=ours, inputs=[given])
        for other in ("data-run", "run"):
            check_target(Path(other), force=False, ours=ours, inputs=[given])

    def test_beside_files_of_a_folder_is_a_good_place(self, tmp_path):
        (tmp_path / "rows.csv").write_text("1,2\n")
        inputs = [str(tmp_path / "rows.csv"), str(tmp_path / "*.csv")]
        check_target(tmp_path / "run", force=False, ours=self.FILES, inputs=inputs)
        with pytest.raises(Mistake, match="would be part of"):
            check_target(tmp_path / "labels.csv", force=False, inputs=inputs)

    @pytest.mark.parametrize("name", ["missing/run", ".", "/", "x" * 250])
    def test_places_that_do_not_do(self, name, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        with pytest.raises(Mistake, match="--out"):
            check_target(Path(name), force=True, ours=self.FILES)

    def test_the_old_is_replaced_as_a_whole(self, tmp_path):
        out = tmp_path / "run"
        for content in ("old", "new"):
            with working_folder(out) as folder:
                (folder / "a.txt").write_text(content)
                put_folder(folder, out)
            assert (out / "a.txt").read_text() == content
            assert [path.name for path in tmp_path.iterdir()] == ["run"]

    def test_the_old_comes_back_where_the_new_cannot_be_put(self, tmp_path, monkeypatch):
        out = tmp_path / "run"
        out.mkdir()
        (out / "a.txt").write_text("old")
        real, calls = os.replace, []

        def second_fails(source, target):
            calls.append(source)
            if len(calls) == 2:
                raise OSError(28, "No space left on device")
            real(source, target)

        monkeypatch.setattr(os, "replace", second_fails)
        with working_folder(out) as folder:
            (folder / "a.txt").write_text("new")
            with pytest.raises(OSError, match="No space"):
                put_folder(folder, out)
        assert (out / "a.txt").read_text() == "old"
        assert [path.name for path in tmp_path.iterdir()] == ["run"]


class TestConsole:
    def test_stages_are_timed_and_told_apart(self):
        with Console(quiet=True) as console:
            console.stage("reading rows")
            report(0, "fitting flats at %d landmarks", 20)
            report(0, "%d clusters: %s", 3, "a result, no stage")
            report(0, "choosing a partition of %d rows", 100)
            report(0, "fitting flats at %d landmarks", 30)
        assert list(console.stages) == ["reading rows", "flats at landmarks", "partition"]
        assert all(seconds >= 0 for seconds in console.stages.values())

    def test_every_stage_is_a_message_of_the_library(self):
        import subspaces

        code = "".join(
            path.read_text() for path in Path(subspaces.__file__).parent.rglob("*.py") if "cli" not in path.parts
        )
        for message in STAGES:
            assert f'"{message}"' in code

    def test_the_logger_is_left_as_it_was(self, capsys):
        before = (logger.level, logger.propagate, list(logger.handlers))
        with Console(verbose=True) as console:
            assert logger.level == logging.DEBUG
            console.stage("reading rows")
            report(1, "fitting flats at %d landmarks", 20)
        assert (logger.level, logger.propagate, list(logger.handlers)) == before
        captured = capsys.readouterr()
        assert captured.out == ""
        assert captured.err == "subspaces: reading rows\nsubspaces: fitting flats at 20 landmarks\n"

    def test_warnings_are_one_line_each_and_once(self, capsys):
        with Console() as console:
            for _ in range(2):
                warnings.warn("labels are\na coin toss", UserWarning, stacklevel=1)
            warnings.warn("of no use to users", DeprecationWarning, stacklevel=1)
        assert console.warnings == ["labels are a coin toss"]
        assert capsys.readouterr().err == "subspaces: warning: labels are a coin toss\n"

    def test_nothing_but_the_mistake_is_told(self, capsys):
        def work():
            with Console() as console:
                console.stage("reading rows")
                console.remark("a column is left out")
                warnings.warn("careful", UserWarning, stacklevel=1)
                raise ValueError("mistake")

        with pytest.raises(ValueError, match="mistake"):
            work()
        assert capsys.readouterr().err == ""

    def test_quiet_is_quiet(self, capsys):
        with Console(quiet=True) as console:
            console.remark("a column is left out")
            warnings.warn("careful", UserWarning, stacklevel=1)
        assert console.notes == ["a column is left out"]
        assert console.warnings == ["careful"]
        assert capsys.readouterr().err == ""

    def test_where_nobody_watches_a_line_comes_now_and_then(self, capsys, monkeypatch):
        from subspaces.cli import _console

        monkeypatch.setattr(_console, "PLAIN_SECONDS", 0.0)
        with Console() as console:
            console.begin_pass()
            console.advance(250, 1000)
        told = capsys.readouterr().err.splitlines()
        assert told[0] == "subspaces: pass 1 over the rows"
        assert told[1].startswith("subspaces: pass 1 over the rows: 250 of 1,000, about ")

    def test_a_terminal_gets_a_bar_and_nothing_of_it_stays(self, monkeypatch, capsys):
        monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
        monkeypatch.setenv("TERM", "xterm-256color")
        monkeypatch.setenv("NO_COLOR", "1")
        with Console() as console:
            console.stage("reading rows")
            console.begin_pass()
            console.advance(500, 1000)
            assert console._bar is not None
            console._bar.refresh()
        captured = capsys.readouterr()
        assert "pass 1 over the rows" in captured.err
        assert captured.out == ""
        # The bar is wiped: the last thing written moves up and clears lines, or shows the cursor again.
        assert captured.err.endswith("\x1b[2K")


class TestWatchedRows:
    def rows(self, console):
        return WatchedRows(open_rows(np.arange(20.0).reshape(10, 2), block_rows=4), console)

    def test_they_are_the_rows(self):
        with Console(quiet=True) as console:
            rows = self.rows(console)
            assert np.array_equal(np.concatenate(list(rows.blocks())), np.arange(20.0).reshape(10, 2))
            assert np.array_equal(rows.take([1, 8]), [[2, 3], [16, 17]])
            assert (rows.n_rows, rows.n_columns, rows.block_rows, rows.n_blocks) == (10, 2, 4, 3)
            again = open_rows(rows, block_rows=5)
            assert isinstance(again, WatchedRows)
            assert [len(block) for block in again.blocks()] == [5, 5]

    def test_passes_are_counted_and_what_they_interrupt_goes_on(self):
        with Console(quiet=True) as console:
            console.stage("deciding")
            rows = self.rows(console)
            next(iter(rows.blocks()))  # a look at the first block is no pass
            list(rows.blocks())
            assert console._stage == "deciding"
            list(rows.blocks(1))
        assert list(console.stages) == ["deciding", "pass 1 over the rows", "pass 2 over the rows"]


def test_labels_are_written_in_blocks_of_their_bytes(tmp_path, monkeypatch):
    from subspaces.cli import _results

    blocks = []
    real = _results.row_blocks
    monkeypatch.setattr(_results, "row_blocks", lambda *given: blocks.extend(real(*given)) or blocks)
    labels = np.arange(1_000_000, dtype=np.int32)
    _results.write_labels(tmp_path / "labels.npy", labels)
    assert np.array_equal(np.load(tmp_path / "labels.npy"), labels)
    assert len(blocks) == 1


class TestWords:
    def test_one_line(self):
        assert one_line("two\nlines\tand \x1b[31mred") == "two lines and ?[31mred"
        assert len(one_line("x" * 5000)) == 1000

    def test_times(self):
        assert [seconds_text(x) for x in (0.123, 5.06, 42, 300, 7200, 9000)] == [
            "0.12 s",
            "5.1 s",
            "42 s",
            "5 min",
            "2.0 h",
            "2.5 h",
        ]

    def test_tables(self):
        assert table(["a", "b"], [["long name", "1"], ["x", "200"]]) == "a            b\nlong name    1\nx          200"


class TestDocumentation:
    """docs/command-line.md tells everything that can be asked for."""

    @pytest.fixture
    def page(self):
        return (Path(__file__).parents[2] / "docs" / "command-line.md").read_text()

    def test_every_command_and_option(self, page):
        for command in COMMANDS.values():
            assert f"`{command.name} " in page or f"`{command.name}`" in page
            for option in command.options:
                assert f"--{option.name}" in page or f"--no-{option.name}" in page, option.name

    def test_every_method_in_its_own_words(self, page):
        for method in METHODS.values():
            assert f"| `{method.name}` | {method.what} | `{method.title}` |" in page

    def test_the_help_of_fit_names_every_method(self):
        (option,) = (option for option in FIT.options if option.name == "method")
        assert option.help == f"fls (default), {', '.join(name for name in METHODS if name != 'fls')}"
