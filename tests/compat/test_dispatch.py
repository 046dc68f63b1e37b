"""TorchDispatchMode: the modes that people write; FakeTensorMode: shapes without values."""

import copy

import numpy as np
import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode as TheirMode

import badak
from badak import nn
from badak.compat.torch.dispatch import FakeTensor, FakeTensorMode, TorchDispatchMode
from badak.core.errors import ArgumentError, ArgumentTypeError, NotSupportedError

X = np.random.default_rng(0).standard_normal((3, 4)).astype(np.float32)


def logged(lib, mode):
    """The operations of a program, by name."""

    class Log(mode):
        def __init__(self):
            super().__init__()
            self.names = []

        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            self.names.append(str(func))
            assert str(func.overloadpacket) in str(func)
            return func(*args, **(kwargs or {}))

    x = lib.tensor(X)
    with Log() as log:
        y = (x + 1) * 2 - x
        y = lib.exp(lib.relu(y)).view(12).sum()
        y = lib.softmax(x, -1) @ x.T
        _ = y == y
    return [name for name in log.names if name not in ("aten.permute.default", "aten.transpose.int")]


def test_a_mode_sees_pytorchs_names():
    assert logged(badak, TorchDispatchMode) == logged(torch, TheirMode)


def test_a_mode_counts_flops_and_memory_and_the_gradient_is_that_without_it():
    class Count(TorchDispatchMode):
        def __init__(self):
            super().__init__()
            self.flops = self.bytes = 0

        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            out = func(*args, **(kwargs or {}))
            if func == badak.ops.aten.addmm.default:
                self.flops += 2 * out.numel() * args[1].shape[1]
            for y in out if isinstance(out, tuple) else (out,):
                self.bytes += 0 if y is None else y.numel() * y.element_size()
            return out

    badak.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 5), nn.ReLU(), nn.Linear(5, 2))
    x = badak.tensor(X)
    model(x).sum().backward()
    expected = [p.grad.clone() for p in model.parameters()]
    model.zero_grad()
    with Count() as count:
        model(x).sum().backward()
    assert count.flops == 2 * 3 * 5 * 4 + 2 * 3 * 2 * 5 and count.bytes > 0
    assert all(badak.equal(p.grad, dx) for p, dx in zip(model.parameters(), expected))


def test_a_mode_gives_another_result_or_runs_on_other_arguments():
    class Double(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            if func.overloadpacket == badak.ops.aten.exp:
                return func(args[0] * 2)
            return func(*args, **(kwargs or {})) * 10

    x = badak.ones(2, requires_grad=True)
    with Double():
        y = badak.exp(x)
        assert badak.log(badak.ones(2)).tolist() == [0.0, 0.0] and (x + 1).tolist() == [20.0, 20.0]
    np.testing.assert_allclose(y.detach().numpy(), np.exp(2.0), rtol=1e-6)


def test_the_operators_of_aten_are_functions():
    assert badak.ops.aten.add.Tensor(badak.ones(2), 1).tolist() == [2.0, 2.0]
    assert repr(badak.ops.aten.add.Tensor) == "<OpOverload(op='aten.add', overload='Tensor')>"
    assert badak.ops.aten.mm.default.name() == "aten::mm" and badak.ops.aten.add.Tensor.name() == "aten::add.Tensor"
    with pytest.raises(NotImplementedError, match="torch.ops.aten.no_such_operator: badak has no such function"):
        badak.ops.aten.no_such_operator.default(badak.ones(2))  # a name alone may stand in a table


def test_fake_tensors_have_shapes_alone():
    with FakeTensorMode() as mode:
        model = nn.TransformerEncoderLayer(64, 4, 512, batch_first=True)
        y = model(badak.randn(8, 100, 64))
        like = mode.from_tensor(badak.ones(2, 3))
    assert y.shape == (8, 100, 64) and isinstance(y, FakeTensor) and like.is_meta and not isinstance(badak.ones(1), FakeTensor)
    with pytest.raises(ArgumentError, match="expected a tensor"):
        mode.from_tensor(3)


def test_a_mistake_is_explained():
    class Empty(TorchDispatchMode):
        pass

    class Wrong(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            return 3

    class Backward(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            return func(*(x * 2 for x in args)) if "backward" in str(func) else func(*args, **(kwargs or {}))

    with pytest.raises(NotSupportedError, match="__torch_dispatch__"), Empty():
        badak.exp(badak.ones(1))
    with pytest.raises(ArgumentTypeError, match=r"of exp gave int\nfix: return func"), Wrong():
        badak.exp(badak.ones(1))
    x = badak.ones(1, requires_grad=True)
    with pytest.raises(NotSupportedError, match="on its own arguments only"), Backward():
        badak.exp(x).sum().backward()
    with pytest.raises(NotSupportedError, match="badak has no such function"):
        badak.ops.aten.convolution_backward(1)
    assert badak.exp(badak.zeros(1)).item() == 1.0


def test_the_fake_mode_that_is_entered_is_found():
    from badak.compat.torch.dispatch import active_fake_mode, detect_fake_mode

    assert active_fake_mode() is None
    with FakeTensorMode() as mode:
        assert active_fake_mode() is mode and detect_fake_mode() is mode
    assert active_fake_mode() is None


def test_a_mode_sees_pools():
    for lib, mode in ((badak, TorchDispatchMode), (torch, TheirMode)):

        class Plain(mode):
            def __torch_dispatch__(self, func, types, args=(), kwargs=None):
                return func(*args, **(kwargs or {}))

        x = lib.arange(64.0).reshape(1, 1, 4, 4, 4)
        with Plain():
            made = lib.nn.functional.max_pool3d(x, 2), lib.nn.functional.avg_pool2d(x[0], 2)
        assert [tuple(y.shape) for y in made] == [(1, 1, 2, 2, 2), (1, 4, 2, 2)] and made[0].sum().item() == 336.0


PIECES = {
    "linear": lambda lib: lib.nn.functional.linear(lib.ones(2, 3), lib.ones(4, 3), lib.ones(4)),
    "linear of many": lambda lib: lib.nn.functional.linear(lib.ones(5, 2, 3), lib.ones(4, 3), lib.ones(4)),
    "without a bias": lambda lib: lib.nn.functional.linear(lib.ones(2, 3), lib.ones(4, 3)),
    "matmul": lambda lib: lib.ones(2, 5, 2, 3) @ lib.ones(3, 4),
    "matmul of many": lambda lib: lib.ones(2, 5, 2, 3) @ lib.ones(2, 5, 3, 4),
}


@pytest.mark.parametrize("name", PIECES)
def test_layers_come_in_the_pieces_of_pytorch(name):
    """So that what counts mm, addmm and bmm counts them; in a table that was copied, too, as ptflops does."""
    found = []
    for lib in (torch, badak):
        table = copy.deepcopy({lib.ops.aten.mm: "mm", lib.ops.aten.addmm: "addmm", lib.ops.aten.bmm: "bmm"})
        seen = []

        class Log(TheirMode if lib is torch else TorchDispatchMode):
            def __torch_dispatch__(self, func, types, args=(), kwargs=None, seen=seen, table=table):
                shapes = [tuple(x.shape) for x in args if hasattr(x, "shape")]
                if "ones" not in str(func):
                    seen.append((str(func).replace("_unsafe_view", "view"), table.get(func._overloadpacket), shapes))
                return func(*args, **(kwargs or {}))

        plain = PIECES[name](lib)
        with Log():
            made = PIECES[name](lib)
        assert lib.equal(made, plain)
        found.append(seen)
    assert found[0] == found[1]
