"""What a .pt file may name: the table of classes and functions from which badak builds values for a file.

`weights_only=True` knows the first table: what PyTorch allows, and NumPy's scalars and arrays, rebuilt here from checked
bytes. `weights_only=False` adds classes of the standard library that hold data, and, for files that badak wrote, classes
that the running program has already imported (see `program.py`). `add_safe_globals` adds what the user vouches for.
"""

import argparse
import datetime
import pathlib
import types
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable
from typing import Any

import numpy as np

from badak.errors import KindError
from badak.io.storage import CLASSES, Storage
from badak.io.unpickler import Name
from badak.tensor import Tensor, dtypes

MAX_ITEMS = 2**31  # of a range
FACTORIES = {"list": list, "dict": dict, "set": set, "int": int, "float": float, "str": str, "tuple": tuple, "bool": bool}


def _checked(kind: type, value: Any) -> Any:
    if type(value) is not kind:
        raise TypeError(f"expected {kind.__name__}; got {type(value).__name__}")
    return value


def _encode(text: str, codec: str = "latin1") -> bytes:
    if codec not in ("latin1", "latin-1", "utf-8", "utf8", "ascii"):  # others can unpack a bomb
        raise ValueError(f"the codec {str(codec)[:20]!r}")
    return _checked(str, text).encode(codec)


def _bytearray(data: Any = b"", codec: str = "latin1") -> bytearray:
    return bytearray(data if type(data) is bytes else _encode(data, codec))


def _bytes(data: Any = b"", codec: str = "latin1") -> bytes:
    return _checked(bytes, data) if type(data) is bytes else _encode(data, codec)


def _complex(real: float = 0.0, imag: float = 0.0) -> complex:
    return complex(float(real), float(imag))


def _ordered(items: Any = ()) -> OrderedDict:
    pairs = list(items.items() if type(items) is dict else items)
    if not all(type(key) is str for key, _ in pairs):
        raise TypeError("an OrderedDict of keys that are no texts")
    return OrderedDict(pairs)


def _size(items: Any = ()) -> dtypes.Size:
    return dtypes.Size(_checked(int, item) for item in items)


def _range(*bounds: int) -> range:
    made = range(*(_checked(int, bound) for bound in bounds))
    if len(made) > MAX_ITEMS:
        raise ValueError("a range without end")
    return made


def _default(factory: Any = None) -> defaultdict:
    return defaultdict(None if factory is None else FACTORIES[factory.name.rpartition(".")[2]])


def _members(kind: type) -> Callable:
    def make(items: Any = ()) -> Any:
        return kind(_checked(list, items) if items != () else ())

    return make


# tensors


def _storage(value: Any) -> Storage:
    if type(value) is not Storage:
        raise TypeError(f"a storage is expected; got {type(value).__name__}")
    return value


def _tensor(storage, offset, size, stride, requires_grad=False, hooks=None, metadata=None) -> Tensor:
    made = _storage(storage).tensor(offset, size, stride)
    return made.requires_grad_() if requires_grad is True else made


def _tensor_v3(storage, offset, size, stride, requires_grad, hooks, dtype, metadata=None) -> Tensor:
    made = _storage(storage).tensor(offset, size, stride, _checked(dtypes.dtype, dtype))
    return made.requires_grad_() if requires_grad is True else made


def _with_attributes(function: Any, kind: Any, args: Any, state: Any) -> Tensor:
    """A tensor with attributes of its own; those that would hide something of Tensor are left out."""
    made = _checked(Name, function).call(*args)
    attributes = state[0] if type(state) is tuple and state else state
    for name, value in attributes.items() if type(attributes) is dict else ():
        if type(name) is str and not name.startswith("_") and not hasattr(type(made), name):
            made.__dict__[name] = value
    return made


# NumPy

PLAIN_KINDS = "biufcSU"  # everything but objects, records and dates


def _dtype(code: Any, align: Any = False, copy: Any = True) -> np.dtype:
    made = np.dtype(_checked(str, code))
    if made.kind not in PLAIN_KINDS:
        raise TypeError(f"NumPy's dtype {str(code)[:20]!r}")
    return np.dtype(made.str, copy=True)


def _set_dtype(made: np.dtype, state: Any) -> None:
    if type(state) is not tuple or len(state) not in (8, 9) or state[1] not in ("<", ">", "|", "=") or state[2:5] != (None,) * 3:
        raise TypeError(f"a state of NumPy's dtype that is not of a plain one: {str(state)[:80]}")
    if made.kind not in "SU":
        made.__setstate__((3, state[1], None, None, None, -1, -1, 0))  # type: ignore[attr-defined]


def _scalar(dtype: Any, data: Any = b"") -> Any:
    data = data.encode("latin1") if type(data) is str else _checked(bytes, data)
    if not isinstance(dtype, np.dtype) or dtype.kind not in PLAIN_KINDS or len(data) != dtype.itemsize:
        raise TypeError("a NumPy scalar of other bytes than its dtype has")
    return np.frombuffer(data, dtype)[0]


def _array(kind: Any, shape: Any, code: Any) -> np.ndarray:
    if getattr(kind, "name", None) != "numpy.ndarray":
        raise TypeError("an array of another class than ndarray")
    return np.empty(0, np.int8)


def _set_array(made: np.ndarray, state: Any) -> None:
    version, shape, dtype, fortran, data = state
    data = data.encode("latin1") if type(data) is str else _checked(bytes, data)
    if not isinstance(dtype, np.dtype) or dtype.kind not in PLAIN_KINDS or type(fortran) is not bool:
        raise TypeError("a NumPy array of objects")
    count = 1
    for n in shape:
        if type(n) is not int or n < 0:
            raise TypeError("a NumPy array of no shape")
        count *= n
    if len(shape) > 64 or len(data) != count * dtype.itemsize:
        raise ValueError(f"a NumPy array of shape {str(shape)[:80]} in {len(data)} bytes")
    made.__setstate__((1, tuple(shape), dtype, fortran, data))  # type: ignore[arg-type]


def _buffer(data: Any, dtype: Any, shape: Any, order: Any) -> np.ndarray:
    made = np.empty(0, np.int8)
    _set_array(made, (1, shape, dtype, order == "F", bytes(data) if type(data) is bytearray else data))
    return made


def _plain_state(made: Any, state: Any) -> None:
    attributes = state[0] if type(state) is tuple and len(state) == 2 and state[1] is None else state
    made.__dict__.update(_checked(dict, attributes))


TENSORS = [
    Name("torch._utils._rebuild_tensor", lambda storage, offset, size, stride: _tensor(storage, offset, size, stride)),
    Name("torch._utils._rebuild_tensor_v2", _tensor),
    Name("torch._utils._rebuild_tensor_v3", _tensor_v3),
    Name("torch._tensor._rebuild_from_type_v2", _with_attributes),
    Name("torch.Tensor"),
    Name("torch.Size", _size),
    Name("torch.device", dtypes.device),
    Name("torch.storage.UntypedStorage", value=dtypes.uint8),
    Name("torch.storage._UntypedStorage", value=dtypes.uint8),
    Name("torch.torch_version.TorchVersion", new=str, build=lambda made, state: None),
    *(Name(f"torch.{name}", value=dtype) for name, dtype in CLASSES.items()),
    *(Name(f"torch.cuda.{name}", value=dtype) for name, dtype in CLASSES.items()),
]
PLAIN = [
    Name("collections.OrderedDict", _ordered, value=OrderedDict),
    Name("collections.Counter", lambda items=(): Counter(dict(items))),
    Name("collections.defaultdict", _default),
    Name("collections.deque", lambda items=(), length=None: deque(_checked(list, items) if items else (), length),
         build=lambda made, state: None),
    Name("_codecs.encode", _encode),
    Name("builtins.bytes", _bytes),
    Name("builtins.bytearray", _bytearray),
    Name("builtins.complex", _complex),
    Name("builtins.set", _members(set), value=set),
    Name("builtins.frozenset", _members(frozenset), value=frozenset),
    Name("builtins.slice", slice),
    Name("builtins.range", _range),
    *(Name(f"builtins.{name}", value=kind) for name, kind in FACTORIES.items() if name != "set"),
    Name("numpy.dtype", _dtype, build=_set_dtype),
    Name("numpy.ndarray"),
    Name("numpy._core.numeric._frombuffer", _buffer),
    Name("numpy.core.numeric._frombuffer", _buffer),
    *(
        Name(f"{module}.{name}", call, build=build)
        for module in ("numpy._core.multiarray", "numpy.core.multiarray")
        for name, call, build in (("scalar", _scalar, None), ("_reconstruct", _array, _set_array))
    ),
]  # fmt: skip
DATA = [
    Name("argparse.Namespace", new=argparse.Namespace, build=_plain_state),
    Name("types.SimpleNamespace", types.SimpleNamespace, build=_plain_state),
    Name("datetime.datetime", datetime.datetime),
    Name("datetime.date", datetime.date),
    Name("datetime.time", datetime.time),
    Name("datetime.timedelta", datetime.timedelta),
    *(
        Name(f"{module}.{name}", lambda *parts: pathlib.PurePath(*(_checked(str, part) for part in parts)))
        for module in ("pathlib", "pathlib._local")
        for name in ("PosixPath", "WindowsPath", "PurePosixPath", "PureWindowsPath")
    ),
]

STRICT: dict[str, Any] = {name.name: name for name in (*TENSORS, *PLAIN)}
STRICT |= {f"torch.{dtype.name}": dtype for dtype in dtypes.ALL}
LOOSE: dict[str, Any] = STRICT | {name.name: name for name in DATA}
_vouched: dict[str, Any] = {}


def define(name: str, call: Callable) -> None:
    """Add a function of PyTorch's file format to the table (for rooms above this one)."""
    STRICT[name] = LOOSE[name] = Name(name, call)


def vouched() -> dict[str, Any]:
    """What `add_safe_globals` has added: {name: class or function}."""
    return _vouched


def vouched_name(name: str, thing: Any) -> Any:
    """A class or function that the user vouches for, as the table has it: called as the file says."""
    if not isinstance(thing, type):
        return Name(name, thing, value=thing)

    def build(made: Any, state: Any) -> None:
        if hasattr(made, "__setstate__"):
            made.__setstate__(state)
            return
        attributes, slots = state if type(state) is tuple and len(state) == 2 else (state, None)
        for key, value in {**(attributes or {}), **(slots or {})}.items():
            object.__setattr__(made, key, value)

    return Name(name, thing, new=lambda *args: thing.__new__(thing, *args), build=build, value=thing)


def name_of(thing: Any) -> tuple[str, Any]:
    """(dotted name, thing) of an entry of `add_safe_globals`: a class, a function, or a pair (thing, its name)."""
    if isinstance(thing, tuple):
        if len(thing) != 2 or not isinstance(thing[1], str):
            raise KindError(
                f"add_safe_globals: expected a pair (class, its name as text); got {thing!r}", "(MyClass, 'module.MyClass')"
            )
        return thing[1], thing[0]
    if not hasattr(thing, "__qualname__"):
        raise KindError(f"add_safe_globals: expected classes or functions; got {thing!r}", "add_safe_globals([MyClass])")
    return f"{thing.__module__}.{thing.__qualname__}", thing
