"""Going back through a graph more than once: an op that needs no array for it allows it, where PyTorch's allows it, too."""

import warnings

import numpy as np
import pytest
import torch

import badak
from tests.samples import Sample, rows

ROWS = rows()


def keeps_arrays(row: Sample) -> bool:
    def is_array(kept) -> bool:
        return isinstance(kept, np.ndarray) or (isinstance(kept, tuple | list) and any(map(is_array, kept)))

    return any(is_array(kept) for call in row.cases() for kept in vars(call.forward(call.arrays(np.float32))[0]).values())


def pytorch_goes_twice(call) -> bool | None:
    """None: nothing wants a gradient here."""
    arrays = call.arrays(np.float32)
    tensors = [None if a is None else torch.tensor(a, requires_grad=n) for a, n in zip(arrays, call.needs(arrays))]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ys = call.row.twin(*tensors, **call.attributes)
        ys = [y for y in (ys if isinstance(ys, tuple | list) else [ys]) if y.requires_grad]
        if not ys:
            return None
        dys = [torch.ones_like(y) for y in ys]
        torch.autograd.backward(ys, dys)
        try:
            torch.autograd.backward(ys, dys)
        except RuntimeError:
            return False
    return True


@pytest.mark.parametrize("row", ROWS, ids=repr)
def test_an_op_goes_back_twice_where_pytorchs_does(row):
    light, keeps = row.op.saves_no_tensors, keeps_arrays(row)
    assert not (light and keeps), "a node would keep its memory after backward"
    if not keeps:
        found = {pytorch_goes_twice(call) for call in row.cases()} - {None}
        assert not found or light == (found == {True})


def losses(lib, step):
    """Two backward calls through one part of a graph."""
    x = lib.tensor([[1.0, 2.0], [3.0, 5.0]], requires_grad=True)
    shared = step(lib, x)
    (shared * shared.detach()).sum().backward()
    (shared * 3.0).sum().backward()
    return x.grad.tolist()


@pytest.mark.parametrize("step", [
    lambda lib, x: lib.cat([x, x], 1),
    lambda lib, x: lib.stack([x, x + x])[0],
    lambda lib, x: x.t().reshape(-1).expand(3, 4),
    lambda lib, x: (x - x.sum(0)).mean(1),
])  # fmt: skip
def test_a_part_without_saved_values_serves_several_losses(step):
    assert losses(badak, step) == losses(torch, step)


@pytest.mark.parametrize("lib", [badak, torch], ids=["badak", "torch"])
def test_a_function_that_saves_no_tensor_goes_back_twice(lib):
    class Twice(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x, keeps):
            ctx.keeps = keeps
            if keeps:
                ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx, dy):
            return dy * (ctx.saved_tensors[0] + 1 if ctx.keeps else 2), None

    x = lib.ones(2, requires_grad=True)
    y = Twice.apply(x, False).sum()
    y.backward()
    y.backward()
    assert x.grad.tolist() == [4.0, 4.0]
    y = Twice.apply(x, True).sum()
    y.backward()
    with pytest.raises(RuntimeError, match="second time"):
        y.backward()


@pytest.mark.parametrize("lib", [badak, torch], ids=["badak", "torch"])
def test_a_sum_goes_back_twice_and_its_gradient_doubles(lib):
    x = lib.ones(3, requires_grad=True)
    loss = x.sum()
    loss.backward()
    loss.backward()
    assert x.grad.tolist() == [2.0, 2.0, 2.0]


def _images(lib, x):
    return x.reshape(1, 1, 2, 2)


COMPOSED = {
    "sign": lambda lib, x: x.sign(),
    "sgn": lambda lib, x: x.sgn(),
    "nearest": lambda lib, x: lib.nn.functional.interpolate(_images(lib, x), scale_factor=2),
    "bilinear": lambda lib, x: lib.nn.functional.interpolate(_images(lib, x), scale_factor=2, mode="bilinear"),
    "bicubic": lambda lib, x: lib.nn.functional.interpolate(_images(lib, x), size=3, mode="bicubic"),
    "antialias": lambda lib, x: lib.nn.functional.interpolate(_images(lib, x), size=1, mode="bilinear", antialias=True),
    "of a product": lambda lib, x: lib.nn.functional.interpolate(_images(lib, x * x), scale_factor=2),
    "add with alpha": lambda lib, x: lib.add(x, x.t(), alpha=2),
    "sub with alpha": lambda lib, x: lib.sub(x, x.t(), alpha=2),
    "rsub": lambda lib, x: lib.rsub(x, x.t(), alpha=3),
    "trapz": lambda lib, x: lib.trapz(x, dx=2.0),
    "trapz at places": lambda lib, x: lib.trapz(x, x.detach()),
    "cumulative_trapezoid": lambda lib, x: lib.cumulative_trapezoid(x),
    "gradient": lambda lib, x: lib.gradient(x, spacing=2.0)[0],
    "deg2rad": lambda lib, x: x.deg2rad(),
    "rad2deg": lambda lib, x: lib.rad2deg(x),
    "deg2rad of exp": lambda lib, x: x.exp().deg2rad(),
    "select_scatter": lambda lib, x: lib.select_scatter(x, x[0], 0, 1),
    "slice_scatter": lambda lib, x: lib.slice_scatter(x, x[:1], 0, 1, 2),
    "diagonal_scatter": lambda lib, x: lib.diagonal_scatter(x, x[0]),
    "add with alpha, in place": lambda lib, x: x.clone().add_(x, alpha=2),
    "repeat_interleave": lambda lib, x: x.repeat_interleave(2, 1),
    "repeat_interleave by a tensor": lambda lib, x: x.repeat_interleave(lib.tensor([1, 2]), 1),
    "fill_": lambda lib, x: _filled(x.clone()),
}


def _filled(x):
    x[0].fill_(2.0)
    return x


@pytest.mark.parametrize("case", COMPOSED)
def test_what_is_made_of_several_operations_goes_back_twice_where_pytorchs_does(case):
    found = []
    for lib in (badak, torch):
        x = lib.tensor([[1.0, 2.0], [3.0, 5.0]], requires_grad=True)
        y = COMPOSED[case](lib, x)
        dy = lib.arange(1.0, 1 + y.numel()).reshape(y.shape)
        y.backward(dy)
        try:
            y.backward(dy)
            found.append(x.grad.numpy())
        except RuntimeError as error:
            assert "second time" in str(error)
            found.append(None)
    assert (found[0] is None) == (found[1] is None)
    if found[0] is not None:
        np.testing.assert_allclose(found[0], found[1], rtol=1e-5)


@pytest.mark.parametrize("values", [[0.0, 0.0, 0.0], [0.0, 1.0, -1.0], [2.0, 0.0, 3.0], [0.0, 2.0, 0.0], [2.0, 3.0, 0.5]])
@pytest.mark.parametrize("name", ["cumprod", "prod"])
def test_second_derivatives_of_products_with_zeros(name, values):
    found = []
    for lib in (torch, badak):
        x = lib.tensor([values, values[::-1]], dtype=lib.float64, requires_grad=True)
        (dx,) = lib.autograd.grad((getattr(x, name)(1) ** 2).sum(), x, create_graph=True)
        found.append([lib.autograd.grad(each, x, retain_graph=True)[0].tolist() for each in dx.reshape(-1)])
    np.testing.assert_allclose(found[1], found[0], atol=1e-12)
