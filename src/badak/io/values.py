"""Python values as JSON and back, exactly: tuples stay tuples, keys stay numbers, infinities and tensors survive.

JSON has lists, texts, finite numbers and tables with text keys. The rest is written as a table with one key:

    (1, 2)             {"$tuple": [1, 2]}              {0: "a"}    {"$pairs": [[0, "a"]]}
    float("inf")       {"$float": "inf"}               Counter     {"$counter": [[3, 2]]}
    a Tensor           {"$tensor": its name}           an ndarray  {"$array": its name}

Tensors and arrays themselves are handed to the caller by name, to be stored elsewhere.
"""

import math
from collections import Counter, OrderedDict
from collections.abc import Callable
from typing import Any

import numpy as np

from badak.core.errors import ArgumentError, FileError, tr
from badak.io.errors import reason, shown
from badak.io.limits import Keys
from badak.tensor import Tensor


def encode(value: Any, put: Callable[[str, Any], None], name: str) -> Any:
    """`value` in terms of JSON; each tensor or array within is given to `put(its name, it)`. `name` is the value's own."""
    if value is None or type(value) in (bool, int, str):
        return value
    if isinstance(value, np.generic):
        return encode(value.item(), put, name)
    if type(value) is float:
        return value if math.isfinite(value) else {"$float": repr(value)}
    if isinstance(value, (Tensor, np.ndarray)):
        put(name, value)
        return {"$tensor" if isinstance(value, Tensor) else "$array": name}
    if type(value) in (list, tuple):
        items = [encode(item, put, f"{name}.{at}") for at, item in enumerate(value)]
        return items if type(value) is list else {"$tuple": items}
    if type(value) in (dict, OrderedDict, Counter):
        return _encode_dict(value, put, name)
    cause = tr("checkpoint: '{}' is a {}, which JSON cannot hold", name, type(value).__name__)
    raise ArgumentError(cause, "keep numbers, texts, lists, tuples, dicts and tensors in the state")


def _encode_dict(value: dict, put: Callable[[str, Any], None], name: str) -> Any:
    named = [(key, encode(item, put, f"{name}.{key}")) for key, item in value.items()]
    if type(value) is Counter:
        return {"$counter": [[encode(key, put, name), item] for key, item in named]}
    if all(type(key) is str and not key.startswith("$") for key in value):
        return dict(named)
    return {"$pairs": [[encode(key, put, name), item] for key, item in named]}


def decode(value: Any, get: Callable[[str], Any], where: str) -> Any:
    """The Python value of what `encode` made; tensors come from `get(name)`. Raises FileError (`where` is the file)."""
    try:
        return _decode(value, get, Keys())
    except FileError:
        raise
    except (TypeError, ValueError, KeyError, RecursionError) as error:
        cause = tr("{}: damaged: a value in it is none ({})", where, reason(error))
        raise FileError(cause, "restore it from a copy, or start the run again") from error


def _decode(value: Any, get: Callable[[str], Any], keys: Keys) -> Any:
    if isinstance(value, list):
        return [_decode(item, get, keys) for item in value]
    if not isinstance(value, dict):
        return value
    tag = next(iter(value), "")
    if not tag.startswith("$"):
        return {key: _decode(item, get, keys) for key, item in value.items()}
    if len(value) > 1:
        raise ValueError(f"{shown(value)} stands for no value")
    return _decode_tagged(tag, value[tag], get, keys)


def _decode_tagged(tag: str, body: Any, get: Callable[[str], Any], keys: Keys) -> Any:
    if tag == "$tuple" and type(body) is list:
        return tuple(_decode(item, get, keys) for item in body)
    if tag in ("$pairs", "$counter") and type(body) is list:
        table: dict = Counter() if tag == "$counter" else {}
        for pair in body:
            if type(pair) is not list or len(pair) != 2:
                raise ValueError(f"{shown(pair)} is no pair")
            table[keys.check(_decode(pair[0], get, keys), table)] = _decode(pair[1], get, keys)
        return table
    if tag == "$float" and body in ("inf", "-inf", "nan"):
        return float(body)
    if tag in ("$tensor", "$array") and type(body) is str:
        return get(body) if tag == "$tensor" else get(body)._array
    raise ValueError(f"{shown(tag)}: {shown(body)} stands for no value")
