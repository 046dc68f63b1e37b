"""Tensors without memory, whose class answers for what is done to them: what it is asked for, and what comes of it."""

import copy
import gc
import importlib

import numpy as np
import pytest
import torch
from torch.utils import _pytree as their_trees
from torch.utils._python_dispatch import TorchDispatchMode as TheirMode

import badak
from badak.compat.torch import pytree as trees
from badak.compat.torch.dispatch import TorchDispatchMode
from badak.core.errors import ArgumentTypeError, DeviceError, GraphError, NotSupportedError

A = np.arange(6, dtype=np.float32).reshape(2, 3) / 4
LIBRARIES = {badak: (trees, TorchDispatchMode), torch: (their_trees, TheirMode)}


def pair_of(lib):
    """A class of pairs: every function is called on the first tensors, and on the second."""
    tree = LIBRARIES[lib][0]

    class Pair(lib.Tensor):
        asked: list = []
        __torch_function__ = lib._C._disabled_torch_function_impl

        @staticmethod
        def __new__(cls, a, b, requires_grad=False):
            place = {"strides": a.stride(), "dtype": a.dtype, "device": a.device, "layout": a.layout}
            return lib.Tensor._make_wrapper_subclass(cls, a.shape, requires_grad=requires_grad, **place)

        def __init__(self, a, b, requires_grad=False):
            self.a, self.b = a, b

        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            cls.asked.append(str(func))
            both = []
            for name in ("a", "b"):
                inside = tree.tree_map(lambda x: getattr(x, name) if isinstance(x, cls) else x, (args, kwargs or {}))  # noqa: B023
                both.append(tree.tree_flatten(func(*inside[0], **inside[1])))
            wrapped = [cls(x, y) if isinstance(x, lib.Tensor) else x for x, y in zip(both[0][0], both[1][0])]
            return tree.tree_unflatten(wrapped, both[0][1])

    return Pair


def shown(x):
    """What is in a result, as NumPy's arrays."""
    if isinstance(x, tuple | list):
        return [shown(each) for each in x]
    return [x.a.numpy(), x.b.numpy()] if hasattr(x, "a") else x


CALLS = {
    "arithmetic": lambda lib, x, w: (x + 1, x * x, 1 - x, 2 / (x + 1), x**2, -x, x == 1, x > x),
    "products": lambda lib, x, w: (x @ w.T, lib.nn.functional.linear(x, w, lib.ones(4)), lib.nn.functional.linear(w, x)),
    "views": lambda lib, x, w: (x.view(6), x.t(), x.T, x.unsqueeze(0), x.expand(2, 2, 3), x.detach(), x.permute(1, 0)),
    "shapes": lambda lib, x, w: (x.reshape(-1), x.reshape(3, 2), x.t().reshape(6), x.t().reshape((2, 3))),
    "parts": lambda lib, x, w: (x[0], x[:, 1], x[1:], x[None, 0], x[lib.tensor([1])], x.split(1), x.chunk(3, 1)),
    "reductions": lambda lib, x, w: (x.sum(), x.sum(1), x.mean(), x.mean(1, keepdim=True), x.max(), x.var(1), x.argmax(1)),
    "functions": lambda lib, x, w: (lib.relu(x), lib.nn.functional.softmax(x, -1), x.clamp(0, 1), lib.where(x > 1, x, x)),
    "together": lambda lib, x, w: (lib.cat([x, x]), lib.stack([x, x]), x.index_select(0, lib.tensor([0]))),
    "new ones": lambda lib, x, w: (lib.zeros_like(x), x.new_zeros(2), x.clone(), x.to(lib.float64), x.float() is x),
    "in place": lambda lib, x, w: (x.add_(1), x.mul_(2), x.copy_(lib.ones(2, 3)), x.zero_()),
}


@pytest.mark.parametrize("name", CALLS)
def test_what_a_class_is_asked_for(name):
    found = {}
    for lib in LIBRARIES:
        kind = pair_of(lib)
        x = kind(lib.tensor(A), lib.ones(2, 3))
        made = CALLS[name](lib, x, lib.arange(12.0).reshape(4, 3))
        found[lib] = (
            shown(made),
            [each for each in kind.asked if each not in ("aten.lift_fresh.default", "aten.scalar_tensor.default")],
        )
    assert found[badak][1] == found[torch][1]
    np.testing.assert_equal(len(found[badak][0]), len(found[torch][0]))
    for mine, expected in zip(found[badak][0], found[torch][0]):
        assert_same(mine, expected)


def assert_same(mine, expected):
    if isinstance(expected, list):
        assert len(mine) == len(expected)
        for one, two in zip(mine, expected):
            assert_same(one, two)
    elif isinstance(expected, np.ndarray):
        assert mine.dtype == expected.dtype
        np.testing.assert_allclose(mine, expected, rtol=1e-6, atol=1e-7)
    else:
        assert mine == expected


def test_what_it_says_of_itself():
    for lib in LIBRARIES:
        kind = pair_of(lib)
        x = kind(lib.tensor(A), lib.ones(2, 3), requires_grad=True)
        assert (x.shape, x.stride(), x.dim(), x.numel(), x.storage_offset()) == ((2, 3), (3, 1), 2, 6, 0)
        assert x.dtype is lib.float32 and x.device.type == "cpu" and x.is_contiguous() and x.requires_grad and x.is_leaf
        assert x.data_ptr() == 0 and not kind.asked and isinstance(x, lib.Tensor)
        for read in (x.numpy, x.tolist):
            with pytest.raises(Exception, match="is not supported for tensor subclasses"):
                read()


def trained(lib, optimizer):
    """Gradients through wrappers and plain tensors, and two steps of an optimizer."""
    kind = pair_of(lib)
    weight = lib.nn.Parameter(kind(lib.ones(4, 3) / 3, lib.ones(4, 3) / 5))
    bias, scale = lib.nn.Parameter(kind(lib.zeros(4), lib.ones(4))), lib.nn.Parameter(lib.ones(3))
    assert type(weight) is kind and isinstance(weight, lib.nn.Parameter)
    steps = optimizer(lib.optim, [weight, bias])
    for _ in range(2):
        steps.zero_grad()
        y = lib.nn.functional.linear(lib.tensor(A) * scale, weight, bias)
        loss = (lib.nn.functional.softmax(y.relu() ** 2, -1) * y / (y + 1)).mean()
        loss.backward()
        steps.step()
    twin = copy.deepcopy(weight)
    return shown([loss.detach(), weight.grad, bias.grad, scale.grad, weight.detach(), twin.detach()]), twin.requires_grad


@pytest.mark.parametrize(
    "optimizer",
    [
        lambda optim, params: optim.SGD(params, lr=0.1, momentum=0.9),
        lambda optim, params: optim.AdamW(params, lr=0.1),
    ],
)
def test_training(optimizer):
    (mine, wanted), (expected, wanted_too) = trained(badak, optimizer), trained(torch, optimizer)
    assert wanted == wanted_too
    for one, two in zip(mine, expected):
        np.testing.assert_allclose(one, two, rtol=2e-5, atol=1e-6)


def test_the_gradient_of_a_function_that_has_no_formula():
    found = []
    for lib in LIBRARIES:
        x = pair_of(lib)(lib.tensor(A), lib.ones(2, 3), requires_grad=True)
        y = lib.sort(x * x, 1, descending=True)[0].cumsum(1)
        found.append(shown(lib.autograd.grad(y.sum(), x)[0]))
    np.testing.assert_allclose(found[0], found[1], rtol=1e-6)


TWICE = {
    "x^3": lambda lib, x: x**3,
    "exp": lambda lib, x: x.exp(),
    "softmax": lambda lib, x: lib.nn.functional.softmax(x, -1) * x,
    "sort": lambda lib, x: lib.sort(x * x, 1, descending=True)[0].cumsum(1) ** 2,
    "norm": lambda lib, x: (x + 1) / (x.pow(2).sum(1, keepdim=True) + 1).sqrt(),
    "products": lambda lib, x: (x @ x.T).tanh(),
    "linear": lambda lib, x: x.clone().unsqueeze(0).repeat(2, 1, 1).split(1)[0][:, 1:],
}


@pytest.mark.parametrize("name", TWICE)
def test_gradients_of_gradients(name):
    found = []
    for lib in LIBRARIES:
        x = pair_of(lib)(lib.tensor(A), lib.ones(2, 3) / 3, requires_grad=True)
        (first,) = lib.autograd.grad(TWICE[name](lib, x).sum(), x, create_graph=True)
        second = lib.autograd.grad((first * first).sum(), x) if first.requires_grad else None
        found.append((shown(first.detach()), second and shown(second[0])))
    assert_close(*found)


def assert_close(mine, expected):
    if isinstance(expected, list | tuple):
        assert len(mine) == len(expected)
        for one, two in zip(mine, expected):
            assert_close(one, two)
    else:
        assert (mine is None) == (expected is None)
        if expected is not None:
            np.testing.assert_allclose(mine, expected, rtol=1e-5, atol=1e-6)


def test_what_python_asks_for_is_answered_by_the_class():
    for lib in LIBRARIES:
        one = pair_of(lib)(lib.tensor(3), lib.tensor(3))
        assert (bool(one), int(one), float(one), "abcd"[one], 2 in one) == (True, 3, 3.0, "d", False)


def test_what_stands_for_the_numbers_in_print():
    for lib in LIBRARIES:
        x = pair_of(lib)(lib.ones(2), lib.ones(2), requires_grad=True)
        assert lib.Tensor.__repr__(x, tensor_contents="two") == "Pair(two, requires_grad=True)"
        assert lib.Tensor.__repr__(lib.ones(2).double(), tensor_contents="two") == f"tensor(two, dtype={lib.float64})"


def test_gradcheck():
    kind = pair_of(badak)
    x = kind(badak.tensor(A, dtype=badak.float64), badak.ones(2, 3, dtype=badak.float64), requires_grad=True)
    for fast in (False, True):
        assert badak.autograd.gradcheck(lambda x: x.exp() * 2, x, fast_mode=fast)
        assert not badak.autograd.gradcheck(lambda x: x.detach() + x, x, fast_mode=fast, raise_exception=False)


def test_a_module_its_state_and_its_copy():
    for lib in LIBRARIES:
        kind = pair_of(lib)
        layer = lib.nn.Linear(3, 2)
        layer.weight = lib.nn.Parameter(kind(lib.ones(2, 3), lib.zeros(2, 3)))
        state = layer.state_dict()
        other = copy.deepcopy(layer)
        other.load_state_dict(state)
        assert type(state["weight"]) is kind is type(other.weight) and isinstance(other.weight, lib.nn.Parameter)
        assert other.weight.a is not layer.weight.a and other(lib.ones(1, 3)).b.tolist() == [layer.bias.tolist()]


asked_of_modes: list = []


def test_a_mode_is_asked_before_the_class():
    for lib, (_, mode) in LIBRARIES.items():

        class Count(mode):
            def __torch_dispatch__(self, func, types, args=(), kwargs=None):
                asked_of_modes.append((str(func), [kind.__name__ for kind in types]))
                return func(*args, **(kwargs or {}))

        asked_of_modes.clear()
        kind = pair_of(lib)
        x = kind(lib.tensor(A), lib.ones(2, 3))
        with Count():
            assert (x * 2).a.tolist() == (A * 2).tolist()
        assert asked_of_modes == [("aten.mul.Tensor", ["Pair"])] and kind.asked == ["aten.mul.Tensor"]
        assert lib.ops.aten.mul.Tensor is lib.ops.aten.mul.Tensor


def test_sizes_alone():
    for lib in LIBRARIES:
        kind = pair_of(lib)
        x = kind(lib.tensor(A), lib.ones(2, 3))
        with lib._C._DisableTorchDispatch():
            assert tuple(lib.reshape(x, (6,)).shape) == (6,)
            x.t_()
        assert tuple(x.shape) == (3, 2) and not kind.asked


def test_a_mistake_is_explained():
    class Silent(badak.Tensor):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            return NotImplemented

    make = badak.Tensor._make_wrapper_subclass
    with pytest.raises(TypeError, match="Plain must define __torch_dispatch__\nfix: "):
        make(type("Plain", (badak.Tensor,), {}), (2,))
    with pytest.raises(ArgumentTypeError, match="does not inherit from Tensor"):
        make(int, (2,))
    with pytest.raises(DeviceError, match="badak has no device"):
        make(Silent, (2,), device="cuda")
    with pytest.raises(NotSupportedError, match="know their sizes"):
        make(Silent, (2,), dispatch_sizes_strides_policy="sizes")
    with pytest.raises(TypeError, match="Multiple dispatch failed for 'torch.ops.aten.exp.default'"):
        make(Silent, (2,)).exp()
    pair = pair_of(badak)
    x = pair(badak.ones(2), badak.ones(2), requires_grad=True)
    with pytest.raises(GraphError, match="not changed in place where gradients are recorded"):
        (x * 2).add_(1)
    with pytest.raises(GraphError, match="swap_tensors"):
        x.data = badak.ones(2)


def test_tensors_change_places():
    for lib in LIBRARIES:
        x, y = lib.zeros(1), lib.nn.Parameter(lib.ones(2))
        y.word = "said"
        lib.utils.swap_tensors(x, y)
        assert (type(x).__name__, x.tolist(), x.word, x.requires_grad) == ("Parameter", [1, 1], "said", True)
        assert (type(y).__name__, y.tolist(), y.requires_grad) == ("Tensor", [0], False)
    waiting = badak.ones(1, requires_grad=True)
    made = waiting * 2
    with pytest.raises(GraphError, match="a graph waits"):
        badak.utils.swap_tensors(waiting, badak.ones(1))
    assert made.item() == 2.0
    kind = pair_of(badak)
    layer = badak.nn.Linear(3, 2)
    layer.weight = weight = badak.nn.Parameter(kind(badak.ones(2, 3), badak.zeros(2, 3)))
    layer.double()
    assert layer.weight is weight and weight.a.dtype is badak.float64 is weight.dtype


def test_dictionaries_of_tensors_that_may_go():
    for lib in LIBRARIES:
        weak = importlib.import_module("badak.compat.torch.weak" if lib is badak else "torch.utils.weak")
        x, y = lib.ones(2), lib.ones(2)
        known = weak.WeakTensorKeyDictionary({x: 1})
        known[y] = 2
        assert (len(known), known[x], known[y], lib.ones(2) in known) == (2, 1, 2, False)
        seen = weak.TensorWeakRef(y)
        del x
        gc.collect()
        assert len(known) == 1 and seen() is y and next(iter(known)) is y
