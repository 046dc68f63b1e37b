"""module_db: the layers and losses of torch.nn."""

import functools
import warnings

import pytest
import torch

import badak
from badak.core.errors import BadakError
from tests import tiers
from tests.torch_samples import reasons
from tests.torch_samples.exchange import Exchange, NotOurs, agree, agree_in_gradients, flat

# PyTorch's samples take seconds to import: `make check` has the rows of tests/samples.
pytestmark = pytest.mark.slow

MOST = 3  # samples of a class, dtype and mode, spread over all that there are; nightly takes all
DTYPES = ("float64", "float32")


@functools.cache
def database() -> list:
    from torch.testing._internal.common_modules import module_db

    return [info for info in module_db if hasattr(badak.nn, info.module_cls.__name__)]


def made(cls, info, sample, dtype: str, training: bool):
    """PyTorch's module with its own first weights, or None where PyTorch itself refuses."""
    torch.manual_seed(3)
    try:
        module = cls(*sample.constructor_input.args, **sample.constructor_input.kwargs)
    except Exception:
        return None
    return module.to(getattr(torch, dtype)).train(training)


def run(info, sample, dtype: str, training: bool) -> bool:
    """Compare one sample: weights, results, gradients, repr; False where it is none for badak."""
    theirs = made(info.module_cls, info, sample, dtype, training)
    if theirs is None or sample.forward_input is None:
        return False
    torch.manual_seed(5)
    given = sample.forward_input
    try:
        expected = theirs(*given.args, **given.kwargs)
    except Exception:
        return False
    build, exchange = Exchange(), Exchange()
    try:
        arguments = build(sample.constructor_input.args), build(sample.constructor_input.kwargs)
        args, named = exchange(given.args), exchange(given.kwargs)
        state = Exchange()(dict(theirs.state_dict()))
    except NotOurs:
        return False
    ours = getattr(badak.nn, info.module_cls.__name__)(*arguments[0], **arguments[1])
    ours = ours.to(getattr(badak, dtype)).train(training)
    assert list(ours.state_dict()) == list(state), "other names in state_dict"
    ours.load_state_dict(state)
    badak.manual_seed(5)
    found = ours(*args, **named)
    terms = max([1, *(a.numel() for a, _ in exchange._made.values()), *(p.numel() for p in theirs.parameters())])
    agree(expected, found, "result", terms)
    leaves = exchange.leaves + list(zip(theirs.parameters(), ours.parameters()))
    if any(getattr(y, "grad_fn", None) is not None for y in flat(expected)):
        agree_in_gradients(expected, found, leaves, terms)
    if "function" not in repr(theirs):
        assert repr(ours) == repr(theirs), "another repr"
    return True


def samples(info, dtype: str, training: bool) -> list:
    kind = getattr(torch, dtype)
    every = list(info.module_inputs_func(info, device="cpu", dtype=kind, requires_grad=True, training=training))
    return tiers.thinned(every, MOST)


def compare(info, dtype: str) -> tuple[int, list[str]]:
    good, wrong = 0, []
    for training in (True, False):
        for sample in samples(info, dtype, training):
            try:
                good += run(info, sample, dtype, training)
            except (BadakError, AssertionError) as problem:
                wrong.append(f"{str(problem).split(chr(10))[0]} <- {sample.desc} ({dtype})")
            except Exception as problem:
                wrong.append(f"foreign {type(problem).__name__}: {problem} <- {sample.desc} ({dtype})")
    return good, wrong


@pytest.mark.slow
def test_modules_agree_with_pytorch_on_pytorchs_samples():
    """Every class of module_db that badak has, training and not, on its samples for each of DTYPES."""
    problems, agreed = [], 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for info in database():
            wrong = []
            for dtype in DTYPES:
                good, found = compare(info, dtype)
                agreed += good
                wrong += found
            problems += reasons.unexplained(reasons.MODULES, info.module_cls.__name__, wrong)
    assert not problems, "\n" + "\n".join(problems)
    assert agreed > (1000 if tiers.chosen == "nightly" else 250)
