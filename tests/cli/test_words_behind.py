"""Words behind a target that is no program: refused in two lines, with the line to type; nothing that was typed is dropped."""

import pytest

from badak.cli import main
from badak.cli.options import no_arguments
from badak.core.errors import ArgumentError


@pytest.mark.parametrize("words", [["--kind", "causal"], ["--depth", "-1"], ["--steps=3"], ["-n", "2"], ["more"]])
@pytest.mark.parametrize("command", ["audit", "summary", "profile"])
def test_nothing_behind_a_run_is_dropped(command, words, tmp_path, capsys):
    (tmp_path / "run").mkdir()
    target = str(tmp_path / "run")
    code = main([command, target, *words])
    said = capsys.readouterr().err.splitlines()
    assert code == 2 and len(said) == 2 and said[0].startswith("error: ") and said[1].startswith("fix: ")
    known = command == "profile" and words == ["--steps=3"]  # its own options may stand anywhere
    assert known or " ".join(words) in said[0], said
    if words[0].startswith("-") and not known:
        assert f"badak {command} {' '.join(words)} {target}" in said[1]


def test_a_target_alone_is_fine():
    no_arguments("audit", "run", [])
    with pytest.raises(ArgumentError, match="audit: run is no program, so --kind x is for nobody\nfix: .*badak audit --kind x run"):
        no_arguments("audit", "run", ["--kind", "x"])


@pytest.mark.parametrize("typed, meant", [("trian", "train"), ("TRAIN", "train"), ("evla", "eval"), ("fill_mask", "fill-mask")])
def test_a_command_that_is_nearly_one_is_named(typed, meant, capsys):
    assert main([typed]) == 2
    assert f"Did you mean '{meant}'?" in capsys.readouterr().err
