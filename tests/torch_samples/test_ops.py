"""op_db: the functions and methods of tensors, `F` and `linalg`."""

import functools
import warnings

import numpy as np
import pytest
import torch

import badak
from badak.core.errors import BadakError, NotSupportedError
from tests import tiers
from tests.torch_samples import lists, reasons
from tests.torch_samples.exchange import Exchange, NotOurs, agree, agree_in_gradients, agree_in_memory, flat

# PyTorch's samples take seconds to import: `make check` has the rows of tests/samples.
pytestmark = pytest.mark.slow

PARTS = 8  # so that several processes share the work
MOST = 4  # samples of a name and dtype, spread over all that there are; nightly takes all
DTYPES = ("float64", "float32", "int64", "complex128")

CALLS = {  # op_db calls these in a way of its own; by label or name
    "einsum": lambda operands, equation: badak.einsum(equation, *operands),
    "where": lambda x, condition, *other: badak.where(condition, x, *other),
    "nn.functional.embedding": lambda weight, ids, **named: badak.nn.functional.embedding(ids, weight, **named),
    "nn.functional.embedding_bag": lambda weight, ids, **named: badak.nn.functional.embedding_bag(ids, weight, **named),
    "H": lambda x: x.H, "T": lambda x: x.T, "mT": lambda x: x.mT, "mH": lambda x: x.mH,
    "zero_": lambda x: x.clone().zero_(),
    "normal/number_mean": lambda std, mean, *args, **named: badak.normal(mean, std, *args, **named),
    "normal/in_place": lambda x, *args, **named: x.clone().normal_(*args, **named),
    "linalg.pinv/singular": lambda a, b: badak.linalg.pinv(a @ b.mT),
    "svd_lowrank": lambda a, b, **named: badak.svd_lowrank(a @ b.mT, **named),
    "pca_lowrank": lambda a, b, **named: badak.pca_lowrank(a @ b.mT, **named),
    "linalg.lstsq/grad_oriented": lambda a, b, driver: badak.linalg.lstsq(a, b, driver=driver)[:2],
}  # fmt: skip


@functools.cache
def database() -> list:
    return [op for op in lists().op_db if not op.name.startswith(reasons.ROOMS) and op.name not in reasons.RANDOM]


def label(op) -> str:
    return op.name + (f"/{op.variant_test_name}" if op.variant_test_name else "")


def of_badak(op):
    """badak's function, or method, of PyTorch's name; None where there is none."""
    name = op.name
    if label(op) in CALLS or name in CALLS:
        return CALLS.get(label(op)) or CALLS[name]
    try:
        found = functools.reduce(getattr, name.split("."), badak)
    except (AttributeError, NotSupportedError):
        found = None
    if not callable(found) or isinstance(found, type):
        found = badak.Tensor.__dict__.get(name)
    return found if callable(found) else None


def samples(op, dtype: str, most: int = MOST) -> list:
    kind = getattr(torch, dtype)
    if kind not in op.supported_dtypes("cpu"):
        return []
    wants = op.supports_autograd and (kind.is_floating_point or kind.is_complex)
    every = list(op.sample_inputs("cpu", kind, requires_grad=wants))
    return tiers.thinned(every, most)


def run(op, function, sample) -> bool:
    """Compare one sample; False where it is none for badak."""
    exchange = Exchange()
    try:
        x, args, named = exchange(sample.input), exchange(sample.args), exchange(sample.kwargs)
    except NotOurs:
        return False
    torch.manual_seed(42)
    try:
        theirs = op(sample.input, *sample.args, **sample.kwargs)
    except Exception:
        return False  # PyTorch has no kernel for it
    badak.manual_seed(42)
    ours = function(x, *args, **named)
    terms = max([1, *(a.numel() for a, _ in exchange._made.values())])
    part = sample.output_process_fn_grad or (lambda y: y)  # what is determined: not the signs of singular vectors
    theirs, ours = part(theirs), part(ours)
    agree(theirs, ours, "result", terms)
    if not op.name.startswith(reasons.LIBRARIES):
        agree_in_memory(theirs, ours)
    leaves = exchange.leaves
    if leaves:
        if any(getattr(y, "grad_fn", None) is not None for y in flat(theirs)):
            agree_in_gradients(theirs, ours, leaves, terms)
    return True


def compare(op, dtype: str) -> tuple[int, list[str]]:
    """(samples that agree, what was wrong with the others)."""
    good, wrong, function = 0, [], of_badak(op)
    for sample in samples(op, dtype):
        try:
            good += run(op, function, sample)
        except (BadakError, AssertionError) as problem:
            wrong.append(told(problem, sample))
        except Exception as problem:
            wrong.append(f"foreign {type(problem).__name__}: " + told(problem, sample))
    return good, wrong


def told(problem, sample) -> str:
    given = ", ".join(map(short, [sample.input, *sample.args, *(f"{k}={short(v)}" for k, v in sample.kwargs.items())]))
    return f"{str(problem).split(chr(10))[0]} <- {given}"


def short(x) -> str:
    return f"{str(x.dtype)[6:]}{list(x.shape)}" if isinstance(x, torch.Tensor) else str(x).replace("\n", " ")[:80]


@pytest.mark.thin(3)
@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_functions_agree_with_pytorch_on_pytorchs_samples(part):
    """Every name of op_db that badak has, on its samples for each of DTYPES."""
    problems, agreed = [], 0
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for op in database()[part::PARTS]:
            if of_badak(op) is None:
                continue
            wrong = []
            for dtype in DTYPES:
                good, found = compare(op, dtype)
                agreed += good
                wrong += found
            problems += reasons.unexplained(reasons.OPS, label(op), wrong)
    assert not problems, "\n" + "\n".join(problems)
    assert agreed > (500 if tiers.chosen == "nightly" else 200)


@pytest.mark.slow
def test_every_reason_names_a_function_of_both():
    names = {label(op) for op in database() if of_badak(op) is not None}
    assert {reason.name for reason in reasons.OPS} <= names
