"""How two libraries are held against each other: the same numbers in, the same numbers out, to a stated tolerance."""

from types import ModuleType
from typing import Any

import numpy as np
import torch

import badak
from tests.compare import DEEP as DEEP
from tests.compare import assert_close
from tests.samples import Draw

NUMPY = {"float32": np.float32, "float64": np.float64}


def array(tensor: Any) -> np.ndarray:
    """The values of a tensor of either library."""
    return np.asarray(tensor.detach().numpy())


def assert_same(found: Any, expected: Any, units: float, what: str = "") -> None:
    """As tests/compare.py has it."""
    assert_close(found, expected, units=units, what=what)


def draw(specs, dtype: str, seed: int = 0) -> list[np.ndarray | None]:
    """NumPy inputs from shapes (normal numbers), Draws and arrays; floats in `dtype`."""
    rng = np.random.default_rng(seed)
    found = []
    for spec in specs:
        if spec is None:
            found.append(None)
            continue
        value = spec.make(rng) if isinstance(spec, Draw) else spec if isinstance(spec, np.ndarray) else rng.standard_normal(spec)
        value = np.asarray(value)
        found.append(value.astype(NUMPY[dtype]) if value.dtype.kind == "f" else value)
    return found


def tensors(lib: ModuleType, arrays) -> list[Any]:
    """The arrays as tensors of `lib`; floats require a gradient."""
    made = [None if a is None else lib.from_numpy(a.copy()) for a in arrays]
    return [t.requires_grad_() if t is not None and t.is_floating_point() else t for t in made]


def with_dtype(model: Any, dtype: str) -> Any:
    """The module with its parameters in `dtype`."""
    return model.double() if dtype == "float64" else model.float()


def twins(make, dtype: str, seed: int = 3):
    """`make(lib)` in PyTorch and in badak, after the same seed; (theirs, ours)."""
    made = []
    for lib in (torch, badak):
        lib.manual_seed(seed)
        made.append(with_dtype(make(lib), dtype))
    return tuple(made)


def copy_state(source: Any, target: Any) -> None:
    """Load PyTorch's state into badak's module; every key must fit."""
    state = {key: badak.from_numpy(array(value).copy()) for key, value in source.state_dict().items()}
    target.load_state_dict(state)


def assert_same_state(found: Any, expected: Any, units: float, what: str) -> None:
    """The same keys in the same order, with the same values."""
    ours, theirs = found.state_dict(), expected.state_dict()
    assert list(ours) == list(theirs), what
    for key, value in theirs.items():
        assert_same(ours[key], value, units, f"{what} {key}")


def assert_same_gradients(found: Any, expected: Any, units: float, what: str) -> None:
    """The same .grad for every parameter, None where PyTorch has None."""
    ours = dict(found.named_parameters())
    for name, parameter in expected.named_parameters():
        assert_same(ours[name].grad, parameter.grad, units, f"{what}: gradient of {name}")


def flat(outputs: Any) -> list[Any]:
    """The tensors in a result that may be a tuple, also of tuples."""
    if isinstance(outputs, tuple | list):
        return [y for part in outputs for y in flat(part)]
    return [] if outputs is None else [outputs]


def run(lib: ModuleType, call, arrays, seed: int = 11):
    """(outputs, inputs) after backward of a fixed random combination of the float outputs; dropout starts at `seed`."""
    inputs = tensors(lib, arrays)
    lib.manual_seed(seed)
    outputs = flat(call(*inputs))
    rng = np.random.default_rng(5)
    parts = [(y, rng.standard_normal(tuple(y.shape))) for y in outputs]
    total = None
    for y, dy in parts:
        if y.requires_grad:
            part = (y * lib.from_numpy(np.asarray(dy, array(y).dtype))).sum()
            total = part if total is None else total + part
    if total is not None:
        total.backward()
    return outputs, inputs


def assert_same_run(ours: Any, theirs: Any, arrays, units: float, what: str) -> None:
    """Outputs, gradients of inputs and of parameters agree for one call of two modules (or functions)."""
    found, inputs = run(badak, ours, arrays)
    expected, twin_inputs = run(torch, theirs, arrays)
    assert len(found) == len(expected), f"{what}: {len(found)} outputs, PyTorch has {len(expected)}"
    for number, (y, twin) in enumerate(zip(found, expected)):
        assert_same(y, twin, units, f"{what}: output {number}")
    for number, (x, twin) in enumerate(zip(inputs, twin_inputs)):
        if twin is not None and twin.requires_grad:
            assert_same(x.grad, twin.grad, units, f"{what}: gradient of input {number}")
    if hasattr(theirs, "named_parameters"):
        assert_same_gradients(ours, theirs, units, what)
