"""The first call of a model in an unchanged program: which module, with what, and what is said where there is none."""

import pytest

pytestmark = pytest.mark.slow

SHOW = """
import sys
from badak.core.errors import BadakError
from badak.compat.torch.first_call import first_call
from badak.nn import Module
try:
    call = first_call(sys.argv[1], sys.argv[2:])
except BadakError as error:
    print(error)
else:
    print(type(call.model).__name__, [tuple(x.shape) for x in call.args], sorted(call.kwargs))
print(Module.__call__.__name__)
"""
MODEL = """
import sys, torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 2, 3)
        self.out = nn.Linear(self.conv(torch.zeros(1, 1, 5, 5)).numel(), 3)

    def forward(self, x, scale=1):
        print("reached the inside")
        return self.out(self.conv(x).flatten(1)) * scale
"""


@pytest.fixture
def shown(python, program):
    """shown(text, *arguments): what `first_call` says of that program, and its stderr."""

    def show(text: str, *arguments: str) -> tuple[list[str], str]:
        done = python("-c", SHOW, program(text), *arguments)
        assert done.code == 0, done.err
        *lines, name = done.out.splitlines()
        assert name == "__call__"  # as it was
        return [line.replace(str(program(text)), "program.py") for line in lines], done.err

    return show


def test_it_is_the_first_module_with_parameters_outside_of_constructors(shown):
    text = MODEL + "print('before', *sys.argv[1:])\nx = nn.Flatten(0, 0)(torch.ones(4, 1, 5, 5))\nNet()(x, scale=2)\nprint('after')"
    assert shown(text, "--lr", "1") == (["Net [(4, 1, 5, 5)] ['scale']"], "before --lr 1\n")


@pytest.mark.thin(3)
@pytest.mark.parametrize(
    "ending, said",
    [
        ("", "ended"),
        ("sys.exit()", "ended"),
        ("sys.exit(3)", "ended with exit code 3"),
        ("1 / 0", "failed with ZeroDivisionError: division by zero,"),
        ("torch.ones(2) @ torch.ones(3)", "failed with ShapeError: "),
    ],
)
def test_a_program_without_one_is_two_lines(ending, said, shown):
    cause, fix = shown(MODEL + ending)[0]
    assert cause.startswith(f"program.py: {said}") and cause.endswith(" before it called a module that has parameters")
    assert fix == "fix: badak run program.py shows what it does"


def test_a_file_that_is_not_there(python):
    done = python("-c", SHOW, "nowhere.py")
    assert done.out.startswith("badak run: nowhere.py: No such file or directory\nfix: ")
