"""What order a result has in memory, row by row of the table: PyTorch's, in every kernel set, on any number of threads.

Strides along axes of size 1, and of arrays of size 0, are not compared: PyTorch's `is_contiguous` does not look at them either.
"""

import warnings
from contextlib import contextmanager, nullcontext

import numpy as np
import pytest
import torch

import badak
import badak.nn.functional as F
from badak import kernels, nn
from badak.compiler.native import KernelLog
from badak.core import events
from badak.core.events import Observer
from tests.samples import DIFFERENTIABLE, Call, Sample, rows
from tests.tiers import looped

pytestmark = pytest.mark.slow

ROWS = [row for row in rows() if row.op.__name__ != "AsStrided"]  # which looks at memory itself, however its input lies in it
each_row = pytest.mark.parametrize("row", ROWS, ids=lambda row: repr(row))


def with_axes(a, axes):
    """A copy of a whose axes lie in memory in this order, the widest first."""
    return np.array(a.transpose(axes), order="C").transpose([[*axes].index(i) for i in range(a.ndim)])


def turned(a):
    return with_axes(a, range(a.ndim)[::-1])


def exchanged(a):
    return with_axes(a, [1, 0, *range(2, a.ndim)]) if a.ndim > 2 else a


def channels_last(a):
    return with_axes(a, [0, *range(2, a.ndim), 1]) if a.ndim > 2 else a


def strided(a):
    """Every second entry of an array that is turned."""
    return turned(np.repeat(a, 2, -1))[..., ::2] if a.ndim else a


def expanded(a, axis=0):
    """The first entry along the axis, repeated without a copy; of index arrays a copy, as an entry may be wanted once."""
    if a.ndim <= max(axis, 1) or not a.shape[axis] or a.dtype.kind not in DIFFERENTIABLE:
        return turned(a)
    return np.broadcast_to(turned(a).take([0], axis), a.shape)


LAYOUTS = {
    "turned": turned,
    "exchanged": exchanged,
    "channels_last": channels_last,
    "strided": strided,
    "expanded": expanded,
    "expanded inside": lambda a: expanded(a, 1),
}


def laid_out(row: Sample, arrays):
    """(name, arrays) for every order that all inputs, the first alone, or all but the first may have."""
    yield "contiguous", arrays
    wide = [i for i, a in enumerate(arrays) if a is not None and a.ndim > 1]
    groups = {"": wide, " first": wide[:1], " others": wide[1:]} if len(wide) > 1 else {"": range(len(arrays))}
    for name, layout in LAYOUTS.items():
        if "expanded" in name and row.distinct:
            continue
        for which, places in groups.items():
            yield name + which, [layout(a) if i in places and a is not None else a for i, a in enumerate(arrays)]


def order(shape, strides):
    """Strides in elements, of the axes along which there is anything to tell apart."""
    return tuple(step for n, step in zip(shape, strides) if n > 1) if 0 not in shape else ()


def order_of(a):
    return None if a is None else order(a.shape, [step // a.itemsize for step in a.strides])


def pytorchs(row: Sample, arrays, attributes):
    """The order that PyTorch's results have, or row-major where the row says why it is to be so."""
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")
        ys = (row.order or row.twin)(*[None if a is None else torch.from_numpy(a) for a in arrays], **attributes)
    ys = ys if isinstance(ys, tuple | list) else (ys,)
    return [order(y.shape, (y.contiguous() if row.by_rows else y).stride()) for y in ys]


@pytest.mark.thin(120)
@each_row
@looped(kernel_set=["reference", "numba"])
def test_result_lies_in_memory_as_pytorchs_does(row: Sample, kernel_set):
    for call in row.cases():
        for name, arrays in laid_out(row, call.arrays(np.float64)):
            with kernels.use(kernel_set):
                _, ys = call.forward(arrays)
            found, expected = [order_of(y) for y in ys], pytorchs(row, arrays, call.attributes)
            assert found == expected, f"{call} of {name} inputs {[order_of(a) for a in arrays]}"


def results(call: Call, arrays, layout):
    """Outputs and gradients for dy in this layout."""
    saved, ys = call.forward(arrays)
    dys = [None if dy is None else layout(dy) for dy in call.cotangents(ys)]
    if not any(saved.needs) or all(dy is None for dy in dys):
        return ys
    return (*ys, *call.backward(saved, dys))


@contextmanager
def recorded():
    """As in a call that is recorded: somebody watches, and the calls of kernels are logged."""
    watcher, log = Observer(), KernelLog()
    events.watch(watcher)
    log.start()
    try:
        yield
    finally:
        log.stop()
        events.watch(watcher, False)


@pytest.mark.thin(45)
@each_row
def test_order_is_that_of_every_kernel_set_and_bits_are_those_of_any_number_of_threads(row: Sample, threads):
    for call in (*row.cases(), *row.threads()):
        for name, arrays in laid_out(row, call.arrays(np.float32)):
            for layout in (np.asarray, turned):
                with kernels.use("reference"):
                    orders = [order_of(a) for a in results(call, arrays, layout)]
                before = None
                for count, way in ((1, nullcontext), (3, nullcontext), (1, recorded)):
                    with kernels.use("numba"), threads(count), way():
                        made = results(call, arrays, layout)
                    how = f"{call} of {name} inputs: {count} threads, {way.__name__}"
                    assert [order_of(a) for a in made] == orders, f"{how}: the order is not that of plain"
                    bits = [a.tobytes() for a in made if a is not None]
                    assert bits == (before or bits), f"{how}: other bits than on one thread"
                    before = bits


def test_exceptions_have_a_reason():
    assert not [row for row in ROWS if row.by_rows is not None and len(row.by_rows.split()) < 4]


# ------------------------------------------------------------------ what depends on it


def train(step, module, threads, count):
    """The parameters after three steps on so many threads, as bytes."""
    badak.manual_seed(0)
    model = module()
    optimizer = badak.optim.SGD(model.parameters(), lr=0.1)
    with kernels.use("numba"), threads(count):
        for _ in range(3):
            optimizer.zero_grad()
            step(model).backward()
            optimizer.step()
    return [p.detach().numpy().tobytes() for p in model.parameters()]


class RecurrentThenBias(nn.Module):
    def __init__(self):
        super().__init__()
        self.gru = nn.GRU(24, 64, batch_first=True)
        self.bias = nn.Parameter(badak.zeros(64))

    def forward(self, x):
        return self.gru(x)[0] + self.bias


class AttentionThenBias(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = nn.MultiheadAttention(64, 4)
        self.bias = nn.Parameter(badak.zeros(64))

    def forward(self, x):
        x = x.transpose(0, 1)
        return self.attention(x, x, x, need_weights=False)[0].transpose(0, 1) + self.bias


@pytest.mark.parametrize(("module", "size"), [(RecurrentThenBias, 24), (AttentionThenBias, 64)])
def test_a_bias_after_a_turned_result_trains_to_the_same_weights(module, size, threads):
    x = badak.randn(48, 40, size)
    step = lambda model: model(x).square().mean()
    one, *others = [train(step, module, threads, count) for count in (1, 2, 3)]
    assert all(other == one for other in others)


def sums(x, b):
    return (x.transpose(0, 1) + b).sum((0, 1))


def joined(x, b):
    return badak.cat([x.transpose(0, 1)] * 2).sum((0, 1)) + b


@pytest.mark.parametrize("function", [sums, joined])
def test_threads_and_compile_change_no_bit_of_sums_over_turned_memory(function, threads):
    x, b = badak.randn(64, 64, 64), badak.ones(64)
    with kernels.use("numba"), threads(1):
        expected = function(x, b).numpy().tobytes()
    with kernels.use("numba"), threads(2):
        compiled = badak.compile(function)
        assert [f(x, b).numpy().tobytes() for f in (function, compiled, compiled, compiled)] == [expected] * 4


@looped(kernel_set=["reference", "numba"])
def test_programs_that_view_what_pytorch_leaves_row_major(kernel_set):
    """Relative positions of Transformer-XL: a row of scores is padded, seen in another shape, and shifted by that."""
    with kernels.use(kernel_set):
        x = badak.randn(2, 5, 3, 4).permute(0, 2, 3, 1)  # (B, H, T, S), turned
        flat = 2 * 3 * 4 * 5
        assert badak.cat([x[..., :1], x], -1).view(2, 3, 6, 4).shape == (2, 3, 6, 4)
        assert badak.stack([x, x]).view(2 * flat).shape == (2 * flat,)
        assert x.sum(0).view(flat // 2).shape == (flat // 2,)
        assert x.masked_fill(x > 0, 0).view(flat).shape == (flat,)
        assert x.repeat(1, 1, 1, 1).view(flat).shape == (flat,)
        assert x.tril().view(flat).shape == (flat,)
        assert F.softmax(x, -1).view(flat).shape == (flat,)
        assert x[:, :, :, badak.tensor([0, 1])].contiguous().view(48).shape == (48,)
        assert badak.randn(3, 4, 5)[:, badak.tensor([0, 1])].view(30).shape == (30,)
