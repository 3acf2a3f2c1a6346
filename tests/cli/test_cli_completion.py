"""Shell completion."""

import subprocess
import sys

import pytest

from subspaces import cli
from subspaces.cli.commands.completion import VARIABLE


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_scripts(shell, capsys):
    assert cli.main(["completion", shell]) == 0
    assert f"{VARIABLE}={shell}_complete" in capsys.readouterr().out


def test_bash_accepts_the_script(capsys):
    assert cli.main(["completion", "bash"]) == 0
    subprocess.run(["bash", "-n"], input=capsys.readouterr().out, text=True, check=True)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("subspaces f", {"plain,fit"}),
        ("subspaces fit --wh", {"plain,--whiten", "plain,--whiten-drop"}),
        ("subspaces fit rows.csv --method l", {"plain,lbf", "plain,landmark", "plain,lsr", "plain,lrsc"}),
        ("subspaces fit rows.csv --missing ", {"plain,error", "plain,drop", "plain,mean"}),
        ("subspaces fit ro", {"file,ro"}),
        ("subspaces report r", {"dir,r"}),
        ("subspaces data get d", {"plain,digits"}),
        ("subspaces completion z", {"plain,zsh"}),
    ],
)
def test_completions(line, expected, monkeypatch, capsys):
    words = line.split(" ")
    monkeypatch.setenv(VARIABLE, "bash_complete")
    monkeypatch.setenv("COMP_WORDS", line)
    monkeypatch.setenv("COMP_CWORD", str(len(words) - 1))
    assert cli.main([]) == 0
    assert set(capsys.readouterr().out.split()) == expected


def test_completing_imports_nothing_slow():
    code = (
        "import os, sys\n"
        f"os.environ.update({VARIABLE}='bash_complete', COMP_WORDS='subspaces fit --m', COMP_CWORD='2')\n"
        "from subspaces.cli import main\nmain([])\nprint(*sys.modules)"
    )
    finished = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"numpy", "sklearn", "rich"} & set(finished.stdout.splitlines()[-1].split())
