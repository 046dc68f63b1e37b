"""What an optimizer remembers, as a table that travels: PyTorch's form, with parameters numbered in the order of the groups."""

from collections import defaultdict
from collections.abc import Container, Iterable
from copy import deepcopy
from typing import Any, NoReturn

import numpy as np

from badak.core.errors import StateError, tr
from badak.tensor import Tensor


class OptimizerStateError(StateError, ValueError):
    """A state that does not fit the optimizer or schedule it is loaded into."""


def pack(state: dict[Any, Any], groups: list[dict[str, Any]]) -> dict[str, Any]:
    """{"state": {number: its memory}, "param_groups": [settings and numbers]}."""
    numbers: dict[int, int] = {}
    packed = []
    for group in groups:
        for p in group["params"]:
            numbers.setdefault(id(p), len(numbers))
        settings = {name: value for name, value in group.items() if name != "params"}
        packed.append({**settings, "params": [numbers[id(p)] for p in group["params"]]})
    return {
        "state": {numbers[id(key)] if isinstance(key, Tensor) else key: value for key, value in state.items()},
        "param_groups": packed,
    }


def load_groups(loaded: dict[str, Any], groups: list[dict[str, Any]], owner: str) -> list[dict[str, Any]]:
    """The loaded settings with our own parameters in them. Raises OptimizerStateError where the groups differ in number or size."""
    _check_form(loaded, owner)
    theirs = loaded["param_groups"]
    if len(theirs) != len(groups):
        cause = tr("loaded state dict has a different number of parameter groups: {}, {} has {}", len(theirs), owner, len(groups))
        raise OptimizerStateError(cause, "build the optimizer with the groups that it had when it was saved")
    for number, (ours, other) in enumerate(zip(groups, theirs)):
        if len(ours["params"]) != len(other["params"]):
            cause = tr("loaded state dict contains a parameter group that doesn't match the size of optimizer's group: group {} "
                       "has {} parameters, {}'s has {}", number, len(other["params"]), owner, len(ours["params"]))  # fmt: skip
            raise OptimizerStateError(cause, "build the optimizer for the model that it was saved with")
    merged = []
    for ours, other in zip(groups, theirs):
        names = {"param_names": ours["param_names"]} if "param_names" in ours else {}
        merged.append(
            {**names, **deepcopy({name: value for name, value in other.items() if name != "params"}), "params": ours["params"]}
        )
    return merged


def _check_form(loaded: Any, owner: str) -> None:
    """Raise OptimizerStateError unless the outer form is that of `pack`."""
    if not isinstance(loaded, dict):
        refuse(owner, tr("expected a dict; got {}", type(loaded).__name__))
    if "state" not in loaded or "param_groups" not in loaded:
        found = ", ".join(map(repr, [*loaded][:8])) or "none"
        refuse(owner, tr("expected the keys 'state' and 'param_groups'; got {}", found))
    state, groups = loaded["state"], loaded["param_groups"]
    if not isinstance(state, dict):
        refuse(owner, tr("'state' should be a dict; got {}", type(state).__name__))
    if not isinstance(groups, list | tuple):
        refuse(owner, tr("'param_groups' should be a list; got {}", type(groups).__name__))
    for at, group in enumerate(groups):
        if not isinstance(group, dict):
            refuse(owner, tr("param_groups[{}] should be a dict; got {}", at, type(group).__name__))
        numbers = group.get("params")
        if not isinstance(numbers, list | tuple) or not all(type(number) is int for number in numbers):
            refuse(owner, tr("param_groups[{}]['params'] should be a list of numbers of parameters", at))
        if not all(isinstance(name, str) for name in group):
            refuse(owner, tr("param_groups[{}] has a setting whose name is no string", at))


def refuse(owner: str, cause: str) -> NoReturn:
    fix = tr("pass what optimizer.state_dict() gave; a model's goes to model.load_state_dict")
    raise OptimizerStateError(tr("{}.load_state_dict: {}", owner, cause), fix)


def check_memory(
    owner: str,
    memory: Any,
    p: Tensor,
    needed: list[str],
    shapes: dict[str, tuple[int, ...]],
    numbers: Iterable[str] = (),
    more: bool = False,
) -> None:
    """Raise OptimizerStateError unless `memory`, loaded for p, has what is needed and, unless there may be `more`, only that.

    shapes: those of arrays of p's dtype, by name; numbers: the names of real numbers.
    """
    of = tr("the state of a parameter of shape {}", tuple(p.shape))
    if not isinstance(memory, dict):
        refuse(owner, tr("{} should be a dict; got {}", of, type(memory).__name__))
    missing = [name for name in needed if memory.get(name) is None]
    if missing:
        refuse(owner, tr("{} lacks {!r}", of, missing[0]))
    for name, value in memory.items():
        if name == "step" and name in needed:
            _check_step(owner, of, value)
        elif name in numbers:
            check_number(owner, tr("{!r} in {}", name, of), value)
        elif name in shapes:
            if value is not None:
                check_slot(owner, tr("{!r} in {}", name, of), value, p, shapes[name])
        elif not more:
            refuse(owner, tr("{} has {!r}, which {} does not remember", of, str(name)[:40], owner))


def check_number(owner: str, what: str, value: Any) -> None:
    """A real number, bare or in a 0-d tensor."""
    real = isinstance(value, int | float) and not isinstance(value, bool)
    if not (real or (isinstance(value, Tensor) and value.shape == () and value._array.dtype.kind == "f")):
        refuse(owner, tr("{} should be a number; got {}", what, type(value).__name__))
    if isinstance(value, int) and abs(value) >= 2**63:
        refuse(owner, tr("{} should be a number below 2**63; got a larger one", what))


def check_slot(owner: str, what: str, value: Any, p: Tensor, shape: tuple[int, ...]) -> None:
    """An array of this shape and p's dtype."""
    if not isinstance(value, Tensor):
        refuse(owner, tr("{} should be a tensor; got {}", what, type(value).__name__))
    if tuple(value.shape) != shape:
        refuse(owner, tr("{} has shape {}", what, tuple(value.shape)))
    if value.dtype != p.dtype:
        refuse(owner, tr("{} has dtype {}, the parameter {}", what, value.dtype, p.dtype))


def _check_step(owner: str, of: str, value: Any) -> None:
    """A count of steps: an integer, bare or in a tensor."""
    if isinstance(value, Tensor) and value.numel() == 1:
        value = value.item()
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 2**53 or value != int(value):
        shown = value if isinstance(value, int | float) else f"a {type(value).__name__}"
        refuse(owner, tr("'step' in {} should be a count of steps; got {}", of, shown))


def load_state(
    state: dict[Any, Any],
    loaded_groups: list[dict[str, Any]],
    groups: list[dict[str, Any]],
    owner: str,
    numbers: Iterable[str] = (),
) -> defaultdict[Any, Any]:
    """The loaded memory, keyed by our own parameters, copied. numbers: what of it keeps its dtype, as "step" does."""
    owners = {number: p for theirs, ours in zip(loaded_groups, groups) for number, p in zip(theirs["params"], ours["params"])}
    made: defaultdict[Any, Any] = defaultdict(dict)
    for key, value in state.items():
        p = owners.get(key)
        if p is None and type(key) is int:
            refuse(owner, tr("'state' has the memory of parameter {}, which is in no group", key))
        made[key if p is None else p] = _copied(value, p, {"step", *numbers})
    return made


def _copied(value: Any, p: Tensor | None, own: Container[str] = (), key: Any = None) -> Any:
    """`value` with tensors copied: moments in the dtype of p, those under a key in `own` in theirs."""
    if isinstance(value, dict):
        return {name: _copied(item, p, own, name) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_copied(item, p) for item in value)
    if not _is_tensor(value):
        return deepcopy(value)
    array = value._array if isinstance(value, Tensor) else np.asarray(value)
    kinds = (p._array.dtype.kind, array.dtype.kind) if p is not None and key not in own else ("", "")
    follow = kinds in (("f", "f"), ("c", "c"))
    return Tensor._of(np.array(array, p._array.dtype if follow and p is not None else array.dtype))


def _is_tensor(value: Any) -> bool:
    """A Tensor, or another library's array that is not NumPy's own."""
    return isinstance(value, Tensor) or (
        hasattr(value, "__array__") and hasattr(value, "shape") and not isinstance(value, (np.ndarray, np.generic))
    )
