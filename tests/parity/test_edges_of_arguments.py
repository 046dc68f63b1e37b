"""What PyTorch's own tests found: arguments at the edge, which badak answers as PyTorch does, or in two lines of its own."""

import re
import warnings

import numpy as np
import pytest
import torch

import badak
from badak.core.errors import BadakError

NAN = float("nan")


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
@pytest.mark.parametrize("name", ["hardshrink", "softshrink"])
def test_shrinking_keeps_nan_and_has_no_slope_there(name, dtype):
    found = []
    for library in (badak, torch):
        x = library.tensor([NAN, 1.0, 0.2, -2.0] * 16, dtype=getattr(library, dtype), requires_grad=True)
        y = getattr(library.nn.functional, name)(x)
        y.backward(library.full_like(y, 3))
        found.append((y.isnan().tolist(), y.nan_to_num().tolist(), x.grad.tolist()))
    assert found[0] == found[1]


@pytest.mark.parametrize("name", ["std", "var"])
@pytest.mark.parametrize(
    "shape, options",
    [
        ((1,), {}), ((0,), {}), ((3,), {"correction": 3}), ((2, 1), {"dim": 1}), ((2, 0), {"dim": 0}), ((2, 1), {"dim": (0, 1)}),
        ((2,), {"correction": 1}), ((1,), {"correction": 0}), ((3, 2), {"dim": 0, "keepdim": True}), ((), {}),
    ],
)  # fmt: skip
def test_a_spread_without_degrees_of_freedom_warns(name, shape, options):
    told = []
    for library in (badak, torch):
        for dtype in (library.float32, library.complex64):
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                y = getattr(library, name)(library.ones(shape, dtype=dtype), **options)
            told.append((tuple(y.shape), {re.split(r"\nfix|\(Trigger", str(each.message))[0].strip() for each in caught}))
    assert told[:2] == told[2:]


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda: badak.frombuffer("abc", dtype=badak.uint8), "object does not implement Python buffer protocol; it is a str"),
        (lambda: badak.zeros(2).random_("a"), r"random_\(\): argument 'to' must be int, not str"),
        (lambda: badak.zeros(2).random_(2.5), r"random_\(\): argument 'to' must be int, not float"),
        (lambda: badak.optim.lr_scheduler.SequentialLR(_sgd(), 3, [1]), "SequentialLR expects a list of schedulers; got int"),
        (
            lambda: badak.optim.lr_scheduler.SequentialLR((o := _sgd()), [_constant(o)], 3),
            "SequentialLR expects a list of milestones; got int",
        ),
        (lambda: badak.nn.AdaptiveMaxPool1d(2**62)(badak.ones(1, 1, 4)), "no memory holds a result of shape"),
        (lambda: badak.nn.AdaptiveAvgPool2d(2**40)(badak.ones(1, 1, 4, 4)), "no memory holds a result of shape"),
        (lambda: badak.fft.fftn(badak.ones(2, 2), dim=(0, 0)), "dims must be unique"),
        (lambda: badak.stft(badak.ones(20), 10, window=badak.ones(10) * 1j, onesided=True), "Cannot have onesided output"),
        (lambda: badak.ones(2).__dlpack__(stream=object()), "stream must be ``int`` or ``none``"),
        (lambda: np.from_dlpack(badak.ones(2, dtype=badak.bfloat16)), "NumPy has no .*bfloat16"),
    ],
)
def test_it_is_refused_in_two_lines(call, words):
    with pytest.raises(BadakError, match=words) as error:
        call()
    assert "\nfix: " in str(error.value)


def _sgd():
    return badak.optim.SGD([badak.zeros(1, requires_grad=True)], lr=0.1)


def _constant(optimizer):
    return badak.optim.lr_scheduler.ConstantLR(optimizer)


@pytest.mark.parametrize("layout", ["to_sparse", "to_sparse_csr"])
def test_a_mask_may_be_sparse(layout):
    found = []
    for library in (badak, torch):
        x = library.arange(6.0).reshape(2, 3)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # PyTorch says that compressed rows are new
            mask = getattr(library.tensor([[True, False, True], [False, False, True]]), layout)()
        found.append([library.masked.sum(x, 1, mask=mask).tolist(), library.masked.amax(x, 0, mask=mask).tolist()])
    assert found[0] == found[1]
