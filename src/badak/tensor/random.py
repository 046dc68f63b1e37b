"""Random tensors, with PyTorch's names and, for the same seed, PyTorch's numbers.

A tensor is filled in the order in which its elements lie in memory, as PyTorch fills it: a transposed tensor gets the same
numbers at the same addresses as the tensor it was transposed from.

A draw has no gradient of its own. As in PyTorch, gradients of 0 reach what `normal`, `bernoulli` and the functions in place were
given, or drew over; `multinomial` and the new tensors have no history.

Parity: the bits of PyTorch 2.13 on an x86 CPU, except that on Intel's PyTorch draws `bernoulli_(p)` from MKL. Where
log, exp or tan enter a float64 result, so does the C library's rounding.
"""

from collections.abc import Callable, Sequence
from operator import index
from typing import Any

import numpy as np

from badak.core.errors import ArgumentError, ArgumentTypeError, DTypeError, IndexOutOfRangeError, tr, warn_once
from badak.core.modes import modes
from badak.ops._broadcast import stretched
from badak.ops.copy_slices import Replaced
from badak.tensor import dtypes
from badak.tensor._sampling import largest_integer
from badak.tensor.apply import apply
from badak.tensor.complex import view_as_real
from badak.tensor.dtypes import Device
from badak.tensor.dtypes import dtype as DType  # noqa: N812
from badak.tensor.generator import (
    Generator,
    default_generator,
    fork_rng,
    get_rng_state,
    initial_seed,
    manual_seed,
    seed,
    set_rng_state,
)
from badak.tensor.inplace import expect_writable, refuse_leaf, write_
from badak.tensor.meta_storage import unfilled
from badak.tensor.promote import into
from badak.tensor.tensor import Tensor


def or_default(generator: Any) -> Generator:
    """`generator`, or the default one for None; ArgumentTypeError for anything else."""
    if generator is None:
        return default_generator
    if not isinstance(generator, Generator):
        raise ArgumentTypeError(tr("generator: expected a badak.Generator; got {}", type(generator).__name__), "badak.Generator()")
    return generator


# ---------------------------------------------------------------------- order of filling


def memory_axes(array: np.ndarray) -> list[int]:
    """The axes of `array` from the largest step in memory to the smallest."""
    return sorted(range(array.ndim), key=lambda axis: -array.strides[axis] if array.shape[axis] > 1 else 0)


def draw_like(array: np.ndarray, draw: Callable) -> np.ndarray:
    """`draw(shape)` laid over an array of `array`'s shape in the order of `array`'s memory."""
    if array.flags.c_contiguous:
        return draw(array.shape)
    axes = memory_axes(array)
    return draw(tuple(array.shape[axis] for axis in axes)).transpose(np.argsort(axes))


def _ordered(values: np.ndarray, array: np.ndarray) -> np.ndarray:
    """`values`, broadcast to array's shape, with its axes in the order of array's memory."""
    return np.broadcast_to(values, array.shape).transpose(memory_axes(array))


def _layout_like(array: np.ndarray) -> np.ndarray:
    """An array that says where the elements of PyTorch's `empty_like` lie: as in `array` if that is dense, else in rows."""
    if array.flags.c_contiguous or array.transpose(memory_axes(array)).flags.c_contiguous:
        return array
    return np.empty(array.shape, array.dtype)


# ---------------------------------------------------------------------- arguments


def _sized(where, sizes, size=None, **unknown) -> tuple:
    """The sizes, which may be given as size=, where the caller gave nothing else that nobody knows."""
    if unknown or (sizes and size is not None):
        cause = tr("{}(): got an unexpected keyword argument '{}'", where, next(iter(unknown), "size"))
        raise ArgumentTypeError(cause, f"{where}(2, 3)")
    if not sizes and size is None:
        cause = tr('{}() missing 1 required positional argument: "size"', where)
        raise ArgumentTypeError(cause, tr("{}(2, 3), or {}(()) for a single number", where, where))
    return sizes or (size,)


def _shape(size, where) -> tuple:
    if len(size) == 1 and not hasattr(size[0], "__index__"):
        size = size[0]
    try:
        shape = tuple(s.__index__() for s in size)
    except (AttributeError, TypeError):
        cause = tr("{}: expected a shape of ints; got {!r}", where, size)
        raise ArgumentTypeError(cause, tr("{}(2, 3) or {}((2, 3))", where, where)) from None
    if any(s < 0 for s in shape):
        raise ArgumentError(tr("{}: expected sizes >= 0; got shape={}", where, shape))
    return shape


def _float_dtype(dtype, where):
    chosen = dtypes.default_dtype() if dtype is None else dtypes.to_dtype(dtype)
    if not (chosen.is_floating_point or chosen.is_complex):
        raise DTypeError(tr("{}: expected a floating-point dtype; got {}", where, chosen), "dtype=badak.float32")
    return chosen.numpy


def _need_float(x: Tensor, where) -> None:
    if not x.dtype.is_floating_point:
        raise DTypeError(tr("{}: expected a floating-point tensor; got {}", where, x.dtype), "x.float() first")


def _drawn(array: np.ndarray, *inputs) -> Tensor:
    """The numbers as a tensor; where a gradient of one of the inputs is wanted, it is 0."""
    made = Tensor._fresh(array)
    wanted = [x for x in inputs if isinstance(x, Tensor) and x.requires_grad] if modes.grad else []
    return apply(Replaced, made, *wanted) if wanted else made


def _finish(array, out, requires_grad, where, *inputs) -> Tensor:
    made = _drawn(array, *inputs)
    if out is not None:
        return write_(out, made, where) if out._array.shape == array.shape else into(out, made)
    return made.requires_grad_() if requires_grad else made


# ---------------------------------------------------------------------- new tensors


def rand(*size: Any, generator: Generator | None = None, out: Tensor | None = None, dtype: DType | None = None,
         layout: Any = None, device: Device = None, requires_grad: bool | None = False, pin_memory: bool | None = False,
         **named: Any) -> Tensor:  # fmt: skip
    """Uniform numbers on [0, 1) of shape `size`.

    Args:
        *size: the sizes, or one tuple of them
        generator: drawn from; the default one if None
        out, dtype, layout, device, requires_grad, pin_memory: as in PyTorch

    Returns: tensor of that shape

    Example:
        >>> badak.rand(100).max().item() < 1
        True
    """
    dtypes.check_place(device)
    shape = _shape(_sized("rand", size, **named), "rand")
    return _finish(
        or_default(generator).uniform(shape, _float_dtype(dtypes.agreed(dtype, out), "rand")), out, requires_grad, "rand"
    )


def randn(*size: Any, generator: Generator | None = None, out: Tensor | None = None, dtype: DType | None = None,
          layout: Any = None, device: Device = None, requires_grad: bool | None = False, pin_memory: bool | None = False,
          **named: Any) -> Tensor:  # fmt: skip
    """Normal numbers (mean 0, deviation 1) of shape `size`.

    Args:
        *size: the sizes, or one tuple of them
        generator: drawn from; the default one if None
        out, dtype, layout, device, requires_grad, pin_memory: as in PyTorch

    Returns: tensor of that shape

    Example:
        >>> _ = badak.manual_seed(0)
        >>> badak.randn(2).mul(1000).round().tolist()
        [1541.0, -293.0]
    """
    dtypes.check_place(device)
    shape = _shape(_sized("randn", size, **named), "randn")
    return _finish(
        or_default(generator).normal(shape, _float_dtype(dtypes.agreed(dtype, out), "randn")), out, requires_grad, "randn"
    )


def randint(*args: Any, low: int | None = None, high: int | None = None, size: Sequence[int] | None = None,
            generator: Generator | None = None, out: Tensor | None = None, dtype: DType | None = None, layout: Any = None,
            device: Device = None, requires_grad: bool | None = False, pin_memory: bool | None = False) -> Tensor:  # fmt: skip
    """Integers in [low, high) of shape `size`: randint(high, size), randint(low, high, size); int64 by default.

    Args:
        *args: high, size; or low, high, size
        low, high, size: the same by name
        generator: drawn from; the default one if None
        out, dtype, layout, device, requires_grad, pin_memory: as in PyTorch

    Returns: int64 tensor of that shape

    Example:
        >>> badak.randint(1, (3,)).tolist()
        [0, 0, 0]
    """
    dtypes.check_place(device)
    dtypes.agreed(dtype, out)
    low, high, size = _range(list(args), low, high, size)
    if isinstance(size, int):
        raise ArgumentTypeError("randint(): argument 'size' must be tuple of ints, not int", tr("randint({}, ({},))", high, size))
    kind = np.dtype(np.int64) if dtype is None else dtypes.to_dtype(dtype).numpy
    low, high = _ends("randint", low, high, kind)
    drawn = or_default(generator).integers(low, high, _shape((size,), "randint"), kind)
    return _finish(drawn, out, requires_grad, "randint")


def _range(args, low, high, size, sized=True):
    if sized and size is None and args:
        size = args.pop()
    if high is None and args:
        high = args.pop()
    if low is None:
        low = args.pop() if args else 0
    if args or high is None or (sized and size is None):
        raise ArgumentTypeError("randint: expected randint(high, size) or randint(low, high, size)", "randint(10, (2, 3))")
    return _whole("randint", "low", low), _whole("randint", "high", high), size


def _whole(name: str, argument: str, value) -> int:
    """An integer, as an int that int64 can hold."""
    try:
        number = None if isinstance(value, bool) else index(value)
    except TypeError:
        number = None
    if number is None:
        cause = tr("{}(): argument '{}' must be int, not {}", name, argument, type(value).__name__)
        raise ArgumentTypeError(cause, tr("{}=int(...)", argument))
    if not -(2**63) <= number < 2**63:
        raise IndexOutOfRangeError(tr("{}: {} does not fit into int64", name, argument), "a smaller number")
    return number


def _ends(name: str, low: int, high: int, kind: np.dtype) -> tuple[int, int]:
    """The range, as PyTorch takes it for this dtype, which must hold it; with a warning where it leaves out some integers."""
    if kind.kind == "c":
        raise DTypeError(tr("{}: expected a real dtype; got {}", name, kind), "dtype=badak.int64")
    least, most = (0, 1) if kind.kind == "b" else (np.iinfo(kind).min, np.iinfo(kind).max) if kind.kind in "iu" else (
        -dtypes.largest(kind), dtypes.largest(kind))  # fmt: skip
    if low < least or high - 1 > most:
        cause = tr("{}: numbers from {} to {} do not fit into {} ({}..{})", name, low, high - 1, kind, least, most)
        raise IndexOutOfRangeError(cause, "dtype=badak.int64")
    if kind.kind not in "iub" and not -largest_integer(kind) <= low < high <= largest_integer(kind) + 1:
        most = largest_integer(kind)
        cause = tr("{}: from {} or to - 1 = {} is out of bounds: beyond {} {} leaves out integers, which are not drawn",
                   name, low, high - 1, most, kind)  # fmt: skip
        warn_once((name, kind), cause, "dtype=badak.int64")
        low, high = -_inside(-low, kind, -low + 1), _inside(high, kind, high)
    return low, high


def _inside(end: int, kind: np.dtype, least: int) -> int:
    """`end`, or a number of the dtype below it, where end - 1 would be rounded up to `least` or more."""
    rounded = int(np.asarray(end - 1).astype(kind))
    gap = abs(end - 1).bit_length() - largest_integer(kind).bit_length() + 1
    return end if rounded < least else rounded - (1 << max(gap, 0))


def randperm(n: int, *, generator: Generator | None = None, out: Tensor | None = None, dtype: DType | None = None,
             layout: Any = None, device: Device = None, requires_grad: bool | None = False,
             pin_memory: bool | None = False) -> Tensor:  # fmt: skip
    """0 .. n-1 in random order, (n,); int64 by default.

    Args:
        n: how many
        generator: drawn from; the default one if None
        out, dtype, layout, device, requires_grad, pin_memory: as in PyTorch

    Returns: (n,)

    Example:
        >>> sorted(badak.randperm(4).tolist())
        [0, 1, 2, 3]
    """
    dtypes.check_place(device)
    dtypes.agreed(dtype, out)
    n = _whole("randperm", "n", n)
    if n < 0:
        raise ArgumentError(tr("randperm: expected n >= 0; got n={}", n), "n is how many numbers to order")
    kind = dtypes.int64 if dtype is None else dtypes.to_dtype(dtype)
    if kind.is_complex or kind is dtypes.bool_ or (not kind.is_floating_point and n - 1 > np.iinfo(kind.numpy).max):
        raise DTypeError(tr("randperm: {} does not hold the numbers 0..{}", kind, n - 1), "dtype=badak.int64")
    order = or_default(generator).permutation(n)
    return _finish(order if dtype is None else order.astype(dtypes.to_dtype(dtype).numpy), out, requires_grad, "randperm")


def _like(draw, input, dtype, device, requires_grad) -> Tensor:  # noqa: A002
    """A tensor laid out like `input`; draw(shape, dtype, contiguous) makes the numbers."""
    dtypes.check_device(device)
    place = _layout_like(input._array)
    kind = input.dtype.numpy if dtype is None else dtypes.to_dtype(dtype).numpy
    made = draw_like(place, lambda shape: draw(shape, kind, place.flags.c_contiguous))
    return _finish(made, None, requires_grad, "rand_like")


def rand_like(input: Tensor, *, generator: Generator | None = None, dtype: DType | None = None, layout: Any = None,  # noqa: A002
              device: Device = None, requires_grad: bool | None = False, memory_format: Any = None) -> Tensor:  # fmt: skip
    """Uniform numbers on [0, 1) of input's shape, dtype and order in memory."""
    _float_dtype(dtype or input.dtype, "rand_like")
    source = or_default(generator)
    return _like(lambda shape, kind, rows: source.uniform(shape, kind), input, dtype, device, requires_grad)


def randn_like(input: Tensor, *, generator: Generator | None = None, dtype: DType | None = None, layout: Any = None,  # noqa: A002
               device: Device = None, requires_grad: bool | None = False, memory_format: Any = None) -> Tensor:  # fmt: skip
    """Normal numbers of input's shape, dtype and order in memory."""
    _float_dtype(dtype or input.dtype, "randn_like")
    source = or_default(generator)
    return _like(lambda shape, kind, rows: source.normal(shape, kind, contiguous=rows), input, dtype, device, requires_grad)


def randint_like(input: Any, *args: Any, low: Any = None, high: Any = None, generator: Generator | None = None,  # noqa: A002
                 dtype: DType | None = None, layout: Any = None, device: Device = None, requires_grad: bool | None = False,
                 memory_format: Any = None) -> Tensor:  # fmt: skip
    """Integers of input's shape, dtype and order in memory: randint_like(x, high), randint_like(x, low, high)."""
    low, high, _ = _range(list(args), low, high, None, sized=False)
    source = or_default(generator)
    low, high = _ends("randint_like", low, high, input.dtype.numpy if dtype is None else dtypes.to_dtype(dtype).numpy)
    return _like(lambda shape, kind, rows: source.integers(low, high, shape, kind), input, dtype, device, requires_grad)


def normal(mean: Any = 0.0, std: Tensor | float = 1.0, size: Sequence[int] | None = None, *, generator: Generator | None = None,
           out: Tensor | None = None, dtype: DType | None = None, layout: Any = None, device: Device = None,
           requires_grad: bool | None = False, pin_memory: bool | None = False) -> Tensor:  # fmt: skip
    """mean + std z: normal(mean, std) with tensors that broadcast, or normal(2.0, 3.0, size) with two numbers."""
    dtypes.check_device(device)
    source = or_default(generator)
    if not isinstance(std, Tensor) and not std >= 0:
        raise ArgumentError(tr("normal: expected std >= 0.0; got {}", std), "a deviation, not a variance or its logarithm")
    for each in (mean, std):
        if isinstance(each, Tensor) and not each.is_complex():
            _need_float(each, "normal")
    if not isinstance(mean, Tensor) and not isinstance(std, Tensor):
        if size is None:
            raise ArgumentTypeError("normal: expected a size where mean and std are numbers", "normal(0.0, 1.0, (2, 3))")
        drawn = source.normal(_shape((size,), "normal"), _float_dtype(dtypes.agreed(dtype, out), "normal"), float(mean), float(std))
        return _finish(drawn, out, requires_grad, "normal")
    if size is not None:
        raise ArgumentTypeError("normal: tensors already say the size", "normal(mean, std) without a size")
    if not isinstance(std, Tensor):
        center = mean._array
        drawn = source.normal(center.shape, center.dtype, 0.0, float(std)) + center
    else:
        center = mean._array if isinstance(mean, Tensor) else std._array.dtype.type(mean)
        _need_deviation(std)
        shape = stretched(np.shape(center), std._array.shape)
        drawn = source.normal(shape, (mean if isinstance(mean, Tensor) else std).dtype.numpy) * std._array + center
    return _finish(drawn, out, requires_grad, "normal", mean, std)


def _need_deviation(std: Tensor) -> None:
    if not (std._array >= 0).all():
        raise ArgumentError("normal: expected every std >= 0.0", "std.abs(), or exp of a log-deviation")


def bernoulli(
    input: Tensor, p: float | Tensor | None = None, *, generator: Generator | None = None, out: Tensor | None = None
) -> Tensor:  # noqa: A002
    """1 with probability input[i] (or p, where p is given), else 0; input's shape and dtype."""
    source = or_default(generator)
    if p is None:
        _need_float(input, "bernoulli")
        made = source.bernoulli_each(input._array, input._array.dtype)
    else:
        made = source.bernoulli(float(p), input._array.shape, input._array.dtype)
    return _finish(made, out, False, "bernoulli", input)


# ---------------------------------------------------------------------- in place


def _expect_drawable(x: Tensor, where: str) -> None:
    """Raise where x may not be filled: before a number is drawn, so that the generator stands where it stood."""
    expect_writable(x, where)
    if modes.grad and x.requires_grad:
        refuse_leaf(x)


def _fill(x: Tensor, draw, where, in_pieces=False) -> Tensor:
    if unfilled.on:
        return x
    _expect_drawable(x, where)
    n = x._array.size
    if in_pieces and n >= 2 * _PIECE and x._array.flags.c_contiguous and not modes.grad and modes.observer is None:
        flat = x.reshape(-1)  # the numbers of large weights never lie in memory next to these
        ends = [*range(_PIECE, n - _PIECE + 1, _PIECE), n]
        for start, end in zip([0, *ends], ends):
            part = flat[start:end]
            write_(part, _drawn(draw_like(part._array, draw), part), where)
        return x
    return write_(x, _drawn(draw_like(x._array, draw), x), where)


_PIECE = 1 << 22  # numbers that are drawn at a time: whole blocks of 16, as `Source.normal` has them


def uniform_(x: Tensor, from_: float = 0.0, to: float = 1.0, *, generator: Generator | None = None) -> Tensor:
    """Fill x with uniform numbers on [from_, to); of complex numbers both parts."""
    if x.is_complex():
        _expect_drawable(x, "uniform_")
        uniform_(view_as_real(x), from_, to, generator=generator)
        return x
    _need_float(x, "uniform_")
    largest = dtypes.largest(x._array.dtype)
    if from_ <= to and not max(-from_, to, to - from_) <= largest:
        cause = tr(
            "uniform_: from, to and to - from are at most {}, the largest {}; got from={}, to={}", largest, x.dtype, from_, to
        )
        raise ArgumentError(cause, "smaller bounds, or x.double()")
    source = or_default(generator)
    return _fill(x, lambda shape: source.uniform(shape, x._array.dtype, float(from_), float(to)), "uniform_", True)


def normal_(x: Tensor, mean: float = 0.0, std: float = 1.0, *, generator: Generator | None = None) -> Tensor:
    """Fill x with mean + std z; of complex numbers both parts have this mean, as in PyTorch, and std / sqrt 2."""
    if not x.is_complex():
        _need_float(x, "normal_")
    source, rows = or_default(generator), x._array.flags.c_contiguous
    return _fill(x, lambda shape: source.normal(shape, x._array.dtype, float(mean), float(std), rows), "normal_", True)


def log_normal_(x: Tensor, mean: float = 1.0, std: float = 2.0, *, generator: Generator | None = None) -> Tensor:
    """Fill x with exp(mean + std z)."""
    _need_float(x, "log_normal_")
    source = or_default(generator)
    return _fill(x, lambda shape: source.log_normal(shape, x._array.dtype, float(mean), float(std)), "log_normal_")


def exponential_(x: Tensor, lambd: float = 1.0, *, generator: Generator | None = None) -> Tensor:
    """Fill x with waiting times of rate lambd."""
    _need_float(x, "exponential_")
    source = or_default(generator)
    return _fill(x, lambda shape: source.exponential(shape, x._array.dtype, float(lambd)), "exponential_")


def cauchy_(x: Tensor, median: float = 0.0, sigma: float = 1.0, *, generator: Generator | None = None) -> Tensor:
    """Fill x with median + sigma tan(pi (u - 1/2))."""
    _need_float(x, "cauchy_")
    if not sigma > 0:
        raise ArgumentError(tr("cauchy_ expects sigma > 0.0, but found sigma={}", sigma), "sigma=1.0")
    source = or_default(generator)
    return _fill(x, lambda shape: source.cauchy(shape, x._array.dtype, float(median), float(sigma)), "cauchy_")


def geometric_(x: Tensor, p: float, *, generator: Generator | None = None) -> Tensor:
    """Fill x with the number of trials up to the first success of probability p."""
    source = or_default(generator)
    return _fill(x, lambda shape: source.geometric(float(p), shape, x._array.dtype), "geometric_")


def bernoulli_(x: Tensor, p: Tensor | float = 0.5, *, generator: Generator | None = None) -> Tensor:
    """Fill x with 1 where a draw of probability p (a number, or a tensor that broadcasts to x) succeeds, else 0."""
    source, kind = or_default(generator), x._array.dtype
    _expect_drawable(x, "bernoulli_")
    if isinstance(p, Tensor):
        _need_float(p, "bernoulli_")
        drawn = draw_like(x._array, lambda shape: source.bernoulli_each(_ordered(p._array, x._array), kind))
    else:
        drawn = draw_like(x._array, lambda shape: source.bernoulli(float(p), shape, kind))
    return write_(x, _drawn(drawn, x, p), "bernoulli_")


def random_(x: Tensor, from_: Any = None, to: Any = ..., *, generator: Generator | None = None) -> Tensor:
    """Fill x with integers: random_() over all that the dtype holds exactly (from 0), random_(to), random_(from_, to).

    to: None, where it is given, stands for the largest that the dtype holds exactly, which is drawn, too.
    """
    source, kind = or_default(generator), x._array.dtype
    if from_ is None and to in (..., None):
        return _fill(x, lambda shape: source.any_integers(shape, kind), "random_")
    low, high = (0, from_) if to is ... else (from_ or 0, to)
    low = _whole("random_", "from", low)
    high = largest_integer(kind) + 1 if high is None else _whole("random_", "to", high)
    if low < high:
        low, high = _ends("random_", low, high, kind)
    return _fill(x, lambda shape: source.integers(low, high, shape, kind), "random_")


def dropout_mask(x: np.ndarray, keep: float, generator: Generator | None = None) -> np.ndarray:
    """True with probability `keep`, bool of x's shape, drawn in the order of x's memory: PyTorch's dropout mask for x."""
    source = or_default(generator)
    return draw_like(_layout_like(x), lambda shape: source.bernoulli(keep, shape))


__all__ = [
    "Generator", "bernoulli", "default_generator", "draw_like", "dropout_mask", "fork_rng", "get_rng_state",
    "initial_seed", "manual_seed", "normal", "or_default", "rand", "rand_like", "randint", "randint_like",
    "randn", "randn_like", "randperm", "seed", "set_rng_state",
]  # fmt: skip
