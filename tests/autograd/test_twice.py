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
