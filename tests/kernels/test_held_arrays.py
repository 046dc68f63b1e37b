"""Arrays that kernels reach by their number live as long as somebody can run a call that has the number."""

import ast
import copy
import gc
import weakref
from pathlib import Path

import numpy as np
import pytest

from badak import kernels
from badak.optim import SGD
from tests.kernels.twin import fast_kernels

fast = fast_kernels()

from badak.kernels.numba._tables import GRAD, PARAM, Table  # noqa: E402
from badak.kernels.numba.codegen.arrays import Numbers  # noqa: E402

SIZES = (3, 20_000, 257)


def arrays(value):
    return [np.full(size, value, np.float32) for size in SIZES]


def alive(references):
    gc.collect()
    return [reference() is not None for reference in references]


def poison():
    """Memory of the sizes that were freed, full of other numbers."""
    return [np.full(size, 1e30, np.float32) for size in SIZES for _ in range(20)]


@pytest.fixture
def log(monkeypatch):
    """The calls of kernels that this thread makes, as a recording keeps them."""
    import threading

    monkeypatch.setattr(fast.call_log, "log", [])
    monkeypatch.setattr(fast.call_log, "thread", threading.get_ident(), raising=False)
    return fast.call_log.log


def update(params, grads, memo):
    """p = p - g for all, by the kernel of SGD."""
    scalars = SGD.scalars(SGD_GROUP, 1)
    fast.update_all(SGD.UPDATE, params, grads, [None] * len(SGD.UPDATE.slots), [tuple(scalars)] * len(params), memo)


SGD_GROUP = {"lr": 1.0, "momentum": 0, "dampening": 0, "weight_decay": 0, "nesterov": False, "maximize": False}


@pytest.mark.slow
def test_rows_alone_keep_their_arrays():
    params = arrays(1)
    references = [weakref.ref(x) for x in params]
    rows = Table([params]).rows
    del params
    assert alive(references) == [True] * 3
    view = rows[:1]
    del rows
    assert alive(references) == [True] * 3
    del view
    assert alive(references) == [False] * 3


@pytest.mark.slow
def test_a_column_lets_go_when_others_are_put_there():
    old, new = arrays(1), arrays(2)
    references = [weakref.ref(x) for x in (*old, *new)]
    numbers = Numbers((3, 2))
    numbers.put(1, old)
    del old
    numbers.put(1, new)
    assert numbers.rows[:, 1].tolist() == list(map(id, new))
    del new
    assert alive(references) == [False] * 3 + [True] * 3
    numbers.clear(1)
    assert alive(references) == [False] * 6 and not numbers.rows.any()


def test_numbers_are_not_copied():
    numbers = Numbers((3, 1))
    for duplicate in (copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="^Numbers: the arrays of a copy are others"):
            duplicate(numbers)


@pytest.mark.slow
def test_calls_that_are_played_again_keep_the_arrays_that_tables_name(log):
    grads = arrays(2)
    expected = fast.norm_all(grads, 2.0, {})
    calls = fast.CallList(log)
    norm = log[-1][3][0]
    references = [weakref.ref(x) for x in grads]
    del grads
    log.clear()
    assert alive(references) == [True] * 3
    kept = poison()
    norm[...] = 0
    assert calls.play() is None
    assert norm == expected and len(kept) == 60
    del calls
    assert alive(references) == [False] * 3


@pytest.mark.slow
def test_an_optimizer_lets_the_gradients_go_after_its_step():
    params, grads, memo = arrays(5), arrays(2), {}
    update(params, grads, memo)
    assert not memo["table"].rows[:, GRAD].any()
    references = [weakref.ref(x) for x in (*grads, *params)]
    del grads, params
    assert alive(references) == [False] * 3 + [True] * 3  # the table names the parameters, for the next step
    assert memo["table"].rows[:, PARAM].all()
    memo.clear()
    assert alive(references) == [False] * 6


@pytest.mark.slow
def test_a_step_that_is_played_again_keeps_its_gradients_through_other_steps(log):
    params, grads, memo = arrays(5), arrays(2), {}
    update(params, grads, memo)
    prepare, calls = fast.update_kept(memo, grads), fast.CallList(log)
    references = [weakref.ref(x) for x in grads]
    del grads
    others = arrays(100)
    update(params, others, memo)
    del others
    kept = poison()
    before = [x.copy() for x in params]
    prepare([SGD.scalars(SGD_GROUP, 1)] * 3)
    assert calls.play() is None
    for x, old in zip(params, before):
        np.testing.assert_array_equal(x, old - 2)
    assert alive(references) == [True] * 3 and len(kept) == 60
    memo["table"].release()
    del prepare, calls
    log.clear()
    assert alive(references) == [False] * 3


def test_a_step_that_was_not_prepared_changes_nothing(log):
    """Its gradients are gone: it has no numbers that could lead to them."""
    params, memo = arrays(5), {}
    update(params, arrays(2), memo)
    before = [x.copy() for x in params]
    calls, kept = fast.CallList(log), poison()
    assert calls.play() is None
    for x, old in zip(params, before):
        np.testing.assert_array_equal(x, old)
    assert len(kept) == 60


# ------------------------------------------------------------------ scratch memory that compiled code reaches by its address


def made_here(function) -> set[str]:
    """The local arrays of a function whose address is taken."""
    made = {
        target.id
        for node in ast.walk(function)
        if isinstance(node, ast.Assign) and ast.unparse(node.value).startswith(("np.empty", "np.zeros", "np.ones", "np.full"))
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    attributes = [node for node in ast.walk(function) if isinstance(node, ast.Attribute)]
    return made & {ast.unparse(node.value) for node in attributes if node.attr == "ctypes"}


@pytest.mark.slow
def test_an_array_is_named_after_its_address_was_used():
    """Compiled code frees an array after its last mention; what was written to the address then went to memory of others."""
    seen = []
    for path in sorted(Path(kernels.__file__).parent.glob("numba/**/*.py")):
        for function in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(function, ast.FunctionDef) or not function.decorator_list:
                continue
            for name in made_here(function):
                seen.append(name)
                last = {node.id for node in ast.walk(function.body[-1]) if isinstance(node, ast.Name)}
                assert name in last, f"{path.name}, {function.name}: the last statement must name {name}, or it is freed before"
    assert seen  # the packed rows of a product
