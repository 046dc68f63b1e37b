"""Every argument that PyTorch takes by name is taken by that name here: functions, methods and methods in place.

The calls are PyTorch's own samples, their positions turned into the names of its schemas and signatures. What PyTorch takes so,
badak takes so; what the call then gives is for other tests.
"""

import functools
import inspect
import re
import warnings

import pytest
import torch

import badak
from tests.tiers import thinned
from tests.wrong_input import calls

# PyTorch's samples take seconds to import: `make check` has the rows of tests/samples.
pytestmark = pytest.mark.slow


@functools.cache
def schemas() -> dict[str, list]:
    found: dict[str, list] = {}
    for each in torch._C._jit_get_all_schemas():
        if each.name.startswith("aten::"):
            found.setdefault(each.name.removeprefix("aten::"), []).append([a.name for a in each.arguments])
    return found


def words(name: str, theirs) -> list[list[str]]:
    """The orders of names in which the arguments of a function of PyTorch stand, without its first."""
    try:
        given = [p for p in inspect.signature(theirs).parameters.values() if p.kind is p.POSITIONAL_OR_KEYWORD]
        return [[p.name for p in given]]
    except (TypeError, ValueError):
        return schemas().get(name.replace("linalg.", "linalg_").replace("fft.", "fft_").replace("special.", "special_"), [])


def at(thing, name: str):
    try:
        return functools.reduce(getattr, name.split("."), thing)
    except (AttributeError, RuntimeError):
        return None


def tried(function, args, kwargs) -> str:
    """ "" where the names were taken, else what was said."""
    try:
        function(*args, **kwargs)
    except Exception as error:
        said = str(error)
        if re.search(r"unexpected keyword|missing (\d+ )?(a )?required|multiple values|takes \d+ positional|not implemented", said):
            return said
    return ""


def named(name: str, op, method: str) -> list[str]:
    """What badak says against a call that PyTorch takes; method: "" for the function, "_" for the one in place."""
    theirs = at(torch.Tensor, name + method.strip("f")) if method != "f" else at(torch, name)
    ours = at(badak.Tensor, name + method.strip("f")) if method != "f" else at(badak, name)
    if not callable(theirs) or not callable(ours) or isinstance(theirs, type):
        return []
    found = []
    dtypes = op.supported_dtypes("cpu")
    dtype = next((each for each in (torch.float32, torch.int64, torch.bool) if each in dtypes), torch.complex64)
    for sample in thinned(list(op.sample_inputs("cpu", dtype))[:6], 2):
        for order in words(name, theirs) or words(name + "_", theirs):
            if len(order) <= len(sample.args) or any(a in ("self", "args") for a in order[1:]):
                continue
            kwargs = dict(zip(order[1:], sample.args)) | sample.kwargs
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    theirs(sample.input, **kwargs)
                    mine = calls.as_badak(sample.input), calls.as_badak(kwargs)
            except (calls.NotHere, Exception):
                continue
            if said := tried(ours, mine[:1], mine[1]):
                found.append(f"{name}{method}({', '.join(kwargs)}): {said}")
    return found


ROWS = [(name, op) for name, ops in sorted(calls.sampled().items()) for op in ops[:1]]


@pytest.mark.thin(90)
@pytest.mark.parametrize("name, op", ROWS, ids=[name for name, _ in ROWS])
def test_what_pytorch_takes_by_name_is_taken_by_name(name, op):
    with warnings.catch_warnings(), badak.kernels.use("reference"):
        warnings.simplefilter("ignore")
        assert not [said for method in ("f", "", "_") for said in named(name, op, method)]


def taken(lib, name, **kwargs) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            getattr(lib, name)(**kwargs)
    except Exception:
        return False
    return True


def test_the_first_argument_is_taken_by_name_too():
    names = [name for name in dir(badak.Tensor) if name[0] != "_" and name[-1] != "_" and callable(getattr(badak, name, None))]
    mine, theirs = badak.eye(3) + 1, torch.eye(3) + 1
    asked = [name for name in names if taken(torch, name, input=theirs)]
    assert len(asked) > 100
    assert [name for name in asked if not taken(badak, name, input=mine)] == []
