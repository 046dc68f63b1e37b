"""The foreach lists of op_db: functions over lists of tensors, and their forms in place."""

import warnings

import pytest
import torch

import badak
from badak.core.errors import BadakError
from tests import tiers
from tests.torch_samples import lists
from tests.torch_samples.exchange import Exchange, NotOurs, agree, agree_in_gradients

# PyTorch's samples take seconds to import: `make check` has the rows of tests/samples.
pytestmark = pytest.mark.slow

FAMILIES = ("unary", "binary", "pointwise", "reduce", "other")
MOST = 4  # samples of a name and dtype, spread over all that there are; nightly takes all
DTYPES = ("float64", "float32", "int64", "complex128")


def database() -> list:
    return [op for family in FAMILIES for op in getattr(lists(), f"foreach_{family}_op_db")]


def run(name: str, sample, in_place: bool) -> bool:
    """Compare one sample; False where it is none for badak, or PyTorch refuses it."""
    exchange = Exchange()
    try:
        xs, args, named = exchange(sample.input), exchange(sample.args), exchange(sample.kwargs)
    except NotOurs:
        return False
    named.pop("disable_fastpath", None)
    try:
        theirs = getattr(torch, name)(sample.input, *sample.args, **sample.kwargs)
    except Exception:
        return False
    ours = getattr(badak, name)(xs, *args, **named)
    assert type(ours) is type(theirs) and (not in_place or ours is xs)
    agree(theirs, ours, "result", max(x.numel() for x in sample.input))
    if exchange.leaves and not in_place:
        try:
            agree_in_gradients(theirs, ours, exchange.leaves, max(x.numel() for x in sample.input))
        except (RuntimeError, IndexError) as problem:  # PyTorch's own walk cannot take every list: empty tensors among others
            assert "inconsistent range for TensorList" in str(problem) or "out of range for tensor of size" in str(problem)
    return True


def samples(op, dtype: str, in_place: bool) -> list:
    kind = getattr(torch, dtype)
    if kind not in op.supported_dtypes("cpu"):
        return []
    wants = not in_place and op.supports_autograd and (kind.is_floating_point or kind.is_complex)
    every = []
    for sample in op.sample_inputs("cpu", kind, requires_grad=wants, noncontiguous=False):
        sample.kwargs = {k: v for k, v in sample.kwargs.items() if k not in ("disable_fastpath", "is_fastpath", "zero_size")}
        every.append(sample)
    return tiers.thinned(every, MOST)


@pytest.mark.thin(1)
@pytest.mark.slow
@pytest.mark.parametrize("in_place", [False, True])
def test_functions_over_lists_agree_with_pytorch_on_pytorchs_samples(in_place):
    problems, agreed = [], 0
    for op in database():
        name = op.name + "_" * in_place
        if not hasattr(torch, name):
            continue
        for dtype in DTYPES:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                for sample in samples(op, dtype, in_place):
                    try:
                        agreed += run(name, sample, in_place)
                    except (BadakError, AssertionError) as problem:
                        problems.append(f"{name} ({dtype}): {str(problem).splitlines()[0]}")
    assert not problems, "\n".join(problems[:40])
    assert agreed > (300 if tiers.chosen == "nightly" else 150)


REFUSED = {
    "no tensors": (lambda lib: lib._foreach_abs([]), "Tensor list must have at least one tensor."),
    "fewer numbers": (lambda lib: lib._foreach_add([lib.ones(2)] * 2, [1.0]), "Tensor list must have same number of elements as"),
    "fewer tensors": (
        lambda lib: lib._foreach_add([lib.ones(2)] * 2, [lib.ones(2)]),
        "Tensor lists must have the same number of tensors, got 2 and 1",
    ),
    "one long tensor": (lambda lib: lib._foreach_add([lib.ones(2)], lib.ones(2)), "scalar tensor expected to be 0 dim but"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_lists_that_do_not_fit_are_refused_in_pytorchs_words(name):
    call, text = REFUSED[name]
    with pytest.raises(RuntimeError, match=text):
        call(torch)
    with pytest.raises(BadakError) as caught:
        call(badak)
    assert str(caught.value).startswith(text) and "\nfix: " in str(caught.value)
