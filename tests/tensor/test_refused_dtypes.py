"""Integers and booleans where PyTorch computes for floats alone, and booleans where it counts."""

import pytest
import torch

import badak

CALLS = {
    "median": lambda lib, x: x.median(),
    "median of rows": lambda lib, x: x.median(1).values,
    "nanmedian": lambda lib, x: x.nanmedian(),
    "topk": lambda lib, x: x.topk(1).values,
    "kthvalue": lambda lib, x: x.kthvalue(1).values,
    "nansum": lambda lib, x: x.nansum(),
    "nanmean": lambda lib, x: x.nanmean(),
    "nanmean of rows": lambda lib, x: x.nanmean(1),
    "logcumsumexp": lambda lib, x: x.logcumsumexp(0).round(decimals=4),
    "trace": lambda lib, x: x.trace(),
    "cov": lambda lib, x: x.cov(),
    "corrcoef": lambda lib, x: x.corrcoef(),
    "floor": lambda lib, x: x.floor(),
    "ceil": lambda lib, x: x.ceil(),
    "trunc": lambda lib, x: x.trunc(),
    "fix": lambda lib, x: x.fix(),
    "round": lambda lib, x: x.round(),
    "round to digits": lambda lib, x: x.round(decimals=1),
    "mvlgamma": lambda lib, x: (x + 2 if x.dtype is not lib.bool else x).mvlgamma(1).round(decimals=4),
}


@pytest.mark.parametrize("kind", "bool uint8 int64 float32".split())
@pytest.mark.parametrize("name", CALLS)
def test_dtypes_are_refused_where_pytorch_refuses_them(name, kind):
    def story(lib):
        x = lib.tensor([[1, 0], [3, 2]]).to(getattr(lib, kind))
        try:
            made = CALLS[name](lib, x)
        except RuntimeError:
            return "refused"
        return str(made.dtype).rpartition(".")[2], made.tolist()

    assert story(badak) == story(torch)


def test_sums_without_nan_of_complex_numbers_are_refused():
    for lib in (torch, badak):
        for name in ("nansum", "nanmean"):
            with pytest.raises(RuntimeError):
                getattr(lib.ones(2, dtype=lib.complex64), name)()
