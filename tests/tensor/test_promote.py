"""Which dtype a result has: all pairs, all ranks, against PyTorch."""

import itertools

import pytest
import torch

import badak as bk

NAMES = "bool uint8 int8 int16 int32 int64 float16 bfloat16 float32 float64 complex64 complex128".split()


def name_of(dtype) -> str:
    """PyTorch's dtype in our words; badak has no complex32 and takes complex64."""
    return str(dtype).removeprefix("torch.").replace("complex32", "complex64")


def test_every_pair_of_dtypes():
    for a, b in itertools.product(NAMES, NAMES):
        expected = torch.promote_types(getattr(torch, a), getattr(torch, b))
        assert bk.promote_types(getattr(bk, a), getattr(bk, b)).name == name_of(expected), (a, b)


@pytest.mark.parametrize("shapes", [((2,), ()), ((), (2,)), ((2,), (2,)), ((), ())], ids=str)
def test_dims_decide_before_0d_tensors(shapes):
    for a, b in itertools.product(NAMES, NAMES):
        ours = [bk.zeros(shape, dtype=getattr(bk, n)) for shape, n in zip(shapes, (a, b))]
        theirs = [torch.zeros(shape, dtype=getattr(torch, n)) for shape, n in zip(shapes, (a, b))]
        assert bk.result_type(*ours).name == name_of(torch.result_type(*theirs)), (a, b)


@pytest.mark.parametrize("number", [True, 2, 2.5, 2j], ids=repr)
def test_tensors_decide_before_numbers(number):
    for name, shape in itertools.product(NAMES, [(2,), ()]):
        expected = torch.result_type(torch.zeros(shape, dtype=getattr(torch, name)), number)
        found = bk.result_type(bk.zeros(shape, dtype=getattr(bk, name)), number)
        assert found.name == name_of(expected), name


def test_what_may_be_stored_where():
    for a, b in itertools.product(NAMES, NAMES):
        assert bk.can_cast(getattr(bk, a), getattr(bk, b)) == torch.can_cast(getattr(torch, a), getattr(torch, b)), (
            a,
            b,
        )
