"""Coordinates of grids, numbers evenly spaced, and combinations of entries."""

import itertools
import math
from typing import Any

import numpy as np

from badak.core.errors import ArgumentError, ArgumentTypeError, DTypeError, NotSupportedError, ShapeError, tr, warn_once
from badak.kernels.reference._boxmuller import fma64
from badak.tensor import dtypes
from badak.tensor.concat import stack
from badak.tensor.create import _is_float, _number, full, sequence
from badak.tensor.dtypes import Device, default_dtype, to_dtype
from badak.tensor.dtypes import dtype as DType  # noqa: N812  # noqa: N812
from badak.tensor.promote import told_constant
from badak.tensor.tensor import Tensor


def meshgrid(*tensors: Any, indexing: str | None = None) -> tuple:
    """For vectors of lengths n0, n1, ...: one tensor of shape (n0, n1, ...) each, that runs along its own dim.

    indexing "xy" exchanges the first two dims; the default is "ij", as in PyTorch.
    """
    if len(tensors) == 1 and not isinstance(tensors[0], Tensor):
        tensors = tuple(tensors[0])
    if indexing not in (None, "ij", "xy"):
        raise ArgumentError(tr('meshgrid: indexing must be one of "xy" or "ij", but received: {}', indexing), None)
    if not tensors:
        raise ArgumentError("meshgrid expects a non-empty TensorList", "meshgrid(x, y)")
    _need_vectors("meshgrid", tensors, 1)
    if len({x.dtype for x in tensors}) > 1:
        raise DTypeError("meshgrid expects all tensors to have the same dtype", "x.to(y.dtype)")
    vectors = [x.reshape(-1) for x in tensors]
    shape = [x._array.size for x in vectors]
    n = len(vectors)
    grids = [x.reshape([-1 if a == k else 1 for a in range(n)]).expand(shape) for k, x in enumerate(vectors)]
    return tuple(g.transpose(0, 1) if indexing == "xy" and n > 1 else g for g in grids)


def _need_vectors(name: str, tensors: tuple, or_number: int) -> None:
    for i, x in enumerate(tensors):
        if not 1 - or_number <= x.dim() <= 1:
            cause = tr(
                "{}: expected {}1D tensors; tensor {} has shape {}", name, tr("scalar or ") if or_number else "", i, tuple(x.shape)
            )
            raise ShapeError(cause, "x.flatten()")


def cartesian_prod(*tensors: Any) -> Tensor:
    """All combinations of one entry from each vector, as rows."""
    _need_vectors("cartesian_prod", tensors, 0)
    if len(tensors) == 1:
        return tensors[0]
    return stack([g.reshape(-1) for g in meshgrid(*tensors)], dim=1)


def combinations(input: Tensor, r: int = 2, with_replacement: bool = False) -> Tensor:
    """All combinations of r entries of a vector, as rows."""
    choose = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    rows = np.array(list(choose(range(input._array.size), r)), np.int64).reshape(-1, r)
    return input[told_constant(rows)]


def linspace(
    start: Tensor | complex,
    end: Tensor | complex,
    steps: int,
    *,
    dtype: DType | None = None,
    out: Tensor | None = None,
    device: Device = None,
    requires_grad: bool = False,
    **accepted: Any,
) -> Tensor:
    """`steps` numbers from start to end, both included, evenly spaced: counted from the nearer end, as PyTorch does.

    Args:
        start, end: first and last value
        steps: how many
        dtype: of the result
        out: where the result is written
        device, requires_grad: as in `badak.tensor`

    Returns: (steps,)

    Example:
        >>> badak.linspace(0, 1, 5).tolist()
        [0.0, 0.25, 0.5, 0.75, 1.0]
    """
    dtype = dtypes.agreed(dtype, out)
    wanted = default_dtype() if dtype is None else to_dtype(dtype)
    if any(map(_is_complex, (start, end))) or wanted.is_complex:
        array = _complex("linspace", start, end, steps, dtype)
        return sequence(array, dict(out=out, device=device, requires_grad=requires_grad, **accepted))
    if (_is_float(start) or _is_float(end)) and wanted.is_floating_point and out is None and not requires_grad:
        return _between(start, end, steps, wanted)
    array = _spaced(_number(start), _number(end), steps, wanted)
    return sequence(array, dict(out=out, device=device, requires_grad=requires_grad, **accepted))


def logspace(
    start: Any,
    end: Any,
    steps: int,
    base: float = 10.0,
    *,
    dtype: DType | None = None,
    out: Tensor | None = None,
    device: Device = None,
    requires_grad: bool = False,
    **accepted: Any,
) -> Tensor:
    """base^start to base^end in `steps` numbers, evenly spaced in the exponent."""
    dtype = dtypes.agreed(dtype, out)
    wanted = default_dtype() if dtype is None else to_dtype(dtype)
    if any(map(_is_complex, (start, end))) or wanted.is_complex:
        array = _complex("logspace", start, end, steps, dtype)
        array = np.power(complex(base), array.astype(np.complex128)).astype(array.dtype)
        return sequence(array, dict(out=out, device=device, requires_grad=requires_grad, **accepted))
    if (_is_float(start) or _is_float(end)) and wanted.is_floating_point and out is None and not requires_grad:
        return (float(base) ** _between(start, end, steps, dtypes.float64)).to(wanted)
    start, end = _number(start), _number(end)
    if wanted.kind in ("int", "uint"):
        start, end = int(start), int(end)  # first, as in PyTorch
    spaced = _spaced(start, end, steps, wanted if wanted is dtypes.bool_ else dtypes.float64)
    array = np.power(np.longdouble(base), spaced.astype(np.longdouble))  # NumPy's double has other last digits with AVX-512
    return sequence(array.astype(wanted.numpy), dict(out=out, device=device, requires_grad=requires_grad, **accepted))


def _is_complex(x) -> bool:
    return x.is_complex() if isinstance(x, Tensor) else isinstance(x, complex)


def _complex(name: str, start, end, steps: int, dtype):
    """Both parts of complex numbers, each evenly spaced."""
    wanted = default_dtype().to_complex() if dtype is None else to_dtype(dtype)
    if not wanted.is_complex:
        cause = tr("{}(): inferred dtype complex can't be safely cast to passed dtype {}", name, wanted)
        raise DTypeError(cause, "dtype=badak.complex64")
    start, end = (complex(x.item() if isinstance(x, Tensor) else x) for x in (start, end))
    parts = (_spaced(a, b, steps, wanted.to_real()) for a, b in ((start.real, end.real), (start.imag, end.imag)))
    return np.stack([*parts], axis=-1).view(wanted.numpy)[..., 0]


def _spaced(start, end, steps: int, kind: dtypes.dtype):
    """From both ends, with the step rounded to the dtype and each product and sum rounded once: PyTorch's numbers."""
    if isinstance(steps, float):
        raise ArgumentTypeError(tr("number of steps must be an int; got {}", steps), f"steps={int(steps)}")
    steps = int(steps)
    if steps < 0:
        raise ArgumentError(tr("number of steps must be non-negative; got {}", steps), "steps=100")
    if kind is dtypes.bool_ and steps > 1:
        raise NotSupportedError("linspace and logspace are not implemented for bool", "dtype=badak.float32")
    if kind.kind in ("int", "uint"):
        start, end = int(start), int(end)  # first, as in PyTorch
    number = kind.numpy.type if kind.name in ("float32", "float64") else np.float64
    start, end, count = number(start), number(end), np.arange(steps, dtype=np.float64)
    step = float((end - start) / number(max(steps - 1, 1)))
    array = np.where(
        count < steps // 2, fma64(np.float64(step), count, float(start)), fma64(np.float64(-step), steps - 1 - count, float(end))
    )
    if steps == 1:
        array[:] = start
    return array.astype(kind.numpy)


def _between(start, end, steps: int, kind: dtypes.dtype) -> Tensor:
    """`_spaced`, from or to tensors of one float: by operations, which a trace follows."""
    counted = Tensor._of(_spaced(0, max(int(steps) - 1, 0), steps, dtypes.float64))
    number = kind if kind.name in ("float32", "float64") else dtypes.float64
    start, end = (full((), x, dtype=number) for x in (start, end))
    step = ((end - start) / max(len(counted) - 1, 1)).double()
    from_end = end.double() - step * (len(counted) - 1 - counted)
    made = (start.double() + step * counted).where(counted < len(counted) // 2, from_end)
    return (made if len(counted) != 1 else start.double().reshape(1)).to(kind)


def arange(start: Any = None, end: Any = None, step: Any = 1, *, dtype: DType | None = None, out: Tensor | None = None,
           device: Device = None, requires_grad: bool = False, **accepted: Any) -> Tensor:  # fmt: skip
    """start, start + step, ... below end (above it for a negative step).

    int64 where all three are ints, else the default float dtype; computed in float64 and rounded once.

    Args:
        start: first value; 0 by default
        end: not included
        step: between two values
        dtype: int64 for ints, else float32
        out: where the result is written
        device, requires_grad: as in `badak.tensor`

    Returns: (ceil((end - start) / step),)

    Raises:
        ArgumentError: for a step of 0, or one that leads away from the end

    Example:
        >>> badak.arange(3).tolist()
        [0, 1, 2]
    """
    dtype = dtypes.agreed(dtype, out)
    if type(start) is int and end is None and step == 1 and start >= 0 and dtype is None:
        return sequence(np.arange(start), dict(out=out, device=device, requires_grad=requires_grad, **accepted))
    if start is None and end is None:
        raise ArgumentTypeError("arange(): missing a required argument: 'end'", "arange(5), or arange(1, 5)")
    if start is None or end is None:
        start, end = 0, start if end is None else end
    start, end, step = _number(start), _number(end), _number(step)
    if dtype is not None and to_dtype(dtype).kind in ("int", "uint"):
        start, end, step = int(start), int(end), int(step)  # first, as in PyTorch
    if step == 0:
        raise ArgumentError("step must be nonzero", "step=1")
    if (step > 0) != (end >= start) and end != start:
        cause = tr("upper bound and lower bound inconsistent with step sign: start={}, end={}, step={}", start, end, step)
        raise ArgumentError(cause, "step=-1 counts down")
    whole = all(isinstance(value, int) for value in (start, end, step))
    wanted = to_dtype(dtype) if dtype is not None else dtypes.int64 if whole else default_dtype()
    if wanted is dtypes.bool_:
        raise NotSupportedError("arange and range are not implemented for bool", "badak.tensor([False, True])")
    count = max(0, -((start - end) // step)) if whole else max(0, math.ceil((end - start) / step))
    array = start + np.arange(count) * step
    return sequence(np.asarray(array).astype(wanted.numpy), dict(out=out, device=device, requires_grad=requires_grad, **accepted))


def inclusive_range(start: float = 0, end: float | None = None, step: float = 1, *, dtype: DType | None = None,
                    out: Tensor | None = None, device: Device = None, requires_grad: bool = False,
                    **accepted: Any) -> Tensor:  # fmt: skip
    """start, start + step, ... up to end, which is included; deprecated, `arange` is for new programs.

    Args:
        start: first value
        end: last value, where a step meets it
        step: between two values
        dtype: the default float dtype, also for ints
        out: where the result is written
        device, requires_grad: as in `badak.tensor`

    Returns: (floor((end - start) / step) + 1,)

    Raises:
        ArgumentError: for a step of 0, or one that leads away from the end
    """
    if end is None:
        raise ArgumentTypeError("range(): missing a required argument: 'end'", "range(0, 5), or arange(5)")
    cause = tr("range is deprecated: it includes its end, as Python's range does not")
    warn_once(inclusive_range, cause, "arange, with an end behind the last")
    dtype = dtypes.agreed(dtype, out)
    dtype = default_dtype() if dtype is None else to_dtype(dtype)
    start, end, step = (int(value) if dtype.kind in ("int", "uint") else value for value in map(_number, (start, end, step)))
    if step and (step > 0) == (end >= start) or end == start:
        end = start + math.floor((end - start) / step) * step + (step if dtype.kind in ("int", "uint") else step / 2)
    array = arange(start, end, step, dtype=dtype)._array
    return sequence(array, dict(out=out, device=device, requires_grad=requires_grad, **accepted))
