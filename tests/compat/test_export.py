"""torch.export: the signature and the results are PyTorch's, sizes vary where they may, mistakes have two lines."""

import io

import numpy as np
import pytest
import torch

import badak
from badak import nn
from badak.compat.torch import export as ours
from badak.core.errors import ArgumentError, ArgumentTypeError, FileError, NotSupportedError, ShapeError, StateError
from badak.models.gpt import GPT, GPTConfig


def net(lib):
    return lib.nn.Sequential(lib.nn.Linear(2, 3), lib.nn.ReLU(), lib.nn.BatchNorm1d(3)).eval()


@pytest.mark.slow
def test_an_export_is_signed_as_pytorchs_and_gives_its_numbers():
    theirs, mine = net(torch), net(badak)
    mine.load_state_dict({name: badak.tensor(x.numpy()) for name, x in theirs.state_dict().items()})
    x, y = (np.random.default_rng(n).standard_normal((n, 2)).astype(np.float32) for n in (4, 9))
    their_dim, dim = torch.export.Dim("batch", min=1, max=64), ours.Dim("batch", min=1, max=64)
    expected = torch.export.export(theirs, (torch.tensor(x),), dynamic_shapes={"input": {0: their_dim}})
    found = ours.export(mine, (badak.tensor(x),), dynamic_shapes={"input": {0: dim}})
    for name in ("parameters", "buffers", "inputs_to_parameters", "inputs_to_buffers", "user_inputs"):
        assert getattr(found.graph_signature, name) == getattr(expected.graph_signature, name), name
    assert list(found.module().state_dict()) == list(expected.module().state_dict())
    result = found.module()(badak.tensor(y))
    np.testing.assert_allclose(result.detach().numpy(), expected.module()(torch.tensor(y)).detach().numpy(), rtol=1e-5, atol=1e-6)
    assert badak.equal(result, mine(badak.tensor(y)))
    lifted = found.graph_module(*found.state_dict.values(), badak.tensor(y))
    assert badak.equal(lifted[0], result) and "PARAMETER target='0.weight'" in str(found)
    with pytest.raises(ShapeError, match="must be 1 to 64; got 65"):
        found.module()(badak.ones(65, 2))


def test_a_file_gives_the_program_again():
    model = GPT(GPTConfig(vocab_size=20, context=16, d_model=8, heads=2, layers=1)).eval()
    ids = badak.randint(0, 20, (2, 6))
    batch, length = ours.dims("batch", "length", max=16)
    program = ours.export(model, (ids,), dynamic_shapes=({0: batch, 1: length},))
    file = io.BytesIO()
    ours.save(program, file)
    loaded = ours.load(io.BytesIO(file.getvalue()))
    for shape in ((1, 1), (5, 16)):
        more = badak.randint(0, 20, shape)
        assert badak.equal(loaded.module()(more), model(more))
    assert loaded.range_constraints == program.range_constraints == {"batch": (0, 16), "length": (0, 16)}
    assert loaded.graph_signature == program.graph_signature


def test_several_arguments_nested_ones_and_hints():
    def add(x, others, *, scale):
        return x + others["a"] * scale

    class Add(nn.Module):
        def forward(self, x, others, *, scale):
            return add(x, others, scale=scale)

    n = ours.Dim("n")
    args, kwargs = (badak.ones(2, 3), {"a": badak.ones(2, 3)}), {"scale": badak.ones(3)}
    program = ours.export(Add(), args, kwargs, dynamic_shapes={"x": {0: n}, "others": {"a": (n, None)}, "scale": None})
    assert program.module()(badak.ones(5, 3), {"a": badak.ones(5, 3)}, scale=badak.ones(3)).shape == (5, 3)
    with pytest.raises(ShapeError, match=r"of shape \(n, 3\)"):
        program.module()(badak.ones(5, 3), {"a": badak.ones(4, 3)}, scale=badak.ones(3))
    free = ours.export(net(badak), (badak.ones(4, 2),), dynamic_shapes=({0: ours.Dim.AUTO, 1: ours.Dim.AUTO},))
    assert len(free.range_constraints) == 1 and free.module()(badak.ones(1, 2)).shape == (1, 3)


class Sized(nn.Module):
    def forward(self, x):
        return x * 2 if x.shape[0] > 3 else x


class Valued(nn.Module):
    def forward(self, x):
        return x * x.sum().item()


N = ours.Dim("n")
X = badak.ones(4, 2)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: ours.export(3, (X,)), ArgumentTypeError, "expected a module"),
        (lambda: ours.export(net(badak), X), ArgumentTypeError, "expected a tuple"),
        (lambda: ours.export(net(badak), (X,), dynamic_shapes={"y": {0: N}}), ArgumentError, "has 'y'"),
        (lambda: ours.export(net(badak), (X,), dynamic_shapes=({5: N},)), ArgumentError, "of 2 dims"),
        (lambda: ours.export(net(badak), (X,), dynamic_shapes=({0: 1.5},)), ArgumentError, "expected a Dim for dim 0"),
        (lambda: ours.export(net(badak), (X,), dynamic_shapes=({}, {})), ArgumentError, "for 1 arguments"),
        (lambda: ours.export(net(badak), (X,), dynamic_shapes=({0: N, 1: N},)), ArgumentError, "one name is one size"),
        (lambda: ours.export(net(badak), (X,), dynamic_shapes=({0: ours.Dim("n", max=3)},)), ArgumentError, "outside 0 to 3"),
        (lambda: ours.export(net(badak), (X,), dynamic_shapes=({0: ours.Dim("n", min=3, max=4)},)), ArgumentError, "too small"),
        (lambda: ours.export(Sized(), (X,), dynamic_shapes=({0: N},)), NotSupportedError, "another one for other sizes"),
        (lambda: ours.export(Valued(), (X,)), NotSupportedError, "depends on item"),
        (lambda: ours.export(nn.Dropout(), (X,)), NotSupportedError, "draws random numbers"),
        (lambda: ours.Dim("a b"), ArgumentError, "a name"),
        (lambda: ours.Dim("a", min=3, max=3), ArgumentError, "min < max"),
        (lambda: 2 * N, NotSupportedError, "in a formula"),
        (lambda: ours.export(net(badak), (X,))(X), StateError, "Unable to call"),
        (lambda: ours.save(3, "x"), ArgumentTypeError, "an ExportedProgram"),
        (lambda: ours.load(io.BytesIO(b"nothing")), FileError, "damaged"),
    ],
)
def test_a_mistake_is_explained(call, error, words):
    with pytest.raises(error, match=words) as raised:
        call()
    assert "\nfix: " in str(raised.value)


def test_the_first_argument_of_forward_may_have_any_name():
    class Plus(nn.Module):
        def forward(this, x, self=1):  # noqa: N805
            return x + self

    exported = ours.export(Plus(), (badak.ones(3),), dynamic_shapes={"x": {0: ours.Dim("n")}})
    assert exported.module()(badak.ones(5)).tolist() == [2] * 5
