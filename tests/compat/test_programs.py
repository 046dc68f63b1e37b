"""Whole programs written for PyTorch: `badak run` prints what PyTorch printed (recorded in expected/)."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

HERE = Path(__file__).resolve().parent
PROGRAMS = sorted(path.stem for path in (HERE / "programs").glob("*.py"))
NUMBER = re.compile(r"-?\d+\.\d+(?:e-?\d+)?")


def assert_same(printed: str, expected: str, tolerance: float = 2e-4) -> None:
    """Equal but for the last digit of printed fractions, which is that of another order of a sum."""
    assert NUMBER.sub("x", printed) == NUMBER.sub("x", expected)
    pairs = zip(NUMBER.findall(printed), NUMBER.findall(expected))
    wrong = [(a, b) for a, b in pairs if abs(float(a) - float(b)) > tolerance * max(1.0, abs(float(b)))]
    assert not wrong


@pytest.mark.thin(5)
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_prints_what_it_prints_with_pytorch(name, badak_run):
    done = badak_run(HERE / "programs" / f"{name}.py")
    assert done.code == 0, done.err
    assert_same(done.out, (HERE / "expected" / f"{name}.txt").read_text(encoding="utf-8"))


@pytest.mark.thin(2)
@pytest.mark.parametrize("name", PROGRAMS)
def test_what_is_recorded_is_what_pytorch_prints(name):
    command = [sys.executable, "-W", "ignore", HERE / "programs" / f"{name}.py"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
    assert_same(done.stdout, (HERE / "expected" / f"{name}.txt").read_text(encoding="utf-8"))


@pytest.mark.thin(4)
@pytest.mark.parametrize("name", PROGRAMS)
def test_the_check_finds_all_they_use(name, badak_run):
    done = badak_run("--check", HERE / "programs" / f"{name}.py")
    assert done.code == 0
    assert "missing" not in done.out
