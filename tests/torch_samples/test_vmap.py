"""op_db under vmap: three examples at once, of the first tensor alone and of every tensor, values and gradients."""

import warnings

import pytest
import torch

import badak
from tests import tiers
from tests.torch_samples import reasons
from tests.torch_samples.exchange import Exchange, agree, agree_in_gradients, flat
from tests.torch_samples.test_ops import PARTS, database, label, of_badak, samples, told

# PyTorch's samples take seconds to import: `make check` has the rows of tests/samples.
pytestmark = pytest.mark.slow

OTHERWISE = {  # by label, why badak's vmap gives something else
    "linalg.lstsq": "PyTorch's residuals have the shape of none",
    "linalg.lstsq/grad_oriented": "PyTorch's residuals have the shape of none",
    "linalg.cholesky_ex": "PyTorch leaves other numbers where a matrix is not positive definite",
    "nn.functional.linear_cross_entropy/chunked": "PyTorch's has no gradient of the input",
    "select_scatter": "PyTorch's gradient of src is a multiple of what it is without vmap",
    "roll": "PyTorch rolls the examples where each is one number",
    "nn.functional.fractional_max_pool2d": "random numbers",
    "nn.functional.fractional_max_pool3d": "random numbers",
    "nn.functional.layer_norm": "of one number its gradient is rounding alone",
}


def stacked(x: torch.Tensor) -> torch.Tensor:
    """Three examples."""
    parts = [x, x * 0.75, x] if x.is_floating_point() or x.is_complex() else [x, x, x]
    return torch.stack(parts).detach().requires_grad_(x.requires_grad)


def examples(values: tuple, every: bool) -> tuple[tuple, tuple]:
    """(arguments with examples, in_dims) for the tensors among them, and within a first list: for the first, or for all."""
    made: list = []
    dims: list = []
    for value in values:
        if isinstance(value, torch.Tensor) and (every or not any(d is not None for d in dims)):
            made.append(stacked(value))
            dims.append(0)
        elif not made and isinstance(value, list | tuple) and value and all(isinstance(part, torch.Tensor) for part in value):
            made.append(type(value)(stacked(part) if every or not at else part for at, part in enumerate(value)))
            dims.append(type(value)(0 if every or not at else None for at in range(len(value))))
        else:
            made.append(value)
            dims.append(None)
    return tuple(made), tuple(dims)


def run(op, function, sample, every: bool) -> bool:
    """Compare one sample; False where PyTorch has no vmap of it, or it is none for badak."""
    given, dims = examples((sample.input, *sample.args), every)
    if all(d is None for d in dims):
        return False
    exchange = Exchange()
    try:
        function(*Exchange()((sample.input, *sample.args)), **Exchange()(sample.kwargs))  # what badak refuses without vmap
        ours_given, named = exchange(given), exchange(sample.kwargs)
        theirs = torch.vmap(lambda *xs: op.op(*xs, **sample.kwargs), dims)(*given)
    except Exception:
        return False
    ours = badak.vmap(lambda *xs: function(*xs, **named), dims)(*ours_given)
    terms = max([1, *(a.numel() for a, _ in exchange._made.values())])
    part = sample.output_process_fn_grad or (lambda y: y)
    theirs, ours = part(theirs), part(ours)
    agree(theirs, ours, "result", 8 * terms)  # a product of many rows is rounded otherwise than one of few
    if exchange.leaves and any(getattr(y, "grad_fn", None) is not None for y in flat(theirs)):
        agree_in_gradients(theirs, ours, exchange.leaves, 8 * terms)
    return True


def compare(op, function) -> tuple[int, list[str]]:
    """(samples that agree, what was wrong with the others)."""
    good, wrong = 0, []
    for sample in samples(op, "float32"):
        for every in (False, True):
            try:
                good += run(op, function, sample, every)
            except Exception as problem:
                text = told(problem, sample)
                if not any(reason.name == label(op) and reason.sign in text for reason in reasons.OPS):
                    wrong.append(f"{label(op)} {every}: {text}")
    return good, wrong


@pytest.mark.slow
@pytest.mark.parametrize("part", tiers.few(range(PARTS), 1))
def test_op_db_under_vmap(part):
    good, wrong = 0, []
    for op in database()[part::PARTS]:
        function = of_badak(op)
        if function is None or label(op) in OTHERWISE or op.name.startswith(("empty", "new_empty")):
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found, problems = compare(op, function)
        good, wrong = good + found, wrong + problems
    assert not wrong, f"{len(wrong)} of {good + len(wrong)}\n" + "\n".join(wrong)
    assert good > 50
