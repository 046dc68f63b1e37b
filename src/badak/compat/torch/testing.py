"""`torch.testing`: whether two tensors are close, told as PyTorch tells it, and tensors to try things on."""

import math
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

import badak
from badak.core.errors import ArgumentError, ArgumentTypeError, tr
from badak.core.public_api.door import Namespace
from badak.tensor import Tensor, as_tensor, dtypes

_internal = Namespace()  # of which badak has `common_utils`

_TOLERANCES = {  # rtol, atol; of everything else 0
    "float16": (1e-3, 1e-5), "bfloat16": (1.6e-2, 1e-5), "float32": (1.3e-6, 1e-5), "float64": (1e-7, 1e-7),
    "complex64": (1.3e-6, 1e-5), "complex128": (1e-7, 1e-7),
}  # fmt: skip


def assert_close(
    actual: Any,
    expected: Any,
    *,
    allow_subclasses: bool = True,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = False,
    check_device: bool = True,
    check_dtype: bool = True,
    check_layout: bool = True,
    check_stride: bool = False,
    msg: Any = None,
) -> None:
    """Raise AssertionError unless |actual - expected| <= atol + rtol |expected| everywhere; numbers, sequences and dicts too.

    rtol and atol, both or none, are chosen by the dtype: 1.3e-6 and 1e-5 for float32. equal_nan: NaN is close to NaN.
    """
    if (rtol is None) != (atol is None):
        raise ArgumentError("rtol and atol must both be specified or both be unspecified", "assert_close(a, b, rtol=0, atol=1e-6)")
    tolerances = None if rtol is None or atol is None else (rtol, atol)
    told = _told(actual, expected, (tolerances, equal_nan, check_dtype, check_stride, check_device), "")
    if told:
        raise AssertionError(told if msg is None else msg(told) if callable(msg) else msg)


_OLD_TOLERANCES = {"float16": (1e-3, 1e-3), "float32": (1e-4, 1e-5), "float64": (1e-5, 1e-8)}


def assert_allclose(
    actual: Any, expected: Any, rtol: float | None = None, atol: float | None = None, equal_nan: bool = True, msg: str = ""
) -> None:
    """assert_close as it was before PyTorch 1.12: NaN is close to NaN, of any dtypes, and float32 to 1e-4 and 1e-5."""
    warnings.warn(
        "`torch.testing.assert_allclose()` is deprecated since 1.12. Please use `torch.testing.assert_close()` instead.",
        FutureWarning,
        stacklevel=2,
    )
    a = as_tensor(actual)
    b = as_tensor(expected) if isinstance(expected, Tensor) else as_tensor(expected, a.dtype)
    if rtol is None and atol is None:
        known = [_OLD_TOLERANCES.get(str(x.dtype).rpartition(".")[2], (0.0, 0.0)) for x in (a, b)]
        rtol, atol = map(max, zip(*known))
    assert_close(a, b, rtol=rtol, atol=atol, equal_nan=equal_nan, check_dtype=False, msg=msg or None)


def _told(actual: Any, expected: Any, rules: tuple, place: str) -> str:
    """What is wrong, "" where nothing is."""
    where = f"\n\nThe failure occurred for item {place}" if place else ""
    if isinstance(actual, Mapping) and isinstance(expected, Mapping):
        if set(actual) != set(expected):
            lost, more = sorted(set(expected) - set(actual), key=str), sorted(set(actual) - set(expected), key=str)
            return (
                "The keys of the mappings do not match:\n"
                f"Missing keys in the actual mapping: {lost}\nAdditional keys in the actual mapping: {more}{where}"
            )
        pairs: Any = ((f"{place}[{key!r}]", actual[key], expected[key]) for key in actual)
        return next(filter(None, (_told(a, b, rules, at) for at, a, b in pairs)), "")
    if _is_sequence(actual) and _is_sequence(expected):
        if len(actual) != len(expected):
            return f"The length of the sequences mismatch: {len(actual)} != {len(expected)}{where}"
        pairs = ((f"{place}[{i}]", a, b) for i, (a, b) in enumerate(zip(actual, expected)))
        return next(filter(None, (_told(a, b, rules, at) for at, a, b in pairs)), "")
    if actual is None or expected is None:
        return "" if actual is expected else f"None mismatch: {actual} is not {expected}{where}"
    if isinstance(actual, bool) and isinstance(expected, bool):
        return "" if actual == expected else f"Booleans mismatch: {actual} is not {expected}{where}"
    found = _differ(actual, expected, rules)
    return found + where if found else ""


def _is_sequence(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)


def _differ(actual: Any, expected: Any, rules: tuple) -> str:
    tolerances, equal_nan, check_dtype, check_stride, check_device = rules
    if _is_sequence(actual) or _is_sequence(expected) or isinstance(actual, str | Mapping) or isinstance(expected, str | Mapping):
        cause = tr("No comparison pair was able to handle inputs of type {} and {}.", type(actual), type(expected))
        raise ArgumentTypeError(cause, "two tensors, two numbers, two sequences or two mappings")
    single = not isinstance(actual, Tensor | np.ndarray) and not isinstance(expected, Tensor | np.ndarray)
    a, b = as_tensor(actual), as_tensor(expected)
    for name, compared in (("shape", True), ("device", check_device), ("dtype", check_dtype), ("stride()", check_stride)):
        x, y = (t.stride() if name == "stride()" else getattr(t, name) for t in (a, b))
        if compared and x != y and not (name == "dtype" and single):
            return f"The values for attribute '{name}' do not match: {x} != {y}."
    if a.is_meta or b.is_meta:
        return ""
    names = ["float64" if single and t.is_floating_point() else t.dtype.name for t in (a, b)]
    rtol, atol = tolerances or [max(pair) for pair in zip(*(_TOLERANCES.get(name, (0.0, 0.0)) for name in names))]
    x, y = (t.detach()._array.astype(_wide(a, b)) for t in (a, b))
    with np.errstate(all="ignore"):
        close = (x == y) | (np.abs(x - y) <= atol + rtol * np.abs(y)) & np.isfinite(y)
        if equal_nan:
            close |= np.isnan(x) & np.isnan(y)
        return "" if close.all() else _mismatch(x, y, close, rtol, atol, not close.ndim)


def _wide(a: Tensor, b: Tensor) -> Any:
    if a.is_complex() or b.is_complex():
        return np.complex128
    floats = a.is_floating_point() or b.is_floating_point()
    return np.float64 if floats else np.int64


def _mismatch(x: np.ndarray, y: np.ndarray, close: np.ndarray, rtol: float, atol: float, single: bool) -> str:
    what = "equal" if rtol == atol == 0 else "close"
    off = np.abs(x - y)
    share = np.where(x == y, 0.0, off / np.abs(y))
    if x.dtype.kind == "i" and x.ndim:
        share = share.astype(np.float32)
    up_to = [f" (up to {tolerance} allowed)" if what == "close" else "" for tolerance in (atol, rtol)]
    if single:
        return tr("Scalars are not {}!\n\nExpected {} but got {}.\nAbsolute difference: {}{}\nRelative difference: {}{}", what,
                  y.item(), x.item(), off.item(), up_to[0], share.item(), up_to[1])  # fmt: skip
    wrong = int((~close).sum())
    lines: list[str] = [
        tr("Tensor-likes are not {}!\n\nMismatched elements: {} / {} ({:.1%})", what, wrong, close.size, wrong / close.size)
    ]
    for word, values, note in (("absolute", off, up_to[0]), ("relative", share, up_to[1])):
        at = np.unravel_index(int(np.argmax(np.where(close, -1.0, values))), values.shape)
        index = f" at index {tuple(int(i) for i in at)}" if values.ndim else ""
        lines.append(f"Greatest {word} difference: {values[at].item()}{index}{note}")
    return tr("\n").join(lines)


def make_tensor(
    *shape: Any,
    dtype: dtypes.dtype,
    device: Any = None,
    low: float | None = None,
    high: float | None = None,
    requires_grad: bool = False,
    noncontiguous: bool = False,
    exclude_zero: bool = False,
    memory_format: Any = None,
) -> Tensor:
    """A tensor of numbers drawn evenly from [low, high), as far as the dtype holds them.

    By default from -9 to 9 for floats, -9 to 10 for integers, 0 to 10 for unsigned ones, 0 to 2 for bools.
    """
    sizes = tuple(shape[0]) if len(shape) == 1 and not isinstance(shape[0], int) else shape
    kind = dtypes.to_dtype(dtype)
    if noncontiguous and memory_format is not None:
        cause = tr("The parameters `noncontiguous` and `memory_format` are mutually exclusive, but got noncontiguous=True and "
                   "memory_format={}", memory_format)  # fmt: skip
        raise ArgumentError(cause, "one of them")
    whole = dtypes.CATEGORY[kind.kind] < 2
    if requires_grad and whole:
        cause = tr("`requires_grad=True` is not supported for boolean and integral dtypes, but got dtype={}", kind)
        raise ArgumentError(cause, "requires_grad=False")
    start, stop = _range(kind, low, high)
    if gaps := noncontiguous and math.prod(sizes) > 1:
        sizes = (*sizes[:-1], 2 * sizes[-1])
    if whole:
        made = badak.randint(math.ceil(start), math.ceil(stop), sizes, dtype=kind, device=device)
    else:
        made = badak.empty(sizes, dtype=dtypes.float32 if kind.itemsize == 1 else kind, device=device)
        parts = badak.view_as_real(made) if kind.is_complex else made
        scale = 2 if stop - start >= dtypes.finfo(parts.dtype).max else 1  # a wider range than there are numbers
        parts.uniform_(start / scale, stop / scale).mul_(scale)
        made = made.to(kind)
    if gaps:
        made = made[..., 1::2]
    elif memory_format is not None:
        made = made.clone(memory_format=memory_format)
    if exclude_zero:
        made[made == 0] = 1 if whole else dtypes.finfo(kind.to_real()).tiny
    return made.requires_grad_() if requires_grad else made


def _range(kind: dtypes.dtype, low: float | None, high: float | None) -> tuple[float, float]:
    """Where the numbers of `make_tensor` begin and end, within what the dtype holds."""
    least: float
    most: float
    if kind.kind == "bool":
        least, most, usual = 0, 2, (0, 2)
    elif kind.kind in ("int", "uint"):
        holds = dtypes.iinfo(kind)
        least, most, usual = holds.min, holds.max + (kind is not dtypes.int64), (-9, 10)
    else:
        real = dtypes.finfo(kind.to_real())
        least, most, usual = real.min, real.max, (-9, 9)
    start, stop = usual[0] if low is None else low, usual[1] if high is None else high
    if math.isnan(start) or math.isnan(stop):
        raise ArgumentError(tr("`low` and `high` cannot be NaN, but got low={} and high={}", start, stop), "low=0, high=1")
    if start > stop or (start == stop and kind.kind in ("bool", "int", "uint")):
        raise ArgumentError(tr("`low` must be less than `high`, but got {} >= {}", start, stop), "low=0, high=1")
    if stop < least or start >= most:
        cause = tr("The value interval specified by `low` and `high` is [{}, {}), but {} only supports [{}, {})", start, stop, kind,
                   least, most)  # fmt: skip
        raise ArgumentError(cause, "leave low= and high= away")
    return min(max(start, least), most), min(max(stop, least), most)
