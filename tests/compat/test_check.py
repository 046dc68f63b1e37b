"""`badak run --check`: what a program uses of torch, read from its source."""

import pytest

from badak.compat.torch.check import check, methods

PROGRAM = """
import torch
import torch.nn as nn, torch.optim as optim
from torch.nn import functional as F, Linear as L
from torch.utils.data import DataLoader
import numpy as np
try:
    from torch.utils.model_zoo import load_url
except ImportError:
    pass
rnn = torch.nn.utils.rnn

class Net(nn.Module):
    def forward(self, x):
        y = F.relu(x) + torch.float32.itemsize
        return rnn.pad_sequence([y]).to_mkldnn(), np.to_sparse(), x.index(1), torch.quantization(y), nn.Container

def ldl_factor(a): ...
torch.linalg.ldl_factor
"""


def test_every_name_is_found_with_its_place(program):
    uses = {use.name: use for use in check(program(PROGRAM))}
    there = "torch torch.nn torch.optim torch.nn.functional torch.nn.Linear torch.utils.data.DataLoader torch.nn.Module"
    there += " torch.nn.functional.relu torch.float32.itemsize torch.nn.utils.rnn.pad_sequence torch.nn.utils.rnn"
    missing = "torch.utils.model_zoo.load_url torch.quantization torch.nn.Container torch.linalg.ldl_factor"
    assert set(uses) == {*there.split(), *missing.split()}
    assert {name for name, use in uses.items() if use.missing} == set(missing.split())
    assert uses["torch.quantization"].line == 16 and uses["torch.quantization"].path.endswith("program.py")
    assert uses["torch.utils.model_zoo.load_url"].tried and not uses["torch.quantization"].tried
    assert "badak.quantize" in uses["torch.quantization"].instead


def test_methods_that_a_tensor_would_not_have_are_perhaps_missing(program):
    assert [use.name for use in methods(program(PROGRAM))] == ["torch.Tensor.to_mkldnn"]


def test_files_beside_the_script_are_read_too(program):
    program("from torch import quantization", "models/deep.py")
    program("from .deep import quantization\nfrom . import deep", "models/__init__.py")
    program("import torch\ntorch.masked.as_nothing", "tools_of_mine.py")
    path = program("import models, tools_of_mine, os")
    assert {use.missing for use in check(path) if use.missing} == {"torch.quantization", "torch.masked.as_nothing"}


@pytest.mark.slow
def test_the_command_says_it_and_its_exit_code_too(badak_run, program):
    done = badak_run("--check", program("import torch\ntorch.quantization(torch.ones(1))"))
    assert done.code == 1
    assert done.out.splitlines()[0].endswith("program.py: 3 names of torch, 2 are there")
    assert "  missing   torch.quantization  program.py:2: badak.quantize(model): int8 or bfloat16 weights" in done.out


@pytest.mark.slow
def test_all_there_is_exit_code_0(badak_run, program):
    done = badak_run("--check", program("import torch\nprint(torch.ones(1))"))
    assert (done.code, done.out.count("missing")) == (0, 0)


@pytest.mark.slow
def test_what_is_not_python_is_said(badak_run, program):
    assert "is not Python" in badak_run("--check", program("x = = 1")).err
    assert "No such file" in badak_run("--check", "nowhere.py").err
