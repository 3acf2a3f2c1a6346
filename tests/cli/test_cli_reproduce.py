"""`subspaces reproduce`: options of the command; the experiments are tested in tests/paper."""

import pytest

from subspaces import cli
from subspaces.paper.reproduce import command


def test_options_are_passed_on(monkeypatch, tmp_path):
    seen = {}
    monkeypatch.setattr(command, "reproduce", lambda which, **options: seen.update(options, which=list(which)))
    words = ["synthetic", "theory", "--methods", "fls,lbf", "--draws", "3", "--jobs", "2", "--again"]
    assert cli.main(["reproduce", *words, "--out", str(tmp_path)]) == 0
    assert seen["which"] == ["synthetic", "theory"]
    assert (seen["methods"], seen["draws"], seen["jobs"], seen["again"]) == ("fls,lbf", 3, 2, True)
    assert (seen["out"], seen["device"]) == (tmp_path, "cpu")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["nothing"], "TABLE: 'nothing' is not an experiment"),
        (["--draws", "1001"], "--draws 1001 must be between 1 and 1,000"),
        (["--methods", "nothing"], "--methods nothing: nothing is not known"),
        (["--out", ""], "--out: it is empty"),
        (["--device", "tpu"], "--device: 'tpu' is not one of cpu, cuda"),
    ],
)
def test_mistakes_name_the_option(words, message, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert cli.main(["reproduce", *words]) == 2
    assert message in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
