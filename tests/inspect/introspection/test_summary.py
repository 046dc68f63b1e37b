"""`badak summary`: FLOPs against PyTorch's counter, activations against the memory that NumPy has handed out, and its words."""

import gc
import subprocess
import sys
import tracemalloc

import numpy as np
import pytest
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

import badak
from badak import kernels, nn
from badak.cli import main
from badak.core.errors import ArgumentTypeError
from badak.inspect.introspection.summary import summary
from badak.models import GPT, GPTConfig
from badak.nn import functional as F

CASES = {
    "mlp": (lambda nn: nn.Sequential(nn.Linear(6, 8), nn.GELU(), nn.LayerNorm(8), nn.Linear(8, 3)), (5, 6)),
    "conv": (lambda nn: nn.Sequential(nn.Conv2d(2, 4, 3, stride=2), nn.ReLU(), nn.ConvTranspose2d(4, 3, 2)), (2, 2, 9, 9)),
    "encoder": (lambda nn: nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True), (3, 5, 8)),
    "stack": (lambda nn: nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, 0.0), 2, None, False), (5, 3, 8)),
    "dilated": (lambda nn: nn.Sequential(nn.Conv1d(4, 6, 3, dilation=2, padding=2), nn.Tanh(), nn.Conv1d(6, 2, 1)), (2, 4, 9)),
    "volume": (lambda nn: nn.Sequential(nn.Conv3d(2, 4, 2, 2), nn.Flatten(), nn.Linear(32, 5)), (3, 2, 4, 4, 4)),
    "patches": (lambda nn: nn.Sequential(nn.Conv2d(3, 8, 4, 4), nn.Flatten(2), nn.Linear(4, 8), nn.RMSNorm(8)), (2, 3, 8, 8)),
    "residual": (lambda nn: nn.Sequential(nn.Linear(8, 8), nn.Softmax(-1), nn.Linear(8, 20, bias=False)), (2, 7, 8)),
    "conv1d": (lambda nn: nn.Sequential(nn.Conv1d(3, 6, 3, padding=1), nn.BatchNorm1d(6), nn.MaxPool1d(2)), (2, 3, 8)),
}  # fmt: skip
GROUPED = {
    "grouped": (lambda nn: nn.Sequential(nn.Conv2d(4, 8, 3, groups=2), nn.SiLU(), nn.Conv2d(8, 8, 3, groups=8)), (2, 4, 9, 9)),
    "spread": (lambda nn: nn.Sequential(nn.ConvTranspose2d(4, 6, 3, stride=2, groups=2), nn.ReLU()), (2, 4, 5, 5)),
}  # fmt: skip


def theirs(make, shape) -> tuple[int, int, int]:
    """(parameters, forward FLOPs, backward FLOPs) as PyTorch counts them, attention as matrix products."""
    model, x = make(torch.nn), torch.randn(shape)
    counted = FlopCounterMode(display=False)
    with sdpa_kernel(SDPBackend.MATH):
        with counted:
            y = model(x)
        forward = counted.get_total_flops()
        with counted:
            y.sum().backward()
    return sum(p.numel() for p in model.parameters()), forward, counted.get_total_flops()


@pytest.mark.parametrize("name", CASES)
def test_flops_and_parameters_are_those_that_pytorch_counts(name):
    make, shape = CASES[name]
    found = summary(make(nn), badak.randn(*shape))
    assert (found.parameters, found.forward, found.backward) == theirs(make, shape)
    assert found.rows[0].flops == found.forward and found.trainable == found.parameters


@pytest.mark.parametrize("name", GROUPED)
def test_flops_of_convolutions_in_groups(name):
    """PyTorch's forward. Its counter takes the gradient of the weights for one of a single group: each one costs the forward."""
    make, shape = GROUPED[name]
    found = summary(make(nn), badak.randn(*shape).requires_grad_())
    parameters, forward, backward = theirs(make, shape)
    assert (found.parameters, found.forward, found.backward) == (parameters, forward, 2 * forward)
    assert backward > forward


def test_flops_of_what_pytorchs_counter_does_not_know():
    lstm = summary(nn.LSTM(4, 6), badak.randn(5, 3, 4))
    assert lstm.forward == 2 * 5 * 3 * 24 * (4 + 6)  # the gates of all steps, from the input and from the state

    class Two(nn.Module):
        def forward(self, a, b):
            return badak.einsum("bij,bjk->bik", a, b)

    two = summary(Two(), badak.randn(2, 3, 4).requires_grad_(), badak.randn(2, 4, 5))
    assert (two.forward, two.backward) == (2 * 2 * 3 * 4 * 5, 2 * 2 * 3 * 4 * 5)


@pytest.mark.thin(2)
@pytest.mark.slow
@pytest.mark.parametrize("name", ["mlp", "conv", "encoder", "conv1d"])
def test_activations_are_the_memory_that_a_forward_leaves(name):
    make, shape = CASES[name]
    model, x = make(nn), badak.randn(*shape)
    with kernels.use("reference"):
        found = summary(model, x)
        model(x)
        gc.collect()
        tracemalloc.start()
        before = _numpys_bytes()
        y = model(x)
        gc.collect()
        kept = _numpys_bytes() - before
        tracemalloc.stop()
    assert y.requires_grad
    result = y._array.nbytes  # we hold it ourselves; it may be an activation as well
    small = sum(p._array.nbytes for p in model.parameters())  # a transposed copy of weights is no activation of ours
    assert found.activations <= kept + result + small and kept - result <= found.activations + small


def _numpys_bytes() -> int:
    domain = tracemalloc.DomainFilter(True, np.lib.tracemalloc_domain)
    return sum(trace.size for trace in tracemalloc.take_snapshot().filter_traces([domain]).traces)


def test_it_leaves_no_trace():
    model = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4), nn.Dropout(0.5))
    buffers = [x.clone() for x in model.buffers()]
    badak.manual_seed(3)
    summary(model, badak.randn(5, 4))
    after = badak.rand(3)
    badak.manual_seed(3)
    badak.randn(5, 4)
    assert badak.equal(after, badak.rand(3)) and all(map(badak.equal, buffers, model.buffers()))
    assert all(p.grad is None for p in model.parameters()) and nn.Module.__call__.__name__ == "__call__"


def test_shared_weights_count_once_and_frozen_ones_are_told():
    model = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 4))
    model[1].weight = model[0].weight
    model[1].bias.requires_grad_(False)
    found = summary(model, badak.randn(2, 4))
    assert (found.parameters, found.trainable) == (24, 20)
    assert (found.weights, found.gradients, found.moments) == (96, 80, 160)
    assert found.training == 96 + 80 + 160 + found.activations
    assert "24, 4 of them not trained" in str(found)


def test_a_table_that_tells_alike_layers_once():
    found = summary(GPT(GPTConfig(vocab_size=10, context=8, d_model=8, heads=2, layers=3)), badak.zeros(2, 8, dtype=badak.long))
    lines = str(found).splitlines()
    assert lines[0].split() == ["module", "output", "parameters", "FLOPs", "activations"]
    assert sum("Block" in line for line in lines) == 1 and any("0: Block  and 2 more like it" in line for line in lines)
    assert lines[-6] == "batch       int64 (2, 8)" and lines[-1].strip().endswith("in training, with this batch")
    heads = [line.split()[0] for line in found.table(depth=1).splitlines()[1:7]]
    assert heads == ["GPT", "token:", "position:", "drop:", "blocks:", "norm:"]
    assert found._repr_html_().count("<tr>") == len(found.lines()) + 1


def test_what_is_no_module_is_refused():
    with pytest.raises(ArgumentTypeError) as told:
        summary(F.relu, badak.ones(2))
    assert str(told.value) == "summary: expected a Module first; got function\nfix: badak.summary(model, batch)"


@pytest.mark.slow
def test_the_command_of_a_run_and_of_a_folder(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    sizes = ["--d-model", "16", "--layers", "1", "--heads", "2"]
    assert main(["train", "gpt", "--preset", "sentences", "--epochs", "1", *sizes]) == 0
    capsys.readouterr()
    assert main(["summary", "runs/gpt"]) == 0
    out = capsys.readouterr().out
    assert out.splitlines()[1].startswith("GPT ") and "in training, with this batch" in out
    assert main(["summary", "nowhere"]) == 2
    assert capsys.readouterr().err == (
        "error: nowhere: no such file or folder\nfix: badak summary RUN, or badak summary train.py\n"
    )
    GPT(GPTConfig(vocab_size=10, context=8, d_model=8, heads=2, layers=1)).save_pretrained("folder")
    assert main(["summary", "--depth", "0", "folder"]) == 0
    assert "int64 (1, 8)" in capsys.readouterr().out


@pytest.mark.slow
def test_the_command_of_an_unchanged_program(tmp_path):
    program = tmp_path / "train.py"
    program.write_text(
        "import sys, torch\nfrom torch import nn\nprint('begins', sys.argv[1:])\n"
        "model = nn.Sequential(nn.Linear(4, 8), nn.ReLU())\n"
        "model(torch.randn(3, 4))\nraise SystemExit('never')\n"
    )
    done = subprocess.run([sys.executable, "-m", "badak", "summary", str(program), "--lr", "1"], capture_output=True, text=True)
    assert done.returncode == 0 and done.stderr == "begins ['--lr', '1']\n"
    assert "0: Linear" in done.stdout and "(3, 8)" in done.stdout and "float32 (3, 4)" in done.stdout
