"""The same values in another dtype, elsewhere, or in other memory."""

import builtins
from collections.abc import Callable
from typing import Any

from badak.core.errors import ArgumentTypeError, expect_kind, package, tr
from badak.core.public_api.taken import named
from badak.kernels.memory_format import channels_last
from badak.ops.cast import Cast, Clone
from badak.tensor import dtypes
from badak.tensor.apply import apply
from badak.tensor.dtypes import Device
from badak.tensor.dtypes import dtype as DType
from badak.tensor.layouts import lies_so, order_asked
from badak.tensor.tensor import Tensor

_LEGACY = {f"{word}Tensor": kind for word, kind in dtypes.LEGACY.items() if not kind.is_complex}
_LEGACY_NAMES = {kind: name for name, kind in _LEGACY.items()}


def cast(x: Tensor, kind: DType, copy: builtins.bool = False) -> Tensor:
    """x in dtype `kind`; x itself where it has it already and no copy is asked for."""
    wanted = kind.numpy
    if x._array.dtype == wanted:
        return apply(Clone, x) if copy else x
    return apply(Cast, x, dtype=wanted)


def dequantize(input: Tensor) -> Tensor:
    """The numbers in float32: no tensor of badak is quantized.

    Args:
        input: a tensor

    Returns: the tensor itself, or a converted copy

    Example:
        >>> badak.tensor([1, 2]).dequantize().dtype
        badak.float32
    """
    expect_kind(input, Tensor, "dequantize(): argument 'input' must be Tensor, not {}", "badak.tensor(data)")
    return cast(input, dtypes.float32)


def to(x: Tensor, *args: Any, **options: Any) -> Tensor:
    """to(dtype), to(device), to(device, dtype), to(other): x in that dtype; badak's only device is the CPU.

    Returns x itself where nothing changes and copy=False.

    Args:
        *args: a dtype, a device, or another tensor
        **options: dtype=, device=, copy=

    Returns: the tensor itself or a converted copy

    Raises:
        DeviceError: for a device that is not there

    Example:
        >>> badak.ones(2).to(badak.int64).tolist()
        [1, 1]
    """
    kind, where = options.pop("dtype", None), options.pop("device", None)
    copy = options.pop("copy", False)
    flags = []
    for argument in args:
        if isinstance(argument, Tensor):
            kind = argument.dtype
        elif isinstance(argument, (str, dtypes.device)):
            where = argument
        elif isinstance(argument, builtins.bool):
            flags.append(argument)
        elif isinstance(argument, builtins.int):
            where = f"cuda:{argument}"  # what a number alone means to PyTorch
        elif argument is not None:
            kind = argument
    copy = copy or (len(flags) > 1 and flags[1])
    other = options.pop("other", None)
    if other is not None:
        kind = other.dtype
    if unknown := options.keys() - {"non_blocking", "memory_format"}:
        cause = tr("to(): got an unexpected keyword argument '{}'", min(unknown))
        raise ArgumentTypeError(cause, "x.to(device, dtype, copy=False)")
    dtypes.check_device(where)
    if x._described is not None:
        raise dtypes.on_meta()
    made = cast(x, x.dtype if kind is None else dtypes.to_dtype(kind), copy)
    return _ordered(made, options.get("memory_format"))


def type(x: Tensor, dtype: str | DType | None = None, non_blocking: builtins.bool = False) -> Any:  # noqa: A001  (PyTorch's name)
    """The name of x's legacy type, or x in the given dtype (a dtype, "torch.FloatTensor", or badak.FloatTensor)."""
    if dtype is None:
        return f"{package()}.{_LEGACY_NAMES.get(x.dtype, 'Tensor')}"
    name = dtype if isinstance(dtype, str) else getattr(dtype, "__name__", "")
    last = name.rpartition(".")[2]
    legacy = dtypes.get_default_dtype() if last == "Tensor" else _LEGACY.get(last)  # torch.Tensor: of the default dtype
    if legacy is None and isinstance(dtype, str):
        cause = tr("type: expected a dtype or one of {}; got {!r}", ", ".join(_LEGACY), dtype)
        raise ArgumentTypeError(cause, "x.to(badak.float32)")
    return cast(x, legacy or dtypes.to_dtype(dtype))


def type_as(x: Tensor, other: Tensor) -> Tensor:
    """x in the dtype of other."""
    return cast(x, other.dtype)


def _caster(name: str, kind: DType) -> Callable[..., Tensor]:
    def caster(x: Tensor, memory_format: Any = None) -> Tensor:
        return _ordered(cast(x, kind), memory_format)

    return named(caster, name, f"x in {kind.name}; x itself where it is so already.")


float = _caster("float", dtypes.float32)  # noqa: A001
double = _caster("double", dtypes.float64)
cfloat = _caster("cfloat", dtypes.complex64)
cdouble = _caster("cdouble", dtypes.complex128)
half = _caster("half", dtypes.float16)
bfloat16 = _caster("bfloat16", dtypes.bfloat16)
long = _caster("long", dtypes.int64)
int = _caster("int", dtypes.int32)  # noqa: A001
short = _caster("short", dtypes.int16)
char = _caster("char", dtypes.int8)
byte = _caster("byte", dtypes.uint8)
bool = _caster("bool", dtypes.bool_)  # noqa: A001


def cpu(x: Tensor, memory_format: Any = None) -> Tensor:
    """x, which is on the CPU."""
    return x if x._described is None else to(x, "cpu")


def cuda(x: Tensor, device: Device = None, non_blocking: builtins.bool = False, memory_format: Any = None) -> Tensor:
    """Raises: badak computes on the CPU."""
    dtypes.check_device("cuda" if device is None else device)
    return x


def clone(input: Tensor, *, memory_format: Any = None) -> Tensor:  # noqa: A002
    """A copy with its own memory, which lies as input does or as memory_format says.   dx = dy.

    Args:
        memory_format: how the copy lies

    Returns: a copy, part of the graph

    Example:
        >>> badak.ones(2).clone().tolist()
        [1.0, 1.0]
    """
    return apply(Clone, input) if memory_format is None else apply(Clone, input, order=order_asked(memory_format, input.dim()))


def contiguous(x: Tensor, memory_format: Any = None) -> Tensor:
    """x where it lies in row-major order, or as memory_format says, else such a copy.

    Returns: the tensor itself or a copy

    Example:
        >>> badak.ones(2, 3).T.contiguous().is_contiguous()
        True
    """
    if memory_format is not None:
        return _ordered(x, memory_format)
    return x if x._array.flags.c_contiguous else apply(Clone, x, order="rows")


def _ordered(x: Tensor, memory_format) -> Tensor:
    """x, copied where it lies in another order than the one that is asked for."""
    order = order_asked(memory_format, x.dim())
    return x if order is None or lies_so(x._array, order) else apply(Clone, x, order=order)


def as_images(y: Tensor, *like: Tensor, lines: builtins.bool = False) -> Tensor:
    """y (N, C, ...) with the channels of a pixel side by side in memory where those of one of `like` are, as in PyTorch.

    lines: (N, C, L), too.
    """
    for x in like:
        if channels_last(x._array, lines):
            return y if channels_last(y._array, lines) else apply(Clone, y, order="channels")
    return y
