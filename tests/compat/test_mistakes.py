"""What is said of mistakes: PyTorch's classes are caught, and there is a fix."""

from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

HERE = Path(__file__).resolve().parent


def rows(text: str) -> dict[str, list[str]]:
    """name: [classes, what was said]"""
    return {line.split(" | ")[0]: line.split(" | ")[1:] for line in text.splitlines()}


def test_every_error_is_one_that_an_except_written_for_pytorch_catches(badak_run):
    theirs = rows((HERE / "expected" / "mistakes.txt").read_text(encoding="utf-8"))
    ours = rows(badak_run(HERE / "mistakes.py").out)
    assert ours.keys() == theirs.keys()
    assert not [name for name in ours if not set(theirs[name][0].split()) <= set(ours[name][0].split())]
    assert not [name for name in ours if "fix: " not in ours[name][1] and name != "an empty state_dict"]
