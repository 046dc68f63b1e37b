"""Nothing writes to a tensor's memory but functions with a decorator of core/events.py: found in the source itself."""

import ast

import pytest

from tests import sources
from tests.sources import PACKAGE

pytestmark = pytest.mark.slow

WITHIN = {  # called by functions with a decorator of events only, or where nobody may watch
    ("tensor/getset.py", "_replace"): "the write of _assign, which has a decorator",
    ("tensor/history.py", "_take_gradient"): "what events do with a gradient where nobody watches",
    ("nn/cache.py", "_taken"): "the write of take(), which has a decorator",
    ("nn/cache.py", "_kept_in"): "the write of the memory's keys, whose caller has one",
    ("distributed/collectives.py", "put"): "what came from other ranks: begin() tells of it, and no recording goes on",
    ("distributed/reducer.py", "take"): "the same, for gradients",
    ("distributed/data_parallel.py", "_from_first"): "the same, for the weights of the first rank",
    ("distributed/data_parallel.py", "data"): "the write of _from_first",
    ("distributed/optim/zero_redundancy_optimizer.py", "_share"): "the same, for what other ranks have updated",
    ("optim/sgd.py", "_update_sparse"): "the write of step(), which has a decorator",
    ("optim/adagrad.py", "_update_sparse"): "the write of step(), which has a decorator",
    ("optim/sparse_adam.py", "_update"): "the write of step(), which has a decorator",
    ("optim/lbfgs.py", "at"): "the way back within step(), which has a decorator",
    ("optim/lbfgs.py", "moved"): "the write of step(), which has a decorator",
    ("optim/lr_scheduler/base.py", "set_lrs"): "the write of step(), which has a decorator",
}


def is_memory(node) -> bool:
    """Whether an expression is x._array, or a part of it."""
    if isinstance(node, ast.Subscript):
        return is_memory(node.value)
    return isinstance(node, ast.Attribute) and node.attr == "_array"


def writes(node) -> bool:
    """Whether a statement or a call writes to the memory of a tensor."""
    if isinstance(node, ast.Assign):
        return any(isinstance(target, ast.Subscript) and is_memory(target) for target in node.targets)
    if isinstance(node, ast.AugAssign):
        return is_memory(node.target)
    if isinstance(node, ast.Call):
        name = node.func
        filled = isinstance(name, ast.Attribute) and name.attr in ("fill", "sort", "partition") and is_memory(name.value)
        return filled or any(each.arg == "out" and is_memory(each.value) for each in node.keywords)
    return False


def is_behind(function, text: str) -> bool:
    """Whether a function has a decorator of events, or a twin with one that is called where somebody watches."""
    decorated = any(ast.unparse(each).startswith("events.") for each in function.decorator_list)
    return decorated or f"events.writes({function.name})" in text


def found() -> dict:
    """(file, function) of every write outside of kernels and replays: whether it has a decorator."""
    places = {}
    for name, nodes in sources.nodes(r"\._array\b"):
        if name.startswith(("kernels/", "compiler/")):
            continue
        text = (PACKAGE / name).read_text()
        for function in nodes:
            if isinstance(function, ast.FunctionDef) and any(map(writes, ast.walk(function))):
                places[name, function.name] = is_behind(function, text)
    return places


def test_every_write_to_a_tensors_memory_is_behind_the_door():
    places = found()
    assert len(places) >= 5, "the search finds nothing"
    assert {place for place, behind in places.items() if not behind} <= WITHIN.keys()
