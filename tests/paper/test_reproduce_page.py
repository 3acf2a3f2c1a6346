"""Tables and pages from stored results, and the command."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from subspaces import cli
from subspaces._core import progress
from subspaces.paper import theory
from subspaces.paper.reproduce import (
    command,
    grid,
    measure,
    motions,
    page,
    pictures,
    reading,
    robustness,
    tables,
    tradeoff,
)
from subspaces.paper.reproduce.kept import Kept
from subspaces.paper.reproduce.machine import environment
from subspaces.paper.reproduce.methods import METHODS, PAPER_METHODS
from subspaces.paper.reproduce.task import Outcome, fingerprint

ROOT = Path(__file__).parents[2]
ACCURACY = {"fls": 0.99, "lbf": 0.7, "ssc": 0.9, "sssc": 0.99, "fls-paper": 0.6, "fls-linear": 0.5, "lbf-paper": 0.55}
CLAIMS = (
    "kernel_error", "kernel_error_by_rows", "eigenspace_error", "eigenspace_error_by_rows", "perturbation",
    "uniform_measure",
)  # fmt: skip
SECONDS = {"ssc": 0.5, "lbf-paper": 0.5}


def fake(task):
    """What a task might give, in no time."""
    key = task.method.split()[0]
    device = "H<2>00 | *GPU*" if task.device == "cuda" else None
    return Outcome(min(1.0, ACCURACY.get(key, 0.4) + 0.001 * task.seed), SECONDS.get(key, 2.0), (100, 6), device)


def keep(folder, name, tasks):
    """Keep fake results of all tasks, in one write."""
    kept, here = Kept(folder, name), environment(2)
    record = kept.read()
    # Not after each task: files are long.
    kept.read, kept.write = lambda: record, lambda _: None
    for task in tasks:
        kept.add(task, fake(task), here)
    kept = Kept(folder, name)
    kept.write(record)
    return kept.read()


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    folder = tmp_path_factory.mktemp("results")
    keep(folder, "mnist", tables.table_tasks("mnist", PAPER_METHODS, 10, "cuda"))
    keep(folder, "faces", tables.table_tasks("faces", PAPER_METHODS, 2, "cpu"))
    keep(folder, "pendigits", tables.table_tasks("pendigits", ["fls"], 10, "cpu"))
    keep(folder, "beyond", tables.beyond_tasks(tables.BEYOND_METHODS, 3))
    return folder


@pytest.fixture(scope="module")
def records(results):
    return page.read_records(results)


def rows_of(records, index):
    return {row.title: row for row in grid.grids(records)[index].rows}


class TestGrid:
    def test_content_of_cells(self, records):
        cell = rows_of(records, 0)["FLS"].cells[0]
        assert (cell.accuracy, cell.seconds, cell.lowest, cell.highest) == (0.995, 2.0, 0.99, 0.999)
        assert (cell.accuracy_text, cell.seconds_text, cell.spread) == ("0.995", "2.0 s", "0.990–0.999")
        assert cell.notes == ()
        assert cell.paper == "0.99 (15 s)"
        assert rows_of(records, 0)["SSC"].cells[5].paper == "N/A"
        assert rows_of(records, 0)["SSC"].cells[0].paper == "0.76 (18,993 s)"

    def test_best_and_fastest(self, records):
        rows = rows_of(records, 0)
        best = [title for title, row in rows.items() if row.cells[0].best]
        # All ties are marked; methods given d are compared with each other.
        assert best == ["FLS", "SSSC", METHODS["fls-paper"].title]
        # Time on a device does not count.
        assert not rows["SSC"].cells[0].fastest
        assert [title for title, row in rows.items() if row.cells[0].fastest] == [
            "FLS", "LBF", "SSSC", "SSC as published", "SSSC as published", "LBF as published, given d",
        ]  # fmt: skip

    def test_notes_of_cells(self, records):
        assert rows_of(records, 0)["SSC"].cells[0].notes == ("on H<2>00 | *GPU*", "10 draws")
        assert rows_of(records, 1)["FLS"].cells[0].notes == ("2 of 10 draws",)
        assert rows_of(records, 2)["spectral clustering"].cells[0].notes == ("not run: too many rows",)

    def test_additional_draws(self, tmp_path):
        keep(tmp_path, "faces", tables.table_tasks("faces", ["lbf"], 12, "cpu"))
        assert rows_of(page.read_records(tmp_path), 0)["LBF"].cells[0].notes == ("12 draws",)

    def test_results_with_other_parameters(self, tmp_path):
        record = keep(tmp_path, "pendigits", tables.table_tasks("pendigits", ["fls", "lbf"], 10, "cpu"))
        record["cells"]["penDigits"]["fls"]["fingerprint"] = "another"
        rows = rows_of({"pendigits": record}, 0)
        assert rows["FLS"].cells[0].notes == ("other parameters",)
        assert [rows[title].cells[0].best for title in ("FLS", "LBF")] == [False, True]

    def test_motions(self, tmp_path):
        record = keep(tmp_path, "motions", motions.motion_tasks(["ssc-motions", "fls"], None))
        (found,) = grid.grids({"motions": record})
        rows = {row.title: row for row in found.rows}
        assert [cell.paper for cell in rows["SSC as published"].cells] == ["0.985", "0.956"]
        assert [cell.paper for cell in rows["FLS"].cells] == ["", ""]
        assert rows["FLS"].cells[0].notes == ()

    def test_changes_of_the_reading(self, tmp_path):
        record = keep(tmp_path, "reading", reading.reading_tasks(["fls-paper"], reading.DRAWS))
        (found,) = grid.grids({"reading": record})
        assert [row.title for row in found.rows] == list(reading.CHANGES)
        assert found.rows[0].cells[1].paper == "0.93 (13 s)"
        assert found.rows[1].cells[1].paper == ""
        assert {cell.notes for row in found.rows for cell in row.cells} == {()}

    def test_methods_without_published_results(self):
        with pytest.raises(ValueError, match="no results of k-means"):
            tables.TABLES[0].printed(METHODS["kmeans"], tables.TABLES[0].cells[0])

    def test_parts_of_a_table_are_joined(self, records):
        titles = [each.title for each in grid.grids(records)]
        assert titles[1] == "Table 4. Extended Yale B, 10 draws; penDigits, 10 draws"
        assert grid.grids(records)[1].columns == ("Extended Yale B, 8 persons", "penDigits")
        assert len(titles) == 3
        assert rows_of(records, 1)["LBF"].cells[1] == grid.Shown(paper="0.53 (13.33 s)")

    def test_digits_of_seconds(self):
        shown = [grid.Shown(seconds=grid.rounded_seconds(value)) for value in (0.046, 0.999, 1.26, 12.7, 2000)]
        assert [cell.seconds_text for cell in shown] == ["0.05 s", "1.0 s", "1.3 s", "13 s", "2,000 s"]


class TestPages:
    def test_text(self, records):
        text = page.text_page(grid.grids(records))
        assert "0.995* (2.0 s*)" in text
        assert "Table 3. MNIST" in text
        assert "N/A" in text

    def test_html_is_escaped_and_self_contained(self, records):
        html = page.html(records, {"tradeoff": b"\x89PNG"})
        assert "H&lt;2&gt;00 | *GPU*" in html
        assert "H<2>" not in html
        assert "<b>0.995</b> (<b>2.0 s</b>)" in html
        assert '<small class="paper">paper 0.99 (15 s)</small>' in html
        assert 'src="data:image/png;base64,iVBORw' in html
        assert "http" not in html
        assert html.count('<tr class="given">') == 6

    def test_markdown_is_escaped(self, records):
        text = page.markdown(records, {"robustness": "robustness.png"}, "make reproduce")
        assert "on H&lt;2&gt;00 \\| \\*GPU\\*" in text
        assert "**0.995** (**2.0 s**)<br>0.990–0.999<br>paper 0.99 (15 s)" in text
        assert "![Robustness](robustness.png)" in text
        tables = [line for line in text.splitlines() if line.startswith("|")]
        assert {line.replace("\\|", "").count("|") for line in tables} == {4, 5, 8}

    def test_notes_on_the_pages(self, records):
        for text in (page.html(records, {}), page.markdown(records, {}, "make reproduce")):
            assert "one core" in text
            assert "2 processes of 1 BLAS thread each" in text
            assert "iven d” marks" in text
            assert "given d, the dimension of the subspaces, as in the paper" in text
            assert "FLS, LBF, SSC and SSSC are not tuned" in text

    def test_results_of_other_code(self, tmp_path):
        record = keep(tmp_path, "pendigits", tables.table_tasks("pendigits", ["fls", "lbf"], 2, "cpu"))
        assert page.older_results({"pendigits": record}) == []
        record["cells"]["penDigits"]["fls"]["draws"][0]["source"] = "another"
        (line,) = page.older_results({"pendigits": record})
        assert line.startswith(f"{page.OLDER} pendigits (1 of 4 draws).")
        for draw in (draw for entry in record["cells"]["penDigits"].values() for draw in entry["draws"]):
            draw.pop("source")
        assert page.older_results({"pendigits": record})[0].startswith(f"{page.OLDER} pendigits. ")
        assert page.OLDER in page.markdown({"pendigits": record}, {}, "make reproduce")
        assert page.OLDER in page.html({"pendigits": record}, {})

    def test_no_results(self, tmp_path):
        assert page.read_records(tmp_path) == {}
        assert grid.grids({}) == []

    def test_pages_with_curves_only(self, tmp_path):
        keep(tmp_path, "robustness", robustness.robustness_tasks(["fls"], 1)[:2])
        assert "Table" not in page.markdown(page.read_records(tmp_path), {}, "make reproduce")


class TestPictures:
    def test_robustness(self, tmp_path):
        record = keep(tmp_path, "robustness", robustness.robustness_tasks(["fls", "kmeans"], 2))
        found = pictures.points(record)
        assert list(found) == list(robustness.AXES)
        assert [point.value for point in found["outliers"]["fls"]] == [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6]
        assert found["noise"]["fls"][0].high == pytest.approx(0.991)
        assert pictures.draw_robustness(record).startswith(b"\x89PNG")

    def test_tradeoff(self, tmp_path):
        record = keep(tmp_path, "tradeoff", tradeoff.tradeoff_tasks(tradeoff.TRADEOFF_METHODS, 1))
        assert pictures.draw_tradeoff(record).startswith(b"\x89PNG")

    def test_reading(self, tmp_path):
        record = keep(tmp_path, "reading", reading.reading_tasks(["fls-paper"], 1))
        found = pictures.points(record)
        assert set(found["sigma"]) == set(reading.CELLS)
        assert [point.value for point in found["landmarks"]["MNIST 4,9"]] == list(reading.LANDMARKS)
        assert pictures.draw_reading(record).startswith(b"\x89PNG")
        assert pictures.draw_reading(Kept(tmp_path, "tradeoff").read()).startswith(b"\x89PNG")

    def test_unknown_series_are_ignored(self, tmp_path):
        record = keep(tmp_path, "tradeoff", tradeoff.tradeoff_tasks(["fls"], 1)[:2])
        for entry in record["cells"]["(4, 5, 6) in R¹⁰, 30 % outliers"].values():
            entry["tags"]["series"] = "kmeans"
        assert pictures.draw_tradeoff(record).startswith(b"\x89PNG")

    def test_nothing_measured_yet(self, tmp_path):
        assert pictures.draw_tradeoff(Kept(tmp_path, "tradeoff").read()).startswith(b"\x89PNG")


class TestDocs:
    @pytest.fixture
    def tables(self, monkeypatch):
        monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
        import tables

        return tables

    def test_docs_page_is_up_to_date(self, tables):
        made, file = tables.paper_page(), ROOT / "docs" / "paper.md"
        assert tables.without_marks(file.read_text()) == tables.without_marks(made)

    def test_page_of_stored_results(self, tables, results, tmp_path):
        assert tables.paper_page(tmp_path) is None
        assert "Table 4" in tables.paper_page(results)


@pytest.fixture
def quick(monkeypatch):
    monkeypatch.setattr(measure, "measure", fake)
    monkeypatch.setattr("subspaces.paper.reproduce.data.fetch", lambda names: None)


def no_process_left(group):
    """Whether all processes of the group end; Python's own tracker of resources takes a moment."""
    for _ in range(100):
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.05)
    return False


class TestCommand:
    def test_tables_and_stored_results(self, tmp_path, quick, capsys):
        out = tmp_path / "new" / "folder"
        arguments = ["reproduce", "synthetic", "faces", "--draws", "1", "--jobs", "1", "--methods", "fls,LBF"]
        assert cli.main([*arguments, "--out", str(out)]) == 0
        captured = capsys.readouterr()
        for expected in ("Table 1.", "Table 2.", "Table 4.", "0.990* (2.0 s*)", "0.99 (0.81 s)", "paper.html"):
            assert expected in captured.out
        assert "SSC" not in captured.out.replace("SSSC", "")
        assert captured.err.count(" left: ") == 18
        assert sorted(path.name for path in out.iterdir()) == ["faces.json", "paper.html", "synthetic.json"]
        assert cli.main([*arguments, "--out", str(out)]) == 0
        again = capsys.readouterr()
        assert again.out == captured.out
        assert again.err.count(" left: ") == 0

    def test_figures_of_curves(self, tmp_path, quick, capsys):
        arguments = ["reproduce", "robustness", "tradeoff", "--draws", "1", "--jobs", "1", "--methods", "fls"]
        assert cli.main([*arguments, "--out", str(tmp_path)]) == 0
        assert capsys.readouterr().out.count("figure: ") == 2
        for name in ("robustness.png", "tradeoff.png"):
            assert (tmp_path / name).read_bytes().startswith(b"\x89PNG")

    def test_theory(self, tmp_path, monkeypatch, capsys):
        asked = []

        def curves(*, small, random_state):
            asked.append((small, random_state))
            progress.advance("theory", 0, 1, detail="a step")
            return {"uniform": {"n_features": [10, 20], "error": [0.5, 0.25]}}

        def draw(curves, path):
            assert curves["uniform"]["error"] == [0.5, 0.25]
            Path(path).write_bytes(b"\x89PNG")

        monkeypatch.setattr(theory, "curves", curves)
        monkeypatch.setattr(theory, "draw", draw)
        for _ in range(2):
            assert cli.main(["reproduce", "theory", "--out", str(tmp_path)]) == 0
        assert asked == [(False, 0)]
        assert json.loads((tmp_path / "theory.json").read_text())["curves"]["uniform"]["n_features"] == [10, 20]
        assert sorted(path.name for path in tmp_path.iterdir()) == ["paper.html", "theory.json", "theory.png"]
        captured = capsys.readouterr()
        assert "a step" in captured.err
        assert "theory.png" in captured.out

    @pytest.mark.parametrize(
        "curves",
        [
            {},
            {name: {"parameters": {}} for name in CLAIMS},
            {name: [] for name in CLAIMS},
            {name: {"families": {}} for name in CLAIMS},
            {name: {"families": {"Fourier": {"sizes": [1, 2], "measures": {"max": [[1.0]]}}}} for name in CLAIMS},
        ],
        ids=["nothing", "no families", "lists", "empty", "sizes"],
    )
    def test_damaged_curves_raise_early(self, tmp_path, curves, quick, monkeypatch, capsys):
        from subspaces.paper.reproduce.theory import ARGUMENTS

        record = {"experiment": "theory", "format": 1, "environments": [], "fingerprint": fingerprint(ARGUMENTS)}
        (tmp_path / "theory.json").write_text(json.dumps({**record, "curves": curves}))
        monkeypatch.setattr(measure, "measure", lambda task: pytest.fail("work was done"))
        assert cli.main(["reproduce", "theory", "faces", "--jobs", "1", "--out", str(tmp_path)]) == 2
        assert "theory.json is damaged: delete or move it" in capsys.readouterr().err.splitlines()[-1]
        assert [path.name for path in tmp_path.iterdir()] == ["theory.json"]

    def test_interrupt_keeps_finished_draws(self, tmp_path, quick, monkeypatch, capsys):
        def interrupted(task):
            if task.seed == 2:
                raise KeyboardInterrupt
            return fake(task)

        arguments = ["reproduce", "faces", "--jobs", "1", "--methods", "fls", "--out", str(tmp_path)]
        monkeypatch.setattr(measure, "measure", interrupted)
        assert cli.main(arguments) == 130
        assert capsys.readouterr().err.splitlines()[-1] == "interrupted"
        monkeypatch.setattr(measure, "measure", fake)
        assert cli.main(arguments) == 0
        assert "2 of 10 draws are already stored" in capsys.readouterr().err

    @pytest.mark.skipif(sys.platform == "win32", reason="no SIGINT to a process")
    @pytest.mark.slow
    def test_interrupt_stops_all_processes(self, tmp_path):
        arguments = ["reproduce", "synthetic", "--jobs", "2", "--methods", "lbf-paper", "--out", str(tmp_path)]
        process = subprocess.Popen(
            [sys.executable, "-m", "subspaces", *arguments], stderr=subprocess.PIPE, text=True, start_new_session=True
        )
        while " left: " not in process.stderr.readline():
            assert process.poll() is None
        # Send the signal to the whole group, as a terminal does.
        os.killpg(process.pid, signal.SIGINT)
        assert process.communicate(timeout=20)[1].splitlines()[-1] == "interrupted"
        assert process.returncode == 130
        assert no_process_left(process.pid)
        assert Kept(tmp_path, "synthetic").read()["cells"]

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (["nothing"], "is not an experiment"),
            (["faces", "--methods", "fls,nothing"], "nothing is not known"),
            (["faces", "--methods", ","], "is empty"),
            (["faces", "--methods", ""], "--methods: it is empty"),
            (["--methods", "ssc,ssc,x,y"], "x, y are not known"),
            (["faces", "--methods", "kmeans"], "offers only fls"),
            (["faces", "--draws", "0"], "--draws: 0 must be"),
            (["--draws", "99999999999"], "--draws 99999999999 must be between 1 and 1,000"),
            (["faces", "--jobs", "-1"], "--jobs: -1 must be"),
        ],
    )
    def test_invalid_arguments(self, arguments, message, tmp_path, capsys):
        assert cli.main(["reproduce", *arguments, "--out", str(tmp_path)]) == 2
        error = capsys.readouterr().err
        assert message in error
        assert error.count("\n") == 1
        assert list(tmp_path.iterdir()) == []

    def test_damaged_file_raises_early(self, tmp_path, quick, monkeypatch, capsys):
        (tmp_path / "faces.json").write_text("{")
        monkeypatch.setattr(measure, "measure", lambda task: pytest.fail("work was done"))
        for table in ("faces", "synthetic"):
            assert cli.main(["reproduce", table, "--jobs", "1", "--out", str(tmp_path)]) == 2
            error = capsys.readouterr().err
            assert "faces.json is damaged" in error
            assert error.count("\n") == 1

    def test_skipped_methods_are_reported(self, tmp_path, quick, capsys):
        arguments = ["--methods", "fls,kmeans", "--draws", "1", "--jobs", "1", "--out", str(tmp_path)]
        assert cli.main(["reproduce", "faces", "beyond", *arguments]) == 0
        error = capsys.readouterr().err
        assert "faces: skipping kmeans; available methods are fls, lbf" in error
        assert "beyond: skipping" not in error

    def test_selected_methods_skip_the_theory(self, tmp_path, quick, monkeypatch):
        asked = []
        monkeypatch.setattr(
            "subspaces.paper.reproduce.theory.reproduce_theory", lambda out, **options: asked.append(out)
        )
        arguments = ["--methods", "sssc", "--draws", "1", "--jobs", "1", "--out", str(tmp_path)]
        for which in ([], ["all"]):
            assert cli.main(["reproduce", *which, *arguments]) == 0
        assert asked == []
        assert cli.main(["reproduce", "theory", "faces", *arguments]) == 0
        assert asked == [tmp_path]

    @pytest.mark.parametrize("name", ["paper.html", "synthetic.json", "tradeoff.png"])
    def test_folder_in_place_of_a_file(self, name, tmp_path, quick, monkeypatch, capsys):
        (tmp_path / name).mkdir()
        monkeypatch.setattr(measure, "measure", lambda task: pytest.fail("work was done"))
        assert cli.main(["reproduce", "synthetic", "--jobs", "1", "--out", str(tmp_path)]) == 2
        error = capsys.readouterr().err
        assert f"{name} is a folder" in error
        assert error.count("\n") == 1

    def test_file_in_place_of_the_folder(self, tmp_path, quick, capsys):
        (tmp_path / "file").write_text("")
        assert cli.main(["reproduce", "faces", "--out", str(tmp_path / "file")]) == 2
        assert "choose a folder" in capsys.readouterr().err

    def test_missing_data_raise_early(self, tmp_path, monkeypatch, capsys):
        monkeypatch.setenv("SUBSPACES_DATA", str(tmp_path / "none"))
        assert cli.main(["reproduce", "faces", "--out", str(tmp_path)]) == 2
        error = capsys.readouterr().err
        assert "yaleb_48x42.npz" in error
        assert error.count("\n") == 1

    def test_missing_device(self, tmp_path, quick, monkeypatch, capsys):
        monkeypatch.setitem(sys.modules, "torch", None)
        assert cli.main(["reproduce", "faces", "--device", "cuda", "--out", str(tmp_path)]) == 2
        assert "needs torch" in capsys.readouterr().err

    def test_default_is_all_experiments(self):
        assert command.chosen_experiments([]) == command.chosen_experiments(["all"]) == list(page.EXPERIMENTS)
        assert command.chosen_experiments(["mnist", "mnist", "faces"]) == ["mnist", "faces"]

    def test_help_imports_no_heavy_packages(self):
        code = (
            "import sys, json\nfrom subspaces.cli import main\n"
            "try:\n    main(['reproduce', '--help'])\nexcept SystemExit:\n    pass\n"
            "print(json.dumps(sorted({name.partition('.')[0] for name in sys.modules})))"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        assert not {"numpy", "sklearn", "scipy"} & set(json.loads(done.stdout.splitlines()[-1]))
