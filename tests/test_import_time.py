"""`import badak` stays light: what it pulls in is counted, since a time would depend on the machine."""

import subprocess
import sys

import pytest

HEAVY = {"numba", "llvmlite", "matplotlib", "click", "tqdm", "pooch", "requests", "PIL", "torch", "scipy"}
SCRIPT = """
import sys
before = set(sys.modules)
import numpy
light = set(sys.modules)
import badak
print(len(set(sys.modules) - light), *sorted({name.split(".")[0] for name in set(sys.modules) - before}))
"""


def imported() -> tuple[int, set[str]]:
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True)
    count, *names = done.stdout.split()
    return int(count), set(names)


@pytest.mark.slow
def test_importing_badak_imports_no_compiler_no_plots_and_no_command_line():
    assert not imported()[1] & HEAVY


def test_importing_badak_imports_few_modules():
    assert imported()[0] < 520
