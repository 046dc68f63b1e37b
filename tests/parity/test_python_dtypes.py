"""Python's float, int, bool and complex as dtypes: float64, int64, bool and complex128, wherever a dtype is taken."""

import warnings

import pytest
import torch

import badak

MADE = {
    **{name: lambda t, d, name=name: getattr(t, name)(2, dtype=d) for name in ("zeros", "ones", "empty", "rand", "randn", "eye")},
    **{name: lambda t, d, name=name: getattr(t, name)([1], dtype=d) for name in ("tensor", "as_tensor", "asarray")},
    **{f"{name}_like": lambda t, d, name=name: getattr(t, f"{name}_like")(t.ones(2), dtype=d)
       for name in ("zeros", "ones", "empty", "rand", "randn")},
    **{f"new_{name}": lambda t, d, name=name: getattr(t.ones(2), f"new_{name}")(2, dtype=d) for name in ("zeros", "ones", "empty")},
    **{name: lambda t, d, name=name: getattr(t.ones(2, 3), name)(0, dtype=d)
       for name in ("cumsum", "cumprod", "softmax", "log_softmax")},
    **{name: lambda t, d, name=name: getattr(t.full((2, 3), 2.0), name)(dtype=d) for name in ("sum", "mean", "prod", "nansum")},
    "full": lambda t, d: t.full((2,), 1, dtype=d), "full_like": lambda t, d: t.full_like(t.ones(2), 1, dtype=d),
    "new_full": lambda t, d: t.ones(2).new_full((2,), 1, dtype=d), "new_tensor": lambda t, d: t.ones(2).new_tensor([1], dtype=d),
    "arange": lambda t, d: t.arange(3, dtype=d), "linspace": lambda t, d: t.linspace(0, 1, 3, dtype=d),
    "logspace": lambda t, d: t.logspace(0, 1, 3, dtype=d), "randint": lambda t, d: t.randint(2, (3,), dtype=d),
    "randperm": lambda t, d: t.randperm(2, dtype=d), "scalar_tensor": lambda t, d: t.scalar_tensor(1, dtype=d),
    "to": lambda t, d: t.ones(2).to(d), "to(dtype=)": lambda t, d: t.ones(2).to(dtype=d),
    "Module.to": lambda t, d: t.nn.Linear(2, 2).to(d).weight,
    "Module.to(dtype=)": lambda t, d: t.nn.Linear(2, 2).to(dtype=d).weight,
    "Embedding": lambda t, d: t.nn.Embedding(2, 2, dtype=d).weight, "LayerNorm": lambda t, d: t.nn.LayerNorm(2, dtype=d).weight,
    "normal": lambda t, d: t.normal(0.0, 1.0, (2,), dtype=d), "norm": lambda t, d: t.linalg.vector_norm(t.ones(2), dtype=d),
    "promote_types": lambda t, d: t.ones(1, dtype=t.promote_types(d, t.int8)),
    "tril_indices": lambda t, d: t.tril_indices(2, 2, dtype=d),
    "F.softmax": lambda t, d: t.nn.functional.softmax(t.ones(2), 0, dtype=d), "hann": lambda t, d: t.hann_window(4, dtype=d),
    "can_cast": lambda t, d: t.ones(1, dtype=t.int8 if t.can_cast(d, t.int32) else t.int16),
}  # fmt: skip
WIDER = {  # badak takes a dtype that PyTorch has no kernel for: the result is right, in that dtype
    ("linspace", bool), ("logspace", bool), ("cumsum", bool), ("cumprod", bool), ("nansum", complex), ("arange", bool),
    ("arange", complex), ("softmax", complex), ("log_softmax", complex), ("F.softmax", complex), ("norm", complex),
}  # fmt: skip


def dtype_of(t, name: str, given) -> str:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return str(MADE[name](t, given).dtype).split(".")[-1]
    except (RuntimeError, TypeError, ValueError, NotImplementedError):
        return "refused"


@pytest.mark.parametrize("given", [float, int, bool, complex], ids=lambda given: given.__name__)
@pytest.mark.parametrize("name", MADE)
def test_pythons_types_are_the_dtypes_that_they_are_in_pytorch(name, given):
    theirs, ours = dtype_of(torch, name, given), dtype_of(badak, name, given)
    assert ours == theirs or (theirs == "refused" and (name, given) in WIDER)


def test_a_default_dtype_changes_nothing_of_it():
    badak.set_default_dtype(badak.float16)
    try:
        assert badak.zeros(1, dtype=float).dtype is badak.float64
        assert badak.zeros(1, dtype=complex).dtype is badak.complex128
    finally:
        badak.set_default_dtype(badak.float32)
