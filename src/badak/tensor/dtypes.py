"""Data types, devices and sizes: the small words of the tensor room.

Floats of 16 and 8 bits store; arithmetic on them is done in float32 and rounded back where NumPy does not do it itself.
uint16, uint32 and uint64 store too: they meet no other dtype of integers, as in PyTorch.
"""

import math
import re
from collections.abc import Callable, Iterable
from functools import cached_property, partial
from operator import index
from typing import Any

import ml_dtypes
import numpy as np

from badak.core import config, events
from badak.core.errors import ArgumentError, ArgumentTypeError, DeviceError, DTypeError, NoDataError, NotSupportedError, package, tr
from badak.core.public_api.door import door_to
from badak.ops._check import WORDS


class dtype:  # noqa: N801  (PyTorch's name)
    """One element type; `dtype.numpy` is NumPy's word for it."""

    def __init__(self, name: str, kind: str, bits: int) -> None:
        self.name, self.kind, self.itemsize = name, kind, bits // 8
        self.is_floating_point = kind == "float"
        self.is_complex = kind == "complex"
        self.is_signed = kind in ("float", "complex", "int") and name != "float8_e8m0fnu"

    @cached_property
    def numpy(self) -> np.dtype:
        if self.name in NAMED_ONLY:
            cause = tr("{}: badak has the name of this dtype, and no tensors of it", self)
            raise NotSupportedError(cause, "float16, bfloat16 or int8")
        return np.dtype(getattr(ml_dtypes, self.name, self.name))

    @property
    def word(self) -> str:
        """PyTorch's other word for it, which its messages use: Float, Long, Byte."""
        return WORDS.get(self.name, self.name)

    def to_complex(self) -> "dtype":
        return {"float16": complex64, "bfloat16": complex64, "float32": complex64, "float64": complex128}.get(self.name, self)

    def to_real(self) -> "dtype":
        return {"complex32": float16, "complex64": float32, "complex128": float64}.get(self.name, self)

    def __repr__(self) -> str:
        return f"{package()}.{self.name}"

    def __reduce__(self):
        return _by_name, (self.name,)


bool_ = dtype("bool", "bool", 8)
uint8 = dtype("uint8", "uint", 8)
int8 = dtype("int8", "int", 8)
int16 = dtype("int16", "int", 16)
int32 = dtype("int32", "int", 32)
int64 = dtype("int64", "int", 64)
float16 = dtype("float16", "float", 16)
bfloat16 = dtype("bfloat16", "float", 16)
float32 = dtype("float32", "float", 32)
float64 = dtype("float64", "float", 64)
uint16 = dtype("uint16", "uint", 16)
uint32 = dtype("uint32", "uint", 32)
uint64 = dtype("uint64", "uint", 64)
float8_e4m3fn = dtype("float8_e4m3fn", "float", 8)
float8_e5m2 = dtype("float8_e5m2", "float", 8)
float8_e4m3fnuz = dtype("float8_e4m3fnuz", "float", 8)
float8_e5m2fnuz = dtype("float8_e5m2fnuz", "float", 8)
float8_e8m0fnu = dtype("float8_e8m0fnu", "float", 8)  # powers of two only: scales of blocks
complex64 = dtype("complex64", "complex", 64)
complex128 = dtype("complex128", "complex", 128)

_BITS = {"bits8": 8, "bits16": 16, "bits1x8": 8, "bits2x4": 8, "bits4x2": 8}
_QUANTIZED = {"qint8": 8, "qint32": 32, "quint8": 8, "quint4x2": 8, "quint2x4": 8}
NAMED_ONLY = {  # for programs that ask whether a dtype is one of them
    **{f"{kind}{bits}": dtype(f"{kind}{bits}", kind, 8) for kind in ("int", "uint") for bits in range(1, 8)},
    **{name: dtype(name, "bits", bits) for name, bits in _BITS.items()},
    **{name: dtype(name, "int" if name[1] == "i" else "uint", bits) for name, bits in _QUANTIZED.items()},
    "complex32": dtype("complex32", "complex", 32),
    "float4_e2m1fn_x2": dtype("float4_e2m1fn_x2", "float", 8),
}


__getattr__ = door_to(__name__, NAMED_ONLY)
FLOAT8 = (float8_e4m3fn, float8_e5m2, float8_e4m3fnuz, float8_e5m2fnuz, float8_e8m0fnu)
WIDE = (uint16, uint32, uint64)
ALL = (bool_, uint8, int8, int16, int32, int64, float16, bfloat16, float32, float64, complex64, complex128, *FLOAT8, *WIDE)
LEGACY = {  # by the word of PyTorch's older names for it, FloatTensor and FloatStorage
    "Float": float32, "Double": float64, "Half": float16, "BFloat16": bfloat16, "Long": int64, "Int": int32, "Short": int16,
    "Char": int8, "Byte": uint8, "Bool": bool_, "ComplexFloat": complex64, "ComplexDouble": complex128,
}  # fmt: skip
_names = {one.name: one for one in ALL}
_of_numpy = {one.numpy: one for one in ALL}
_LARGEST = {one.numpy: float(ml_dtypes.finfo(one.numpy).max) for one in ALL if one.is_floating_point}
_of_python = {bool: bool_, int: int64, float: float64, complex: complex128}


def _by_name(name: str) -> dtype:
    return _names.get(name) or NAMED_ONLY[name]


def of_numpy(numpy_dtype: np.dtype) -> dtype:
    """badak's dtype for NumPy's."""
    found = _of_numpy.get(numpy_dtype)
    if found is None:
        names = tr(", ").join(one.name for one in ALL)
        cause = tr("can't convert an array of NumPy's dtype {}; the supported ones are {}", numpy_dtype, names)
        raise DTypeError(cause, "convert it first, as in array.astype(numpy.float32)")
    return found


def to_dtype(wanted: Any) -> dtype:
    """A dtype from a dtype, NumPy's dtype, or Python's bool, int, float."""
    if type(wanted) is dtype:
        return wanted
    if isinstance(wanted, type) and wanted in _of_python:
        return _of_python[wanted]
    if isinstance(wanted, np.dtype) or (isinstance(wanted, type) and issubclass(wanted, np.generic)):
        return of_numpy(np.dtype(wanted))
    raise ArgumentTypeError(tr("dtype: expected a badak dtype such as badak.float32; got {!r}", wanted), "dtype=badak.float32")


CATEGORY = {"bool": 0, "uint": 1, "int": 1, "float": 2, "complex": 3}
_together: dict[tuple[dtype, dtype], dtype] = {}


def promote_types(type1: dtype, type2: dtype) -> dtype:
    """The smallest dtype that both convert to: badak.promote_types(int64, float16) is float16, as in PyTorch."""
    if type1 is type2 and type(type1) is dtype:
        return type1
    if type(type1) is not dtype or type(type2) is not dtype:
        return promote_types(to_dtype(type1), to_dtype(type2))
    if type1.itemsize == 1 or type2.itemsize == 1 or type1.kind == "uint" or type2.kind == "uint":
        _check_promotion(type1, type2)
    found = _together.get((type1, type2))
    if found is None:
        found = _together[type1, type2] = _promote(type1, type2)
    return found


def _check_promotion(a: dtype, b: dtype) -> None:
    """Refuse what PyTorch refuses: 8-bit floats with anything, wide unsigned integers with other integers."""
    kinds = tr("Float8 Types") if a in FLOAT8 or b in FLOAT8 else tr("uint16, uint32, uint64 types")
    wide = (a in WIDE or b in WIDE) and a.kind in ("int", "uint") and b.kind in ("int", "uint")
    if wide or kinds == "Float8 Types":
        cause = tr("Promotion for {} is not supported, attempted to promote {} and {}", kinds, a.word, b.word)
        raise DTypeError(cause, "x.float() or x.long() first: these dtypes store numbers, others compute")


def _promote(a: dtype, b: dtype) -> dtype:
    ca, cb = CATEGORY[a.kind], CATEGORY[b.kind]
    if ca != cb and max(ca, cb) >= 2:
        high, low = (a, b) if ca > cb else (b, a)
        return promote_types(high, low.to_complex()) if min(ca, cb) == 2 else high
    if ca != cb:
        return a if ca else b
    if ca == 2 and a.itemsize == b.itemsize:
        return float32  # float16 with bfloat16
    if a.kind != b.kind:  # uint8 with a signed integer
        signed = a if a.kind == "int" else b
        return int16 if signed.itemsize == 1 else signed
    return a if a.itemsize > b.itemsize else b


def largest(kind: np.dtype) -> float:
    """The largest finite number of NumPy's float dtype `kind`."""
    return _LARGEST[kind]


_default = float32


def default_dtype() -> dtype:
    return _default


def get_default_dtype() -> dtype:
    """The dtype of floating-point tensors made from Python numbers: float32 unless set otherwise."""
    return _default


def set_default_dtype(d: "dtype") -> None:
    """Make `d` (float32 or float64) the dtype of tensors made from Python floats."""
    global _default
    chosen = to_dtype(d)
    if not chosen.is_floating_point:
        cause = tr("only floating-point types are supported as the default type; got {}", chosen)
        raise DTypeError(cause, "pass badak.float32 or badak.float64")
    _default = chosen


_DEVICES = (  # those whose names PyTorch knows, in its order
    "cpu cuda ipu xpu mkldnn opengl opencl ideep hip ve fpga maia xla lazy vulkan mps meta hpu mtia privateuseone".split()
)


_DEVICE = re.compile(r"(\w+)(?::(0|[1-9]\d*))?", re.ASCII)


class device:  # noqa: N801  (PyTorch's name)
    """Where a tensor lives. badak computes on the CPU; other devices can be named, and asking for them is an error."""

    __slots__ = ("type", "index")
    type: str
    index: int | None

    def __init__(self, type: Any = "cpu", index: int | None = None) -> None:  # noqa: A002  (PyTorch's name)
        if isinstance(type, device):
            type, index = type.type, type.index  # noqa: A001
        if isinstance(type, int):
            type, index = "cuda", type  # noqa: A001
        if not isinstance(type, str):
            raise ArgumentTypeError(tr("device: expected a string such as 'cpu'; got {!r}", type), "device='cpu'")
        parts = _DEVICE.fullmatch(type)
        if parts is None:
            raise ArgumentError(tr("Invalid device string: {!r}", type), "device='cpu'")
        name, number = parts.groups()
        if name not in _DEVICES:
            known = ", ".join(_DEVICES)  # which the array API's libraries read from here
            raise ArgumentError(tr("Expected one of {} device type at start of device string: {}", known, type), "device='cpu'")
        if number is not None and index is not None:
            cause = tr("type (string) must not include an index because index was passed explicitly: {}", type)
            raise ArgumentError(cause, f"{name!r}, {index}")
        if index is not None and index < 0:
            raise ArgumentError(tr("Device index must not be negative; got {}", index), "0, or no index")
        self.type, self.index = name, index if number is None else int(number)

    def __str__(self) -> str:
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __repr__(self) -> str:
        return f"device(type='{self.type}'" + ("" if self.index is None else f", index={self.index}") + ")"

    def __eq__(self, other) -> bool:
        return isinstance(other, device) and (self.type, self.index or 0) == (other.type, other.index or 0)

    def __hash__(self) -> int:
        return hash((self.type, self.index))

    def __reduce__(self):
        return device, (self.type, self.index)

    def __enter__(self) -> "device":
        """`with torch.device("meta"):` makes new tensors without memory, `with torch.device("cpu"):` is as everywhere."""
        if self.type != "meta":
            check_device(self)
        entered.append(self)
        return self

    def __exit__(self, *error: object) -> None:
        entered.pop()


Device = device | str | int | None  # what may name one
CPU, META = device("cpu"), device("meta")
entered: list[device] = []  # the devices of the `with` blocks that are open, after the one of set_default_device
events.for_all(globals(), "entered")


cuda_as_cpu = config.switch("CUDA_AS_CPU")  # for programs that name CUDA devices without asking


def check_device(where: Any) -> None:
    """Raise unless `where` is None or the CPU."""
    if where is None or where is CPU:
        return
    asked = device(where)
    if asked.type == "meta":
        raise on_meta()
    if asked.type != "cpu" and not (asked.type == "cuda" and cuda_as_cpu):
        raise DeviceError(tr("badak computes on the CPU; device '{}' was asked for", asked), "device='cpu' (or leave it out)")


def check_place(where: Any) -> None:
    """check_device for what makes new tensors: where none is named, the default device counts."""
    check_device(entered[-1] if where is None and entered else where)


def on_meta() -> NoDataError:
    """What is raised inside of a function that meets the meta device; `core/public_api/explain.py` catches it."""
    cause = tr("a tensor on the meta device has a shape and a dtype, and no values")
    return NoDataError(cause, "module.to_empty(device='cpu'), or real tensors")


class Size(tuple):
    """The shape of a tensor: a tuple of ints that stays a Size when it is sliced or added to.

    Args:
        sizes: integers, also those of NumPy and tensors of one integer; each becomes an int

    Raises:
        ArgumentTypeError: for anything else
    """

    __slots__ = ()

    def __new__(cls, sizes: Iterable[Any] = (), *more: Any) -> "Size":
        if more or not isinstance(sizes, Iterable):
            cause = tr("Size: '{}' object is not iterable", type(sizes).__name__)
            raise ArgumentTypeError(cause, "Size((2, 3)): one tuple of integers")
        return shape_of([size if type(size) is int else _length(size, i) for i, size in enumerate(sizes)])

    def numel(self) -> int:
        n = 1
        for s in self:
            n *= s
        return n

    def __repr__(self) -> str:
        return f"{package()}.Size({list(self)})"

    def __getitem__(self, key: Any) -> Any:
        picked = tuple.__getitem__(self, key)
        return shape_of(picked) if type(key) is slice else picked

    def __add__(self, other):
        return shape_of(tuple.__add__(self, tuple(other)))

    def __mul__(self, times):
        return shape_of(tuple.__mul__(self, times))

    __rmul__ = __mul__


shape_of: Callable[[Any], Size] = partial(tuple.__new__, Size)  # of sizes that are integers: nothing is looked at


def agreed(asked: Any, out: Any) -> Any:
    """The dtype that is asked for: of out=, where it is given, which must be of no other. None where neither says one."""
    if out is None:
        return asked
    if not hasattr(out, "requires_grad"):
        raise ArgumentTypeError(tr("argument 'out' must be Tensor, not {}", type(out).__name__), "out=badak.empty(0)")
    if asked is not None and (wanted := to_dtype(asked)) is not out.dtype:
        cause = tr("dtype {} does not match dtype of out parameter ({})", wanted.word, out.dtype.word)
        raise DTypeError(cause, tr("out= of {}", wanted))
    return out.dtype


def _length(size: Any, place: int) -> int:
    """A size as an int. The ragged one of a nested tensor, which is no number, stays what it is."""
    if hasattr(size, "lengths"):
        return size
    try:
        return index(size)
    except TypeError:
        cause = tr("{}.Size() takes an iterable of 'int' (item {} is '{}')", package(), place, type(size).__name__)
        raise ArgumentTypeError(cause, "integers, such as (2, 3)") from None


class _Limits:
    """What two of the same dtype have in common: they are equal, as in PyTorch."""

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    __hash__ = None  # type: ignore[assignment]


class finfo(_Limits):  # noqa: N801
    """Limits of a floating-point dtype, or of a complex one's parts: min, max, eps, tiny, smallest_normal, bits, resolution."""

    def __init__(self, type: "dtype | None" = None) -> None:  # noqa: A002
        chosen = _default if type is None else to_dtype(type)
        chosen = chosen.to_real() if chosen.is_complex else chosen
        if not chosen.is_floating_point:
            raise DTypeError(tr("finfo: expected a floating-point dtype; got {}", chosen), "use iinfo for integers")
        limits = np.finfo(chosen.numpy) if chosen.numpy.isbuiltin == 1 else ml_dtypes.finfo(chosen.numpy)
        self.bits, self.dtype = chosen.itemsize * 8, chosen.name
        self.min, self.max, self.eps = float(limits.min), float(limits.max), float(limits.eps)
        self.tiny = self.smallest_normal = float(limits.smallest_normal)
        self.resolution = 10.0 ** -math.floor(math.log10(1 / self.eps))  # as many decimal digits as always survive

    def __repr__(self) -> str:
        return (
            f"finfo(resolution={self.resolution:g}, min={self.min:g}, max={self.max:g}, eps={self.eps:g}, "
            f"smallest_normal={self.smallest_normal:g}, tiny={self.tiny:g}, dtype={self.dtype})"
        )


class iinfo(_Limits):  # noqa: N801
    """Limits of an integer dtype: min, max, bits."""

    def __init__(self, type: "dtype") -> None:  # noqa: A002
        chosen = to_dtype(type)
        if not chosen.kind.endswith("int"):
            raise DTypeError(tr("iinfo: expected an integer dtype; got {}", chosen), "use finfo for floating-point dtypes")
        limits = np.iinfo(chosen.numpy)
        self.min, self.max, self.bits, self.dtype = int(limits.min), int(limits.max), limits.bits, str(limits.dtype)

    def __repr__(self) -> str:
        return f"iinfo(min={self.min:g}, max={self.max:g}, dtype={self.dtype})"


def no_sizes(named: dict) -> ArgumentTypeError:
    """The complaint about a call that says no size, or says it by another name."""
    if named:
        return ArgumentTypeError(tr("got an unexpected keyword argument '{}'", [*named][-1]), "reshape(3, 2)")
    return ArgumentTypeError('missing 1 required positional argument: "size"', "x.view(2, 3), or x.view(()) for a single number")
