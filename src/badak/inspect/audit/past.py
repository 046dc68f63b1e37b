"""What a model remembers of a forward, for the next one."""

import inspect
import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from badak.inspect.audit.watch import arrays_of, tensors_in
from badak.nn import Module
from badak.nn.recurrent import RNNBase
from badak.tensor import Tensor

NAMES = re.compile(r"^(past(_key_values|_kv)?|(layer|kv)_past|(kv_|key_value_)?caches?|mems|states?)$")


def past_name(model: Any) -> str:
    """The argument by which a model takes what it remembered: optional, and named for it; "" where there is none."""
    return next((name for name in optional(model) if NAMES.search(name)), "")


def optional(model: Any) -> list[str]:
    """The arguments that are None where nobody gives them."""
    return [name for name, p in inspect.signature(model.forward).parameters.items() if p.default is None]


def past_of(result: Any, takes: str) -> Any:
    """What was remembered of a forward: the part of that name, or the part next to the answer that is no single tensor."""
    named = result.get(takes) if isinstance(result, Mapping) else getattr(result, takes, None)
    if named is not None or not isinstance(result, (tuple, list)):
        return named
    parts = [part for part in result if part is not None and not isinstance(part, Tensor)]
    return parts[-1] if parts else None


def states_in(model: Any, result: Any) -> set[int]:
    """The arrays (their id) that a forward gave for the next one, next to its answer."""
    takes = past_name(model)
    rest = past_of(result, takes) if takes else result[1:] if isinstance(result, tuple) else None
    return {id(x._array) for x in tensors_in(rest)}


def remembers(model: Any, result: Any, given: Any, looked_up: list[np.ndarray]) -> bool | None:
    """Whether a forward gave keys and values, or the states of a recurrent layer, that the next one takes: it goes on with a text
    from left to right. None where it gave a memory of what its layers read, words first: that says nothing of it. given: what it
    was given next to the text; looked_up: what tables gave."""
    states = [x.shape for x in arrays_of(given) if x.ndim == 3 and x.dtype.kind == "f"]
    rest = [x.shape for x in arrays_of(result[1:])] if isinstance(result, tuple) and len(result) > 1 else []
    if states and states == rest and any(isinstance(m, RNNBase) for m in model.modules()):
        return True
    takes = past_name(model)
    given = arrays_of(past_of(result, takes)) if takes else []
    if any(x.shape == y.shape and np.array_equal(x, y) for x in given for y in looked_up):
        return None
    return len(given) > 1 and all(x.ndim > 1 for x in given)


def held_by(model: Module) -> list[bytes]:
    """What the modules of a model hold next to their parameters, as bytes: a cache of their own, and how far it goes."""
    kept = [{n: x for n, x in vars(module).items() if n not in ("_parameters", "_modules")} for module in model.modules()]
    return [x.tobytes() for x in arrays_of(kept)] + [str(n).encode() for own in kept for n in own.values() if type(n) is int]
