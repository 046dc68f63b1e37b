"""The three tiers of tests: check before every commit, test before a pull request, nightly for as long as it takes.

A test is in all three unless it is marked: `slow` is left to test and nightly, `nightly` to nightly alone. Of a test with many
cases check runs CASES, spread over all; of one that is marked `thin(N)` test runs N, and nightly all. A case that goes over many
things of a kind asks `thinned` and `draws` how many.
A test that is named (`pytest FILE::TEST`) runs in every tier.
"""

import contextlib
import functools
import inspect
import itertools
import re
from collections.abc import Iterable

import numpy as np
import pytest
import torch

from badak.core import errors

TIERS = ("check", "test", "nightly")
CASES = 2  # of a test, in check
chosen = "test"  # by pytest --tier


def thinned(items: Iterable, most: int) -> list:
    """All of the items in nightly, at most so many of them, spread over all, in test and check."""
    items = list(items)
    return items if chosen == "nightly" else items[:: max(1, -(-len(items) // most))]


def few(items: Iterable, most: int) -> list:
    """The items as cases of a test: at most so many, spread over all, are in test, the others in nightly alone."""
    items = list(items)
    step = max(1, -(-len(items) // most))
    return [item if at % step == 0 else pytest.param(item, marks=pytest.mark.nightly) for at, item in enumerate(items)]


def draws(count: int) -> int:
    """How many random inputs to try: so many in test, a tenth of them in check, 20 times as many in nightly."""
    return {"check": max(1, count // 10), "test": count, "nightly": 20 * count}[chosen]


def fresh() -> None:
    """The same random numbers as at the start, and warnings that have been said are said again."""
    errors.forget_warnings()
    np.random.seed(0)
    torch.manual_seed(0)
    torch.distributions.Distribution.set_default_validate_args(True)  # PyTorch's compiler, once imported, turns them off


@contextlib.contextmanager
def naming(case):
    """An error in the block names the case of a test that goes over many."""
    try:
        yield
    except Exception as error:
        error.add_note(f"with {case}")
        raise


def looped(**choices):
    """A decorator: the test runs for every combination of these values within one case; an error names those it came with."""

    def decorate(test):
        @functools.wraps(test)
        def run(*args, **kwargs):
            for values in itertools.product(*choices.values()):
                case = dict(zip(choices, values))
                fresh()
                with naming(", ".join(f"{name}={getattr(value, '__name__', value)}" for name, value in case.items())):
                    test(*args, **kwargs, **case)

        asked = inspect.signature(test)
        run.__signature__ = asked.replace(parameters=[p for name, p in asked.parameters.items() if name not in choices])
        return run

    return decorate


def left_out(path) -> bool:
    """Whether no test of this file is in the chosen tier: its `pytestmark` says so, and it need not be imported."""
    marked = re.search(r"^pytestmark = .*$", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return marked is not None and _tier(re.findall(r"pytest\.mark\.(\w+)", marked[0])) > TIERS.index(chosen)


def too_late(test) -> bool:
    """Whether a function or class of tests is marked for a later tier than the chosen one: its cases need not be made."""
    return _tier(mark.name for mark in getattr(test, "pytestmark", [])) > TIERS.index(chosen)


def split(items: list) -> tuple[list, list]:
    """(the tests of the chosen tier, the others)."""
    inside = [_tier(mark.name for mark in item.iter_markers()) <= TIERS.index(chosen) for item in items]
    return [item for item, here in zip(items, inside) if here], [item for item, here in zip(items, inside) if not here]


def cases(test, calls: list) -> list:
    """Those of a test's cases that are in the chosen tier: the others are not even made."""
    here = [call for call in calls if _tier(mark.name for mark in call.marks) <= TIERS.index(chosen)]
    thin = test.get_closest_marker("thin")
    most = CASES if chosen == "check" else thin.args[0] if chosen == "test" and thin else len(here)
    return here[:: -(-len(here) // most)] if here else []


def _tier(marks: Iterable[str]) -> int:
    """The number of the first tier in which a test with these marks is."""
    marks = set(marks)
    return 2 if "nightly" in marks else 1 if "slow" in marks else 0
