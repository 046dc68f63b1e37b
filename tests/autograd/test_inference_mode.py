"""What inference mode marks, and what may be done with it afterwards: as in PyTorch."""

import copy
import pickle

import pytest
import torch

import badak


def _made(lib):
    with lib.inference_mode():
        return lib.ones(3)


def _new_ones(lib):
    with lib.inference_mode():
        x = lib.ones(2)
        return [
            x,
            lib.zeros_like(x),
            lib.tensor([1.0]),
            lib.as_tensor([1.0]),
            lib.empty(2),
            lib.arange(3),
            lib.randn(2),
            x.numpy() is None,
        ]


def _views_of_others(lib):
    x = lib.tensor([1.0, 2.0])
    with lib.inference_mode():
        return (
            x.view(-1),
            x[0:1],
            x.detach(),
            x.reshape(2, 1),
            x.unbind(0)[0],
            x.contiguous(),
            x.float(),
            x.expand(2, 2),
            x.t(),
            x + 1,
        )


def _what_comes_of_it(lib):
    x = _made(lib)
    return x.view(-1), x[0], x.unbind(0)[0], x.detach(), x * 2, x.clone(), copy.deepcopy(x), pickle.loads(pickle.dumps(x))


def _grad_on_inside(lib):
    with lib.inference_mode(), lib.enable_grad():
        return lib.ones(2) * 2, lib.ones(2)


def _out_of_another(lib):
    x = lib.ones(3)
    with lib.inference_mode():
        lib.add(lib.ones(3), 1, out=x)
        x.add_(1)
        x[0] = 3
    return [x]


@pytest.mark.parametrize("make", [_new_ones, _views_of_others, _what_comes_of_it, _grad_on_inside, _out_of_another])
def test_what_is_made_in_inference_mode_says_so(make):
    told = [[x is True or x is False or x.is_inference() for x in make(lib)] for lib in (torch, badak)]
    assert told[0] == told[1]


WRITES = {
    "add_": lambda lib, x: x.add_(1),
    "zero_": lambda lib, x: x.zero_(),
    "copy_": lambda lib, x: x.copy_(lib.ones(3)),
    "setitem": lambda lib, x: x.__setitem__(0, 2.0),
    "setitem by mask": lambda lib, x: x.__setitem__(x > 0, 2.0),
    "iadd": lambda lib, x: x.__iadd__(1),
    "a view": lambda lib, x: x[0:2].fill_(3),
    "of a view made before": lambda lib, x: x.unbind(0)[0].mul_(2),
    "init": lambda lib, x: lib.nn.init.zeros_(x),
    "normal_": lambda lib, x: x.normal_(),
    "bernoulli_": lambda lib, x: x.bernoulli_(0.5),
    "out": lambda lib, x: lib.add(lib.ones(3), 1, out=x),
    "index_copy_": lambda lib, x: x.index_copy_(0, lib.tensor([0]), lib.ones(1)),
    "scatter_": lambda lib, x: x.scatter_(0, lib.tensor([0]), lib.ones(1)),
    "masked_fill_": lambda lib, x: x.masked_fill_(x > 0, 1.0),
    "relu_": lambda lib, x: lib.relu_(x),
    "unsqueeze_": lambda lib, x: x.unsqueeze_(0),
    "resize_": lambda lib, x: x.resize_(6),
    "foreach": lambda lib, x: lib._foreach_add_([x], 1.0),
}


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
@pytest.mark.parametrize("grad", [True, False])
def test_it_is_not_changed_outside(write, grad):
    for lib in (torch, badak):
        x = _made(lib)
        with (
            pytest.raises(RuntimeError, match="Inplace update to inference tensor outside InferenceMode"),
            lib.set_grad_enabled(grad),
        ):
            write(lib, x)
        assert lib is torch or x.tolist() == [1.0, 1.0, 1.0]  # PyTorch changes it, and raises then
        with lib.inference_mode():
            write(lib, x)
        write(lib, x.clone())


def test_it_wants_no_gradient_and_its_changes_are_not_counted():
    for lib in (torch, badak):
        x = _made(lib)
        with pytest.raises(RuntimeError, match="Setting requires_grad=True on inference tensor outside InferenceMode"):
            x.requires_grad_()
        with pytest.raises(RuntimeError, match="Inference tensors do not track version counter"):
            x._version  # noqa: B018
        w = lib.ones(3, requires_grad=True)
        with pytest.raises(RuntimeError, match="Inference tensors cannot be saved for backward"):
            w * x
        (w + x).sum().backward()
        assert w.grad.tolist() == [1.0, 1.0, 1.0]


def _by_a_view(y):
    y.view(-1).mul_(2)


def _of_a_piece(y):
    y.split(1)[0].mul_(2)


@pytest.mark.parametrize(
    "change", [_by_a_view, _of_a_piece, lambda y: y[0].fill_(1.0), lambda y: y.mul_(2), lambda y: y.detach().zero_()]
)
def test_a_backward_sees_what_inference_mode_changed(change):
    """Views made inside tell the tensor of their changes, whose graph would be wrong in silence."""
    for lib in (torch, badak):
        y = lib.tensor([1.0, 2.0], requires_grad=True).exp()
        with lib.inference_mode():
            change(y)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            y.sum().backward()


def test_views_made_inside_are_as_any_other_outside():
    for lib in (torch, badak):
        x = lib.tensor([1.0, 2.0])
        with lib.inference_mode():
            seen = x.view(-1)
        w = lib.ones(2, requires_grad=True)
        (w * seen).sum().backward()
        seen.add_(1)
        assert (w.grad.tolist(), x.tolist(), x._version) == ([1.0, 2.0], [2.0, 3.0], 1)


def test_compiled_steps_hand_out_what_is_marked_and_what_is_not():
    step = badak.compile(lambda x: (x * 2, x.view(-1)))
    x = badak.ones(3)
    for _ in range(4):
        with badak.inference_mode():
            made, seen = step(x)
        assert (made.is_inference(), seen.is_inference()) == (True, False)


def test_inference_mode_false_records():
    for lib in (torch, badak):
        for outer in (lib.no_grad, lib.inference_mode):
            with outer(), lib.inference_mode(False):
                assert (lib.is_grad_enabled(), lib.is_inference_mode_enabled()) == (True, False)
            assert lib.is_grad_enabled()


@pytest.mark.parametrize("view", ["view", "index", "transpose", "unbind", "split", "expand"])
def test_a_view_of_an_inference_tensor_wants_no_gradient_outside_either(view):
    for t in (torch, badak):
        with t.inference_mode():
            x = t.ones(1, 2, 3, requires_grad=True)
        made = {
            "view": lambda x: x.view(-1), "index": lambda x: x[0], "transpose": lambda x: x.transpose(0, 1),
            "unbind": lambda x: x.unbind(1)[0], "split": lambda x: x.split(1, 1)[0], "expand": lambda x: x.expand(2, 2, 3),
        }[view](x)  # fmt: skip
        assert (made.is_inference(), made.requires_grad, made.is_leaf, made._is_view()) == (True, False, True, False)
