"""op_db and module_db in float16 and bfloat16."""

import copy
import warnings

import numpy as np
import pytest
import torch

import badak
from badak.core.errors import BadakError
from tests import tiers
from tests.torch_samples import halves, reasons, test_modules, test_ops
from tests.torch_samples.exchange import Exchange, NotOurs, agree_in_memory, flat

# PyTorch's samples take seconds to import: `make check` has the rows of tests/samples.
pytestmark = pytest.mark.slow

PARTS = 4
DTYPES = ("bfloat16", "float16")
DRAWN = ("dropout", "rand", "normal", "bernoulli", "multinomial", "uniform", "cauchy", "exponential", "geometric")
COMMON = {  # what a Transformer is made of: looked at in `make check`, too
    "add", "mul", "nn.functional.linear", "matmul", "bmm", "einsum", "softmax", "log_softmax", "nn.functional.layer_norm",
    "nn.functional.rms_norm", "nn.functional.gelu", "nn.functional.silu", "nn.functional.cross_entropy", "sum", "mean", "var",
    "nn.functional.scaled_dot_product_attention", "nn.functional.embedding", "nn.functional.conv1d", "cat", "where", "sigmoid",
    "nn.functional.dropout", "index_select", "rsqrt", "cumsum", "masked_fill", "expand", "nn.functional.mse_loss", "norm", "exp",
}  # fmt: skip


def run(op, function, sample) -> bool:
    """Compare one sample; False where it is none for badak, or PyTorch has no kernel."""
    exchange, given = Exchange(), (sample.input, sample.args, sample.kwargs)
    try:
        x, args, named = exchange(given[0]), exchange(given[1]), exchange(given[2])
    except NotOurs:
        return False
    torch.manual_seed(42)
    try:
        theirs = op(given[0], *given[1], **given[2])
    except Exception:
        return False
    wide = halves.doubled(given)
    badak.manual_seed(42)
    ours = function(x, *args, **named)
    part = sample.output_process_fn_grad or (lambda y: y)
    theirs, ours = part(theirs), part(ours)
    random = any(word in test_ops.label(op) for word in DRAWN)  # other dtypes draw other numbers
    exact = theirs if random else part(op(wide[0], *wide[1], **wide[2]))
    terms = max([1, *(a.numel() for a, _ in exchange._made.values())])
    halves.agree(theirs, ours, exact, "result", terms)
    if not op.name.startswith(reasons.LIBRARIES):
        agree_in_memory(theirs, ours)
    if not random and any(getattr(y, "grad_fn", None) is not None for y in flat(theirs)):
        twins = {id(a): b for a, b in zip(halves.tensors(given), halves.tensors(wide), strict=True)}
        halves.agree_in_gradients(theirs, ours, exact, [(a, b, twins[id(a)]) for a, b in exchange.leaves], terms)
    return True


def problems_of(op, most: int) -> tuple[int, list[str]]:
    """(samples that agree, what is wrong with the others that no reason explains)."""
    good, wrong, function = 0, [], test_ops.of_badak(op)
    for dtype in DTYPES:
        for sample in test_ops.samples(op, dtype, most):
            try:
                good += run(op, function, sample)
            except (BadakError, AssertionError) as problem:
                wrong.append(test_ops.told(problem, sample))
            except Exception as problem:
                wrong.append(f"foreign {type(problem).__name__}: " + test_ops.told(problem, sample))
    return good, wrong


@pytest.mark.thin(1)
@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_functions_on_sixteen_bits(part):
    problems, agreed = [], 0
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for op in test_ops.database()[part::PARTS]:
            if test_ops.of_badak(op) is not None:
                good, wrong = problems_of(op, 2)
                agreed += good
                problems += reasons.unexplained(reasons.HALVES, test_ops.label(op), wrong)
    assert not problems, "\n" + "\n".join(problems)
    assert agreed > (800 if tiers.chosen == "nightly" else 200)


@pytest.mark.slow
def test_what_transformers_are_made_of_on_sixteen_bits():
    problems, agreed = [], 0
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for op in test_ops.database():
            if op.name in COMMON:
                good, wrong = problems_of(op, 3)
                agreed += good
                signs = [reason.sign for reason in reasons.HALVES if reason.name == test_ops.label(op)]
                problems += [f"{test_ops.label(op)}: {text}" for text in wrong if not any(sign in text for sign in signs)]
    assert not problems, "\n" + "\n".join(problems)
    assert agreed > 100


def run_module(info, sample, dtype: str, training: bool) -> bool:
    """Compare one layer: results and gradients; False where it is none for badak."""
    theirs, given = test_modules.made(info.module_cls, info, sample, dtype, training), sample.forward_input
    if theirs is None or given is None or info.module_cls.__name__.startswith("Lazy"):  # those become the others
        return False
    wide, wide_given = halves.doubled_module(theirs), halves.doubled((given.args, given.kwargs))
    state = copy.deepcopy(theirs.state_dict())
    torch.manual_seed(5)
    try:
        expected = theirs(*given.args, **given.kwargs)
    except Exception:
        return False
    build, exchange = Exchange(), Exchange()
    try:
        arguments = build(sample.constructor_input.args), build(sample.constructor_input.kwargs)
        args, named, state = exchange(given.args), exchange(given.kwargs), Exchange()(dict(state))
    except NotOurs:
        return False
    ours = getattr(badak.nn, info.module_cls.__name__)(*arguments[0], **arguments[1])
    ours = ours.to(getattr(badak, dtype)).train(training)
    ours.load_state_dict(state)
    badak.manual_seed(5)
    found = ours(*args, **named)
    random = "Fractional" in info.name or training and any(getattr(m, "p", 0) or getattr(m, "dropout", 0) for m in theirs.modules())
    exact = expected if random else wide(*wide_given[0], **wide_given[1])
    terms = max([1, *(a.numel() for a, _ in exchange._made.values()), *(p.numel() for p in theirs.parameters())])
    steps = roundings(theirs)
    halves.agree(expected, found, exact, "result", terms, steps)
    if not random and any(getattr(y, "grad_fn", None) is not None for y in flat(expected)):
        twins = {id(a): b for a, b in zip(halves.tensors((given.args, given.kwargs)), halves.tensors(wide_given), strict=True)}
        leaves = [(a, b, twins[id(a)]) for a, b in exchange.leaves]
        leaves += zip(theirs.parameters(), ours.parameters(), wide.parameters(), strict=True)
        halves.agree_in_gradients(expected, found, exact, leaves, terms, steps)
    return True


def roundings(module) -> int:
    """How many roundings to 16 bits one after the other lead to a result or a gradient of this layer."""
    inside = len(list(module.modules()))
    several = inside > 1 or isinstance(module, torch.nn.RNNBase | torch.nn.RNNCellBase | torch.nn.MultiheadAttention)
    return 8 * inside if several else 2


@pytest.mark.slow
def test_modules_on_sixteen_bits():
    problems, agreed = [], 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for info in test_modules.database():
            wrong = []
            for dtype in DTYPES:
                for training in (True, False):
                    for sample in test_modules.samples(info, dtype, training):
                        try:
                            agreed += run_module(info, sample, dtype, training)
                        except (BadakError, AssertionError) as problem:
                            wrong.append(f"{str(problem).split(chr(10))[0]} <- {sample.desc} ({dtype})")
                        except Exception as problem:
                            wrong.append(f"foreign {type(problem).__name__}: {problem} <- {sample.desc} ({dtype})")
            problems += reasons.unexplained(reasons.HALF_MODULES, info.module_cls.__name__, wrong)
    assert not problems, "\n" + "\n".join(problems)
    assert agreed > (1000 if tiers.chosen == "nightly" else 250)
