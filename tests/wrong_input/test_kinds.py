"""Every switch and every integer of every public function: what PyTorch refuses in its place is refused in two lines."""

import functools
import inspect
import warnings

import numpy as np
import pytest

import badak
from badak.core.public_api.explain import unwrap
from badak.core.public_api.kinds import SPACES, kinds_of
from badak.core.public_api.taken import BY_NAME, parameters_of
from tests.wrong_input import calls

# PyTorch's samples take seconds to import: `make check` has the rows of tests/samples.
pytestmark = pytest.mark.slow

NO_SWITCHES = ("a", "", 2, -1, 2.5, float("nan"), [], [True], {}, {1}, 1j, object(), int)
NO_NUMBERS = (
    True, np.float32(2), badak.ones(1, dtype=badak.int64), badak.tensor(2.0), badak.tensor(True), [2],
    2.5, 1.0, float("nan"), float("inf"), 1j, "a", {}, {1}, int, 2**63, -(2**63) - 1, 2**70,
)  # fmt: skip
SWITCHES = (True, False, 0, 1)


def rows():
    for name, function in calls.public().items():
        if function.__module__ in SPACES and kinds_of(unwrap(function)):
            yield name


ROWS = sorted(rows())


def said(function, args, kwargs) -> str:
    with warnings.catch_warnings(), badak.kernels.use("reference"):
        warnings.simplefilter("ignore")
        try:
            function(*args, **kwargs)
        except Exception as error:
            return str(error)
    return ""


def method(self, a: int, /, b=2, *rest: int, c: bool, d="d", **others): ...


@pytest.mark.parametrize(
    "functions",
    [
        calls.public().values(),
        [unwrap(function) for function in calls.public().values()],
        [
            method,
            method.__get__(1),
            functools.partial(method, b=3),
            functools.wraps(method.__get__(1))(lambda *a: 1),
            np.sin,
            print,
        ],
    ],
    ids=["as they are called", "as they are written", "others"],
)
def test_what_is_read_from_code_is_what_python_says(functions):
    several = inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD
    for function in functions:
        told = [
            (each.name, BY_NAME if each.kind is each.KEYWORD_ONLY else place, repr(each.default), each.annotation)
            for place, each in enumerate(inspect.signature(function).parameters.values())
            if each.kind not in several
        ]
        assert [(*one[:2], repr(one[2]), one[3]) for one in parameters_of(function)] == told, function


def test_there_are_many():
    assert len(ROWS) > 200


@pytest.mark.parametrize("name", ROWS)
def test_a_switch_and_a_number_are_asked_for(name):
    function = calls.public()[name]
    kinds = kinds_of(unwrap(function))
    right = {place: False if is_switch else 0 for place, _, is_switch, _ in kinds}
    for place, argument, is_switch, _ in kinds:
        for wrong in NO_SWITCHES if is_switch else NO_NUMBERS:
            words = [said(function, [], {argument: wrong})]  # asked before the call begins
            if place < 1 << 30:
                words.append(said(function, [*map(right.get, range(place)), wrong], {}))
            expected = f"argument '{argument}' must be {'bool' if is_switch else 'int'}"
            assert all(expected in each and each.count("\nfix: ") == 1 for each in words), (argument, wrong, words)


@pytest.mark.parametrize("wrong", SWITCHES)
def test_what_is_a_switch_is_taken(wrong):
    x = badak.arange(6.0).reshape(2, 3)
    assert badak.sort(x, descending=wrong)[0].tolist() == badak.sort(x, descending=bool(wrong))[0].tolist()
    assert x.topk(2, largest=wrong)[0].tolist() == x.topk(2, largest=bool(wrong))[0].tolist()


@pytest.mark.parametrize("k", [2, badak.tensor(2), badak.tensor(2).numpy(), badak.tensor([2]).numpy()[0]])
def test_what_can_be_indexed_with_is_a_whole_number(k):
    assert badak.arange(6.0).topk(int(k))[0].tolist() == badak.topk(badak.arange(6.0), k)[0].tolist()


@pytest.mark.parametrize("name", ROWS)
def test_none_is_taken_only_where_it_is_the_default(name):
    function = calls.public()[name]
    for _, argument, is_switch, or_none in kinds_of(unwrap(function)):
        words = f"argument '{argument}' must be {'bool' if is_switch else 'int'}, not None"
        refused = words in said(function, [], {argument: None})
        assert refused != or_none, argument


def test_layers_take_what_is_true():
    layer = badak.nn.Linear(2, 3, bias=0)  # PyTorch asks `if bias:`
    assert layer.bias is None and badak.nn.functional.relu(badak.ones(2), inplace=1).tolist() == [1.0, 1.0]


@pytest.mark.parametrize("name", ["sum", "mean", "prod", "amax", "max", "argmax", "var"])
def test_an_axis_that_is_no_number(name):
    kinds = "int( or None| or Tensor or None| or a list of ints or None)?"
    with pytest.raises(TypeError, match=rf"{name}\(\): argument 'dim' must be {kinds}, not ('a'|str)\nfix: "):
        getattr(badak.ones(2, 3), name)("a")
