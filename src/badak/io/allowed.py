"""What a .pt file may name: the table of classes and functions from which badak builds values for a file.

`weights_only=True` knows the first table: what PyTorch allows, and NumPy's scalars and arrays, rebuilt here from checked
bytes. `weights_only=False` adds classes of the standard library that hold data, and plain classes of the running program (see
`program.py`). `add_safe_globals` adds what the program vouches for.

Each entry lists the very types that it takes, since a value of another class could answer `float(it)` or `for x in it` with
code of its own.
"""

import argparse
import datetime
import pathlib
import types
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from badak.core.errors import ArgumentTypeError, tr
from badak.core.public_api.homes import home
from badak.io.errors import shown
from badak.io.limits import KEYS, Keys
from badak.io.program import fill
from badak.io.storage import CLASSES, MAX_DIMS, Storage
from badak.io.unpickler import Name, Vouched, anything, derived, exactly, named
from badak.tensor import Tensor, dtypes, layouts
from badak.tensor.meta_storage import description
from badak.tensor.sparse.create import sparse_coo_tensor, sparse_csc_tensor, sparse_csr_tensor

MAX_ITEMS = 2**31  # of a range
FACTORIES = (list, dict, set, int, float, str, tuple, bool)
CODECS = ("latin1", "latin-1", "utf-8", "utf8", "ascii")  # others can unpack a bomb
INT, TEXT, BYTES, TUPLE = (exactly(kind) for kind in (int, str, bytes, tuple))
REAL, RAW, DTYPE = exactly(int, float), exactly(bytes, str), derived(np.dtype)
DEVICES = ("cpu", "cuda", "mps", "meta", "xpu")
MAX_ATTRIBUTES = 1000  # of a tensor
PATHS = ("PosixPath", "WindowsPath", "PurePosixPath", "PureWindowsPath")
DATES = (datetime.datetime, datetime.date, datetime.time, datetime.timedelta, datetime.timezone)
KEYS |= {dtypes.dtype, dtypes.device, Tensor, pathlib.PurePosixPath, pathlib.PureWindowsPath, *DATES}


def _ints(values: Iterable[Any]) -> tuple:
    if not all(type(value) is int for value in values):
        raise TypeError(f"expected integers; got {shown(tuple(values))}")
    return tuple(values)


def _encode(text: str, codec: str = "latin1") -> bytes:
    if codec not in CODECS:
        raise ValueError(f"the codec {shown(codec)}")
    return text.encode(codec)


def _bytes(data: Any = b"", codec: str = "latin1") -> bytes:
    return data if type(data) is bytes else _encode(data, codec)


def _pairs(items: Any, table: Any) -> Any:
    """`table` with the pairs of a dict, or of a list of pairs."""
    keys = Keys()
    for pair in items.items() if type(items) in (dict, OrderedDict) else items:
        if not (type(pair) in (tuple, list) and len(pair) == 2):
            raise TypeError("a pair that is none")
        table[keys.check(pair[0], table)] = pair[1]
    return table


def _members(kind: type) -> Callable[[Any], Any]:
    def make(items: Any = ()) -> Any:
        keys = Keys()
        return kind([keys.check(item, items) for item in items])

    return make


def _range(*bounds: int) -> range:
    made = range(*bounds)
    if not -MAX_ITEMS < made.start < MAX_ITEMS or not -MAX_ITEMS < made.stop < MAX_ITEMS:
        raise ValueError("a range without end")
    return made


def _default(factory: Any = None) -> defaultdict:
    if not any(factory is one for one in (None, *FACTORIES)):
        raise TypeError(f"a table that fills itself with {shown(factory)}")
    return defaultdict(factory)


def _deque(items: Any = (), length: int | None = None) -> deque:
    if length is not None and not 0 <= length < MAX_ITEMS:
        raise ValueError("a deque of no length")
    return deque(items, length)


# tensors


def _device(kind: str, index: int | None = None) -> dtypes.device:
    if kind.partition(":")[0] not in DEVICES or len(kind) > 10 or index is not None and not 0 <= index < 1000:
        raise ValueError(f"the device {shown(kind)}, {shown(index)}")
    return dtypes.device(kind, index)


def _tensor(storage, offset, size, stride, requires_grad=False, hooks=None, metadata=None) -> Tensor:
    return _finished(storage, storage.tensor(offset, size, stride), requires_grad, metadata)


def _tensor_v3(storage, offset, size, stride, requires_grad, hooks, dtype, metadata=None) -> Tensor:
    return _finished(storage, storage.tensor(offset, size, stride, dtype), requires_grad, metadata)


def _meta(dtype, size, stride, requires_grad=False) -> Tensor:
    size, stride = _ints(size), _ints(stride)
    if len(size) != len(stride) or len(size) > MAX_DIMS or any(n < 0 for n in (*size, *stride)):
        raise ValueError(f"a tensor of size {shown(size)} and stride {shown(stride)}")
    made = Tensor._like_meta(description(size, dtype.numpy, tuple(step * dtype.itemsize for step in stride)))
    return made.requires_grad_() if requires_grad is True else made


def _finished(storage: Storage, seen: Tensor, requires_grad: Any, metadata: Any) -> Tensor:
    made = with_metadata(seen, metadata or {})
    if made is not seen and storage.has_data:
        storage.when_filled.append(lambda: np.copyto(made._array, with_metadata(seen, metadata)._array))
    return made.requires_grad_() if requires_grad is True else made


def with_metadata(made: Tensor, metadata: Any) -> Tensor:
    """The numbers that PyTorch means where a tensor's conjugate or negative bit is set: it stores those without."""
    if type(metadata) is not dict or not set(metadata) <= {"conj", "neg"}:
        raise TypeError(f"metadata of a tensor that are unknown: {shown(metadata)}")
    made = made.conj_physical() if metadata.get("conj") else made
    return -made if metadata.get("neg") else made


def _layout(name: str) -> layouts.layout:
    found = {f"torch.{each.name}": each for each in (layouts.strided, *SPARSE)}
    if name not in found:
        raise ValueError(f"the layout {shown(name)}")
    return found[name]


def _sparse(layout: layouts.layout, parts: tuple) -> Tensor:
    """A sparse tensor; its parts are checked as those that a program hands over."""
    make = SPARSE.get(layout)
    if make is None or not 3 <= len(parts) <= 5 or not all(exactly(Tensor)(part) for part in parts[: 2 if make is COO else 3]):
        raise TypeError(f"parts of a sparse tensor: {shown(parts)}")
    if make is not COO:
        return make(*parts[:4])
    return make(*parts[:3], is_coalesced=True if parts[3:] == (True,) else None)


def _with_attributes(function: Name, kind: Any, args: tuple, state: Any) -> Tensor:
    """A tensor of a class that the program has, with attributes of its own."""
    if function.call is None or not function.name.startswith("torch._utils._rebuild_") or not function.fits(args):
        raise TypeError(f"{function.name} of {shown(args)}")
    made = function.call(*args)
    if kind is not type(made):
        grad, made = made.requires_grad, made.detach().as_subclass(kind)
        made._requires_grad = grad  # of a leaf, as it was
        if kind in _vouched.values() and kind.__setstate__ is not Tensor.__setstate__:
            made.__setstate__(state)
            return made
    give_attributes(made, state)
    return made


def give_attributes(made: Tensor, state: Any) -> None:
    """Set the attributes of a state on a tensor; those that would hide something of Tensor are left out."""
    attributes, slots = state if type(state) is tuple and len(state) == 2 else (state, None)
    if not all(part is None or type(part) is dict and len(part) <= MAX_ATTRIBUTES for part in (attributes, slots)):
        raise TypeError(f"attributes {shown(state)} of a tensor")
    for name, value in (attributes or {}).items():
        if name == "_is_param" and value is True or type(name) is str and name[:1] != "_" and not hasattr(type(made), name):
            made.__dict__[name] = value
    if slots:
        fill(made, (None, slots))


# NumPy

LAST_LETTER = 0x10FFFF  # of Unicode
PLAIN_KINDS = "biufcSU"  # everything but objects, records and dates


def _dtype(code: str, align: Any = False, copy: Any = True) -> np.dtype:
    made = np.dtype(code) if len(code) < 20 else None  # a longer one describes a record
    if made is None or made.kind not in PLAIN_KINDS or made.shape:
        raise TypeError(f"NumPy's dtype {shown(code)}")
    return np.dtype(made.str, copy=True)


def _set_dtype(made: np.dtype, state: Any) -> None:
    """Give a dtype its byte order: (version, order, None, None, None, size, alignment, flags)."""
    plain = type(state) is tuple and len(state) in (8, 9) and all(part is None for part in state[2:5])
    orders = ("<", ">", "=") if made.itemsize > 1 and made.kind != "S" else ("<", ">", "=", "|")
    if not plain or type(state[1]) is not str or state[1] not in orders:
        raise TypeError(f"a state of NumPy's dtype that is not of a plain one: {shown(state)}")
    if made.kind == "U":
        made.__setstate__((3, state[1], None, None, None, made.itemsize, made.alignment, 0))  # type: ignore[attr-defined]
    elif made.kind != "S":
        made.__setstate__((3, state[1], None, None, None, -1, -1, 0))  # type: ignore[attr-defined]


def _scalar(dtype: np.dtype, data: Any = b"") -> Any:
    data = data.encode("latin1") if type(data) is str else data
    if dtype.kind not in PLAIN_KINDS or len(data) != dtype.itemsize:
        raise TypeError("a NumPy scalar of other bytes than its dtype has")
    return np.frombuffer(data, dtype)[0] if data else dtype.type()


def _array(kind: type, shape: Any, code: Any) -> np.ndarray:
    if kind is not np.ndarray:
        raise TypeError("an array of another class than ndarray")
    return np.empty(0, np.int8)


def _set_array(made: np.ndarray, state: Any) -> None:
    """Give an array its values: (version, shape, dtype, whether in Fortran's order, bytes)."""
    if type(state) is not tuple or len(state) != 5:
        raise TypeError(f"a state of a NumPy array that is none: {shown(state)}")
    _, shape, dtype, fortran, data = state
    if not DTYPE(dtype) or dtype.kind not in PLAIN_KINDS or type(fortran) is not bool or not RAW(data):
        raise TypeError("a NumPy array of objects")
    data = data.encode("latin1") if type(data) is str else data
    if type(shape) is not tuple or len(shape) > 64 or not all(type(n) is int and 0 <= n < 1 << 48 for n in shape):
        raise TypeError(f"a NumPy array of shape {shown(shape)}")
    count = 1
    for n in shape:
        count *= n
    if len(data) != count * dtype.itemsize:
        raise ValueError(f"a NumPy array of shape {shown(shape)} in {len(data)} bytes")
    if dtype.kind == "U" and data and np.frombuffer(data, f"{dtype.byteorder}u4").max() > LAST_LETTER:
        raise ValueError("a NumPy array of letters that there are not")
    made.__setstate__((1, shape, dtype, fortran, data))  # type: ignore[arg-type]


def _buffer(data: Any, dtype: np.dtype, shape: tuple, order: str) -> np.ndarray:
    made = np.empty(0, np.int8)
    _set_array(made, (1, shape, dtype, order == "F", bytes(data)))
    return made


def _plain_state(made: Any, state: Any) -> None:
    attributes = state[0] if type(state) is tuple and len(state) == 2 and state[1] is None else state
    if type(attributes) is not dict or not all(type(name) is str and not name.startswith("__") for name in attributes):
        raise ValueError(f"a state of {shown(attributes)}")
    made.__dict__.update(attributes)


def _nothing(made: Any, state: Any) -> None:
    pass


COO = sparse_coo_tensor
SPARSE: dict[Any, Callable[..., Tensor]] = {
    layouts.sparse_coo: COO,
    layouts.sparse_csr: sparse_csr_tensor,
    layouts.sparse_csc: sparse_csc_tensor,
}
SIZES = exactly(tuple, dtypes.Size, list)
SEEN = (exactly(Storage), INT, SIZES, SIZES)  # storage, offset, size, stride
TENSORS = [
    Name("torch._utils._rebuild_tensor", _tensor, *SEEN),
    Name("torch._utils._rebuild_tensor_v2", _tensor, *SEEN, *[anything] * 3, needs=4),
    Name("torch._utils._rebuild_tensor_v3", _tensor_v3, *SEEN, *[anything] * 2, exactly(dtypes.dtype), anything, needs=7),
    Name("torch._utils._rebuild_meta_tensor_no_storage", _meta, exactly(dtypes.dtype), SIZES, SIZES, anything, needs=3),
    Name("torch._utils._rebuild_sparse_tensor", _sparse, exactly(layouts.layout), TUPLE),
    Name("torch.serialization._get_layout", _layout, TEXT),
    Name("torch._tensor._rebuild_from_type_v2", _with_attributes, named, derived(type), TUPLE, exactly(dict, tuple, type(None))),
    Name("torch.Tensor", value=Tensor),
    Name("torch.Size", lambda items=(): dtypes.Size(_ints(items)), exactly(tuple, list), needs=0),
    Name("torch.device", _device, TEXT, exactly(int, type(None)), needs=1),
    Name("torch.storage.UntypedStorage", value=dtypes.uint8),
    Name("torch.storage._UntypedStorage", value=dtypes.uint8),
    Name("torch.torch_version.TorchVersion", None, TEXT, new=lambda text: text, build=_nothing),
    *(Name(f"torch.{name}", value=dtype) for name, dtype in CLASSES.items()),
    *(Name(f"torch.cuda.{name}", value=dtype) for name, dtype in CLASSES.items()),
]
PLAIN = [
    Name("collections.OrderedDict", lambda items=(): _pairs(items, OrderedDict()), exactly(list, tuple, dict, OrderedDict),
         needs=0, value=OrderedDict),
    Name("collections.Counter", lambda items=(): _pairs(items, Counter()), exactly(dict, tuple), needs=0),
    Name("collections.defaultdict", _default, anything, needs=0),
    Name("collections.deque", _deque, exactly(list, tuple), exactly(int, type(None)), needs=0, build=_nothing),
    Name("_codecs.encode", _encode, TEXT, TEXT, needs=1),
    Name("builtins.bytes", _bytes, RAW, TEXT, needs=0),
    Name("builtins.bytearray", lambda data=b"", codec="latin1": bytearray(_bytes(data, codec)), RAW, TEXT, needs=0),
    Name("builtins.complex", lambda real=0.0, imag=0.0: complex(float(real), float(imag)), REAL, REAL, needs=0),
    Name("builtins.set", _members(set), exactly(list, tuple), needs=0, value=set),
    Name("builtins.frozenset", _members(frozenset), exactly(list, tuple), needs=0, value=frozenset),
    Name("builtins.slice", slice, *[exactly(int, type(None))] * 3, needs=1),
    Name("builtins.range", _range, INT, INT, INT, needs=1),
    *(Name(f"builtins.{kind.__name__}", value=kind) for kind in FACTORIES if kind is not set),
    Name("numpy.dtype", _dtype, TEXT, anything, anything, needs=1, build=_set_dtype),
    Name("numpy.ndarray", value=np.ndarray),
    *(Name(f"{module}.numeric._frombuffer", _buffer, exactly(bytes, bytearray), DTYPE, TUPLE, TEXT)
      for module in ("numpy._core", "numpy.core")),
    *(
        Name(f"{module}.multiarray.{name}", call, *takes, needs=needs, build=build)
        for module in ("numpy._core", "numpy.core")
        for name, call, takes, needs, build in (
            ("scalar", _scalar, (DTYPE, RAW), 1, None),
            ("_reconstruct", _array, (exactly(type), anything, anything), 3, _set_array),
        )
    ),
]  # fmt: skip
DATA = [
    Name("argparse.Namespace", new=argparse.Namespace, build=_plain_state),
    Name("types.SimpleNamespace", types.SimpleNamespace, build=_plain_state),
    Name("datetime.datetime", datetime.datetime, BYTES, exactly(datetime.timezone), needs=1),
    Name("datetime.date", datetime.date, BYTES),
    Name("datetime.time", datetime.time, BYTES, exactly(datetime.timezone), needs=1),
    Name("datetime.timedelta", datetime.timedelta, INT, INT, INT, needs=1),
    Name("datetime.timezone", datetime.timezone, exactly(datetime.timedelta), TEXT, needs=1),
    *(
        Name(f"{module}.{name}", lambda *parts: pathlib.PurePath(*parts), *[TEXT] * 100, needs=0)
        for module in ("pathlib", "pathlib._local")
        for name in PATHS
    ),
]

STRICT: dict[str, Any] = {name.name: name for name in (*TENSORS, *PLAIN)}
STRICT |= {f"torch.{dtype.name}": dtype for dtype in dtypes.ALL}
LOOSE: dict[str, Any] = STRICT | {name.name: name for name in DATA}
_vouched: dict[str, Any] = {}


def define(name: Name) -> None:
    """Add a name of PyTorch's file format to the table (for packages above this one)."""
    STRICT[name.name] = LOOSE[name.name] = name


def vouched() -> dict[str, Any]:
    """What `add_safe_globals` has added: {name: class or function}."""
    return _vouched


def vouched_name(name: str, thing: Any) -> Name:
    """A class or function that the program vouches for, as the table has it: called as the file says, as PyTorch does."""
    if not isinstance(thing, type):
        return Vouched(name, thing, value=thing)

    def build(made: Any, state: Any) -> None:
        if hasattr(made, "__setstate__"):
            made.__setstate__(state)
        else:
            fill(made, state)

    return Vouched(name, thing, new=lambda *args: thing.__new__(thing, *args), build=build, value=thing)


def name_of(thing: Any) -> tuple[str, Any]:
    """(dotted name, thing) of an entry of `add_safe_globals`: a class, a function, or a pair (thing, its name)."""
    if isinstance(thing, tuple):
        if len(thing) != 2 or not isinstance(thing[1], str):
            cause = tr("add_safe_globals: expected a pair (class, its name as text); got {!r}", thing)
            raise ArgumentTypeError(cause, "(MyClass, 'module.MyClass')")
        return thing[1], thing[0]
    if not hasattr(thing, "__qualname__"):
        cause = tr("add_safe_globals: expected classes or functions; got {!r}", thing)
        raise ArgumentTypeError(cause, "add_safe_globals([MyClass])")
    return f"{home(thing)}.{thing.__qualname__}", thing
