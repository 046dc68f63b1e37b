"""What an optimizer remembers, as a table that travels: PyTorch's form, with parameters numbered in the order of the groups."""

from collections import defaultdict
from copy import deepcopy
from typing import Any

import numpy as np

from badak.errors import StateError
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
    if "state" not in loaded or "param_groups" not in loaded:
        raise OptimizerStateError(
            f"{owner}.load_state_dict: expected the keys 'state' and 'param_groups'; got {', '.join(map(repr, loaded)) or 'none'}",
            "pass what optimizer.state_dict() gave; a model's goes to model.load_state_dict",
        )
    theirs = loaded["param_groups"]
    if len(theirs) != len(groups):
        raise OptimizerStateError(
            f"loaded state dict has a different number of parameter groups: {len(theirs)}, {owner} has {len(groups)}",
            "build the optimizer with the groups that it had when it was saved",
        )
    for number, (ours, other) in enumerate(zip(groups, theirs)):
        if len(ours["params"]) != len(other["params"]):
            raise OptimizerStateError(
                "loaded state dict contains a parameter group that doesn't match the size of optimizer's group: "
                f"group {number} has "
                f"{len(other['params'])} parameters, {owner}'s has {len(ours['params'])}",
                "build the optimizer for the model that it was saved with",
            )
    merged = []
    for ours, other in zip(groups, theirs):
        names = {"param_names": ours["param_names"]} if "param_names" in ours else {}
        merged.append(
            {
                **names,
                **deepcopy({name: value for name, value in other.items() if name != "params"}),
                "params": ours["params"],
            }
        )
    return merged


def load_state(
    state: dict[Any, Any], loaded_groups: list[dict[str, Any]], groups: list[dict[str, Any]]
) -> defaultdict[Any, Any]:
    """The loaded memory, keyed by our own parameters, copied."""
    owners = {
        number: p for theirs, ours in zip(loaded_groups, groups) for number, p in zip(theirs["params"], ours["params"])
    }
    made: defaultdict[Any, Any] = defaultdict(dict)
    for key, value in state.items():
        p = owners.get(key)
        made[key if p is None else p] = _copied(value, p)
    return made


def _copied(value: Any, p: Tensor | None, key: Any = None) -> Any:
    """`value` with tensors copied: moments in the dtype of p, counters ("step") in their own."""
    if isinstance(value, dict):
        return {name: _copied(item, p, name) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_copied(item, p) for item in value)
    if not _is_tensor(value):
        return deepcopy(value)
    array = value._array if isinstance(value, Tensor) else np.asarray(value)
    follow = p is not None and key != "step" and p.is_floating_point() and array.dtype.kind == "f"
    return Tensor._of(np.array(array, p._array.dtype if follow and p is not None else array.dtype))


def _is_tensor(value: Any) -> bool:
    """A Tensor, or another library's array that is not NumPy's own."""
    return isinstance(value, Tensor) or (
        hasattr(value, "__array__") and hasattr(value, "shape") and not isinstance(value, (np.ndarray, np.generic))
    )
