"""A mistake in a notebook shows the lines of the cell and the two lines of the message, as IPython shows it."""

import pytest

import badak
from badak.core.errors import PACKAGE

SHELL = """
import sys
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
shell.colors = "NoColor"
shell.run_cell("import badak\\nfrom badak import nn\\nimport badak.nn.functional as F")
for cell in sys.argv[1:]:
    print("=====")
    shell.run_cell(cell)
"""
CELLS = {  # what is typed: what must be said, and how many lines at most
    "F.cross_entropy(badak.randn(4, 3), badak.tensor([0, 1, 5, 0]))": ("Target 5 is out of bounds", 6),
    "nn.Linear(3, 2)(badak.randn(2, 4))": ("fix: ", 6),
    "def f(x):\\n    return x @ x\\nf(badak.randn(2, 3))": ("fix: ", 8),
    "nn.MultiHeadAttention(8, 2)": ("did you mean 'MultiheadAttention'?", 6),
    "badak.randn(10)[:5.0]": ("stop is 5.0", 6),
    "badak.ones(2).sum(dims=0)": ("did you mean 'dim'?", 6),
    "badak.lobpcg": ("fix: ", 6),
}


def lines_of(error: BaseException) -> list[str]:
    return error._render_traceback_()


def mistake(text: str) -> BaseException:
    with pytest.raises(Exception) as caught:  # noqa: PT011
        exec(compile(text.replace("\\n", "\n"), "<cell>", "exec"), {"badak": badak, "nn": badak.nn, "F": badak.nn.functional})
    return caught.value


@pytest.mark.parametrize("cell", CELLS)
def test_what_ipython_asks_an_error_for_is_short(cell):
    said, most = CELLS[cell]
    shown = lines_of(mistake(cell))
    assert said in "\n".join(shown) and len(shown) <= most + 4
    assert not [line for line in shown if PACKAGE in line]
    assert '  File "<cell>", line ' in "\n".join(shown)


@pytest.mark.slow
def test_ipython_shows_the_cell_and_the_message(python):
    pytest.importorskip("IPython")
    done = python("-c", SHELL, *(cell.replace("\\n", "\n") for cell in CELLS))
    parts = done.out.split("=====\n")[1:]
    assert len(parts) == len(CELLS), done.err
    for part, (said, most) in zip(parts, CELLS.values()):
        assert said in part and "/badak/" not in part and len(part.strip().splitlines()) <= most, part
