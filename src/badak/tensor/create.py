"""New tensors: from data, filled, or running."""

from array import array as PythonArray
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from badak.core import events
from badak.core.errors import ArgumentError, ArgumentTypeError, DTypeError, NotSupportedError, ShapeError, tr, warn_once
from badak.kernels.memory_format import channels_innermost, copied, laid
from badak.tensor import dtypes
from badak.tensor.data import as_array, fit, unlike_storage
from badak.tensor.dlpack import handed
from badak.tensor.dtypes import CPU, Device, Size, check_place, default_dtype, to_dtype
from badak.tensor.dtypes import dtype as DType  # noqa: N812
from badak.tensor.layouts import no_values, order_asked, sparse_coo, strided
from badak.tensor.meta_storage import description, filled, new_memory, unfilled
from badak.tensor.promote import into
from badak.tensor.storage import UntypedStorage
from badak.tensor.tensor import Tensor
from badak.tensor.vmap import for_each

# ---------------------------------------------------------------------- from data


def tensor(data: Any, *, dtype: DType | None = None, device: Device = None, requires_grad: bool = False,
           pin_memory: bool = False) -> Tensor:  # fmt: skip
    """A new tensor holding a copy of `data`: a number, (nested) lists, a NumPy array, a tensor.

    Python's floats become the default dtype (float32), ints int64, bools bool; NumPy's dtypes are kept.

    Args:
        data: a number, nested lists, a NumPy array or a tensor
        dtype: of the result
        device: accepted: "cpu"
        requires_grad: whether a gradient is wanted
        pin_memory: accepted; no effect

    Returns: tensor of the data's shape

    Example:
        >>> badak.tensor([[1, 2], [3, 4]]).shape
        badak.Size([2, 2])
    """
    check_place(device)
    if isinstance(data, Tensor):
        cause = tr(
            "To copy construct from a tensor, it is recommended to use x.detach().clone() or "
            "x.detach().clone().requires_grad_(True), rather than badak.tensor(x)."
        )
        warn_once(tr("tensor of a tensor"), cause, "x.detach().clone()")
    if hasattr(data, "untyped"):
        made = _of_storage(data, dtype)
        return made.requires_grad_() if requires_grad else made
    made = Tensor._fresh(copied(np.asarray(as_array(data, None if dtype is None else to_dtype(dtype).numpy))))
    if not isinstance(data, Tensor | np.ndarray):
        events.constant(made._array)
    return made.requires_grad_() if requires_grad else made


def as_tensor(data: Any, dtype: DType | None = None, device: Device = None) -> Tensor:
    """`data` as a tensor, sharing its memory where it is a tensor or an array of that dtype already."""
    check_place(device)
    if isinstance(data, Tensor):
        return data if dtype is None else data.to(to_dtype(dtype))
    if hasattr(data, "untyped"):
        return _of_storage(data, dtype)
    return Tensor._fresh(_stepped_forward(as_array(data, None if dtype is None else to_dtype(dtype).numpy)))


def _of_storage(storage, dtype) -> Tensor:
    """The numbers of a storage, in the memory where they lie; of an untyped one its bytes as that dtype.

    Without a dtype it is that of a tensor of the storage's numbers as Python has them, as in PyTorch: int64 of bytes.
    """
    found = getattr(storage, "dtype", None)
    if dtype is None:
        by_kind = {"bool": dtypes.bool_, "float": default_dtype(), "complex": default_dtype()}
        real = by_kind.get(found.kind if found else "int", dtypes.int64)
        kind = real.to_complex() if found and found.is_complex else real
    else:
        kind = to_dtype(dtype)
    if found not in (None, kind):
        raise unlike_storage(kind, found)
    content = storage.untyped()._bytes
    return Tensor._of(content[: content.size // kind.itemsize * kind.itemsize].view(kind.numpy))


def asarray(obj: Any, *, dtype: DType | None = None, device: Device = None, copy: bool | None = None,
            requires_grad: bool = False) -> Tensor:  # fmt: skip
    """`obj` as a tensor, a buffer as `frombuffer`; copy=True never shares memory, copy=False always does or raises."""
    buffer = isinstance(obj, memoryview | bytearray | bytes | PythonArray)
    obj = handed(obj)
    made = frombuffer(obj, dtype=dtype or default_dtype()) if buffer else as_tensor(obj, dtype, device)
    source = obj._array if isinstance(obj, Tensor) else obj
    if copy is False and not buffer and not (isinstance(source, np.ndarray) and source.dtype == made._array.dtype):
        given = getattr(obj, "dtype", "numbers")
        cause = tr("asarray: can't alias {} of {} with a tensor of {}", type(obj).__name__, given, made.dtype)
        raise ArgumentError(cause, "copy=None")
    if copy:
        made = made.detach().clone()
    return made.requires_grad_() if requires_grad else made


def from_numpy(ndarray: np.ndarray) -> Tensor:
    """A tensor that shares the array's memory: a change of one is a change of both.

    Args:
        ndarray: an array of a dtype that tensors have

    Returns: tensor of its shape

    Raises:
        DTypeError: for strings and objects

    Example:
        >>> import numpy as np
        >>> badak.from_numpy(np.arange(3)).tolist()
        [0, 1, 2]
    """
    if not isinstance(ndarray, np.ndarray):
        cause = tr("expected np.ndarray (got {})", type(ndarray).__name__)
        raise ArgumentTypeError(cause, "badak.tensor(data) copies other things")
    dtypes.of_numpy(ndarray.dtype)
    return Tensor._fresh(_stepped_forward(ndarray))


def _stepped_forward(array: np.ndarray) -> np.ndarray:
    """The array, refused where no tensor could see its memory: tensors go through theirs forwards, by whole entries."""
    if any(step < 0 for step in array.strides):
        raise ArgumentError(
            "At least one stride in the given numpy array is negative, and tensors with negative strides are not currently "
            "supported.",
            "from_numpy(array.copy())",
        )
    if any(step % array.itemsize for step in array.strides):
        cause = tr(
            "given numpy array strides not a multiple of the element byte size. Copy the numpy array to reallocate the memory."
        )
        raise ArgumentError(cause, "from_numpy(array.copy())")
    return array


def frombuffer(buffer: Any, *, dtype: DType, count: int = -1, offset: int = 0, requires_grad: bool = False) -> Tensor:
    """A 1-d tensor over `count` numbers of the bytes of `buffer` from `offset` on, or all; they share the memory."""
    try:
        there = memoryview(buffer).nbytes
    except TypeError:
        cause = tr("frombuffer(): object does not implement Python buffer protocol; it is a {}", type(buffer).__name__)
        raise ArgumentError(cause, "bytes, a bytearray, or an array of numbers") from None
    kind = to_dtype(dtype).numpy
    if not there or not count:
        cause = tr("frombuffer(): both buffer length ({}) and count ({}) must not be 0", there, count)
        raise ArgumentError(cause, "badak.empty(0)")
    if not 0 <= offset < there:
        cause = tr("frombuffer(): offset ({} bytes) must be non-negative and no greater than buffer length ({} bytes) minus 1",
                   offset, there)  # fmt: skip
        raise ArgumentError(cause, "offset=0")
    if count < 0 and (there - offset) % kind.itemsize:
        cause = tr("frombuffer(): buffer length ({} bytes) after offset ({} bytes) must be a multiple of element size ({})",
                   there - offset, offset, kind.itemsize)  # fmt: skip
        raise ArgumentError(cause, "count=1")
    if count * kind.itemsize > there - offset:
        cause = tr("frombuffer(): requested buffer length ({} * {} bytes) after offset ({} bytes) must not be greater than actual "
                   "buffer length ({} bytes)", count, kind.itemsize, offset, there)  # fmt: skip
        raise ArgumentError(cause, "count=-1")
    made = Tensor._fresh(np.frombuffer(buffer, kind, count, offset))
    return made.requires_grad_() if requires_grad else made


def scalar_tensor(s: complex, *, dtype: DType | None = None, device: Device = None, requires_grad: bool = False) -> Tensor:
    """The number s as a 0-d tensor of the default dtype."""
    return full((), s, dtype=dtype or default_dtype(), device=device, requires_grad=requires_grad)


def is_tensor(obj: Any) -> bool:
    """Whether obj is a Tensor."""
    return isinstance(obj, Tensor)


# ---------------------------------------------------------------------- filled


def _shape(size, options) -> tuple:
    """The shape given as ints, as one tuple or list, or as size=."""
    if size and "size" in options:
        raise ArgumentTypeError("got several values for the argument 'size'", "zeros(2, 3) or zeros(size=(2, 3))")
    size = (options.pop("size"),) if "size" in options else size
    if not size:
        raise ArgumentTypeError('missing 1 required positional argument: "size"', "zeros(2, 3), or zeros(()) for a single number")
    size = size[0] if len(size) == 1 and not hasattr(size[0], "__index__") else size
    try:
        shape = tuple([n.__index__() for n in size])
    except (AttributeError, TypeError):
        raise ArgumentTypeError(tr("expected a shape of ints; got {!r}", size), "zeros(2, 3) or zeros((2, 3))") from None
    if any(n < 0 for n in shape):
        cause = tr("Trying to create tensor with negative dimension {}: {}", min(shape), list(shape))
        raise ShapeError(cause, "sizes are 0 or more")
    return shape


def _new(make, size, options, *value) -> Tensor:
    """make(shape, *value, dtype) with the keywords that every creation function takes."""
    shape = _shape(size, options)
    if options.get("layout") is sparse_coo and make in (np.zeros, np.empty):  # which need no values
        return no_values(shape, options)
    check_place(options.get("device"))  # before there is any memory
    dtype = dtypes.agreed(options.pop("dtype", None), options.get("out"))
    wanted = default_dtype() if dtype is None else to_dtype(dtype)
    if make is np.empty and unfilled.on:
        return _finish(description(shape, wanted.numpy), options)
    made = new_memory(shape, wanted.numpy) if make is np.empty and filled else make(shape, *value, wanted.numpy)
    return _finish(made, options)


def _finish(array, options) -> Tensor:
    check_place(options.pop("device", None))
    requires_grad, out = options.pop("requires_grad", False), options.pop("out", None)
    if options.pop("layout", None) not in (None, strided):
        raise NotSupportedError("tensors with all their values are dense: their layout is strided", "x.to_sparse()")
    options.pop("pin_memory", None)
    form = options.pop("memory_format", None)
    if form is not None and order_asked(form, array.ndim) == "channels":
        array = channels_innermost(array)
    if options:
        cause = tr("got an unexpected keyword argument '{}'", next(iter(options)))
        raise ArgumentTypeError(cause, "dtype=, device=, requires_grad=")
    made = Tensor._fresh(array)
    events.constant(array)
    if out is not None:
        return into(out, Tensor._of(array.astype(out._array.dtype, copy=False)))
    return made.requires_grad_() if requires_grad else made


def sequence(array: np.ndarray, options: dict) -> Tensor:
    """`_finish` of a vector, which goes into an `out` of as many entries as that lies, in whatever shape."""
    out = options.get("out")
    return _finish(array if out is None or out._array.size != array.size else array.reshape(out._array.shape), options)


def zeros(*size: Any, **options: Any) -> Tensor:
    """A tensor of that shape filled with 0; dtype=, device=, requires_grad=.

    Args:
        *size: the sizes, or one tuple of them
        **options: dtype=, device=, requires_grad=

    Returns: tensor of that shape

    Example:
        >>> badak.zeros(2, 3).tolist()
        [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
    """
    return _new(np.zeros, size, options)


def ones(*size: Any, **options: Any) -> Tensor:
    """A tensor of that shape filled with 1; dtype=, device=, requires_grad=.

    Args:
        *size: the sizes, or one tuple of them
        **options: dtype=, device=, requires_grad=

    Returns: tensor of that shape

    Example:
        >>> badak.ones(2, dtype=badak.int64).tolist()
        [1, 1]
    """
    return _new(np.ones, size, options)


def empty(*size: Any, **options: Any) -> Tensor:
    """A tensor of that shape whose values are whatever lay in memory; dtype=, device=, requires_grad=.

    Args:
        *size: the sizes, or one tuple of them
        **options: dtype=, device=, requires_grad=

    Returns: tensor of that shape

    Example:
        >>> tuple(badak.empty(2, 3).shape)
        (2, 3)
    """
    return _new(np.empty, size, options)


def empty_strided(size: Sequence[int], stride: Sequence[int], **options: Any) -> Tensor:
    """An uninitialised tensor of that shape whose neighbours along each dim are `stride` elements apart."""
    shape, steps = _shape((size,), {}), tuple(stride)
    if len(steps) != len(shape) or any(step < 0 for step in steps):
        cause = tr("empty_strided: expected a stride >= 0 for each size; got {}, {}", list(shape), list(steps))
        raise ShapeError(cause, "as many strides")
    _no_out(options)
    reach = 1 + sum((n - 1) * step for n, step in zip(shape, steps)) if all(shape) else 0
    memory = empty(reach, **options)
    return memory.as_strided(shape, steps)


def empty_permuted(size: Sequence[int], physical_layout: Sequence[int], **options: Any) -> Tensor:
    """An uninitialised tensor of that shape whose dims lie in memory in this order, the last one densest."""
    shape, order = _shape((size,), {}), list(physical_layout)
    if sorted(order) != list(range(len(shape))):
        raise ShapeError(tr("empty_permuted: expected each of {} dims once; got {}", len(shape), order), "physical_layout=(0, 1)")
    _no_out(options)
    made = empty([shape[dim] for dim in order], **options)
    return made.permute([order.index(dim) for dim in range(len(shape))])


def full(size: Any, fill_value: Any, **options: Any) -> Tensor:
    """A tensor of that shape filled with `fill_value`, in its dtype (a float: the default one).

    Args:
        size: the shape, a tuple
        fill_value: a number
        **options: dtype=, device=, requires_grad=

    Returns: tensor of that shape

    Example:
        >>> badak.full((2,), 7.0).tolist()
        [7.0, 7.0]
    """
    if _is_float(fill_value):
        return _filled(full, (size,), fill_value, options)
    value = _number(fill_value)
    value = float(value) if isinstance(fill_value, np.bool_) else value  # as in PyTorch
    options["dtype"] = dtypes.agreed(options.get("dtype"), options.get("out"))
    if options["dtype"] is None:
        options["dtype"] = (
            default_dtype() if type(value) is float
            else to_dtype(type(value)) if type(value) in (bool, int)
            else dtypes.of_numpy(as_array(value).dtype)
        )  # fmt: skip
    return _new(np.full, (size,), options, fit(value, to_dtype(options["dtype"]).numpy, "full"))


def _is_float(value) -> bool:
    """Whether it is a tensor of one float, which stays one: for a trace its value is what another operation gives."""
    return isinstance(value, Tensor) and value.is_floating_point() and value.numel() == 1


def _filled(make: Callable, args: tuple, value: Tensor, options: dict) -> Tensor:
    """make(*args, 0.0), with what a tensor of one float holds in the place of 0."""
    wanted = options.pop("requires_grad", False)
    made = make(*args, 0.0, **options)
    return made.fill_(value.detach().reshape(())).requires_grad_(wanted)


def _no_out(options: dict) -> None:
    """Raise for out=, which functions that say the dtype by another tensor, or the place in memory, do not take."""
    if "out" in options:
        raise ArgumentTypeError("got an unexpected keyword argument 'out'", "out.copy_(y) of what is returned")


def _like(make, x: Tensor, options, *value) -> Tensor:
    _no_out(options)
    dtype = options.pop("dtype", None)
    wanted = x._array.dtype if dtype is None else to_dtype(dtype).numpy
    made = make(x._array.shape, *value, wanted)
    options.setdefault("device", CPU)
    order = order_asked(options.pop("memory_format", None), made.ndim)
    made = laid(made, x._array) if order is None else channels_innermost(made) if order == "channels" else made
    return for_each(x, _finish(made, options))


def zeros_like(input: Tensor, **options: Any) -> Tensor:
    """Zeros of input's shape and dtype."""
    return _like(np.zeros, input, options)


def ones_like(input: Tensor, **options: Any) -> Tensor:
    """Ones of input's shape and dtype."""
    return _like(np.ones, input, options)


def empty_like(input: Tensor, **options: Any) -> Tensor:
    """An uninitialised tensor of input's shape and dtype."""
    return _like(new_memory if filled else np.empty, input, options)


def full_like(input: Tensor, fill_value: Any, **options: Any) -> Tensor:
    """fill_value in input's shape and dtype."""
    if _is_float(fill_value):
        return _filled(full_like, (input,), fill_value, options)
    wanted = input.dtype if options.get("dtype") is None else to_dtype(options["dtype"])
    return _like(np.full, input, options, fit(_number(fill_value), wanted.numpy, "full_like"))


def _new_of(x: Tensor, options):
    _no_out(options)
    if options.get("dtype") is None:
        options["dtype"] = x.dtype
    options.setdefault("device", x.device)
    return options


def new_zeros(input: Tensor, *size: Any, **options: Any) -> Tensor:
    """Zeros of the given shape in input's dtype."""
    return for_each(input, zeros(*size, **_new_of(input, options)))


def new_ones(input: Tensor, *size: Any, **options: Any) -> Tensor:
    """Ones of the given shape in input's dtype."""
    return for_each(input, ones(*size, **_new_of(input, options)))


def new_empty(input: Tensor, *size: Any, **options: Any) -> Tensor:
    """An uninitialised tensor of the given shape in input's dtype."""
    return for_each(input, empty(*size, **_new_of(input, options)))


def new_full(input: Tensor, size: Sequence[int], fill_value: complex, **options: Any) -> Tensor:
    """fill_value in the given shape and input's dtype."""
    return for_each(input, full(size, fill_value, **_new_of(input, options)))


def new_tensor(input: Tensor, data: np.ndarray | Sequence[float] | list, *, dtype: DType | None = None, device: Device = None,
               requires_grad: bool = False) -> Tensor:  # fmt: skip
    """A copy of `data` in input's dtype."""
    return tensor(data, dtype=dtype or input.dtype, device=device or input.device, requires_grad=requires_grad)


def once_more(x: Tensor, kind: dtypes.dtype, by: str) -> Tensor:
    """A tensor of this dtype once more: on the same memory, with the same history. ArgumentTypeError for one of another."""
    if x.dtype is not kind:
        raise ArgumentTypeError(tr("{}: expected a tensor of {}; got {}", by, kind, x.dtype), f"x.to({kind})")
    return x.view(x.shape)


def new(input: Tensor, *data: Any, size: Sequence[int] | None = None) -> Tensor:
    """PyTorch's old x.new(...): sizes, or a Size, give an uninitialised tensor, data a copy, a tensor itself, in input's dtype."""
    if len(data := data if size is None else (*data, Size(size))) == 1 and isinstance(data[0], Tensor):
        return once_more(data[0], input.dtype, "new")
    if len(data) == 1 and not isinstance(data[0], int | Size):
        return new_tensor(input, data[0])
    return new_empty(input, *(data or (0,)))


# ---------------------------------------------------------------------- running


def _number(x):
    """A number, which may be NumPy's or in a tensor of one."""
    x = x.item() if isinstance(x, Tensor | np.generic) else x
    if not isinstance(x, int | float | complex):
        raise ArgumentTypeError(tr("expected a number; got {}", type(x).__name__), "2.0, or a tensor of one")
    return x


def eye(n: int, m: int | None = None, *, dtype: DType | None = None, device: Device = None, requires_grad: bool = False,
        **accepted: Any) -> Tensor:  # fmt: skip
    """The n x m matrix with ones on the diagonal.

    Args:
        n: rows
        m: columns; n by default
        dtype, device, requires_grad: as in `badak.tensor`

    Returns: (n, m)

    Example:
        >>> badak.eye(2).tolist()
        [[1.0, 0.0], [0.0, 1.0]]
    """
    wanted = default_dtype() if dtype is None else to_dtype(dtype)
    array = np.eye(int(n), None if m is None else int(m), dtype=np.float64).astype(wanted.numpy)
    return _finish(array, dict(device=device, requires_grad=requires_grad, **accepted))


def _of_places(name: str, dtype) -> np.dtype:
    kind = to_dtype(dtype)
    if kind not in (dtypes.int32, dtypes.int64):
        raise DTypeError(tr("{}: expected dtype int32 or int64; got {}", name, kind), "dtype=badak.int64")
    return kind.numpy


def tril_indices(row: int, col: int, offset: int = 0, *, dtype: DType | None = dtypes.int64, device: Device = None,
                 **accepted: Any) -> Tensor:  # fmt: skip
    """(2, K): rows and columns of the entries on and below the diagonal `offset`."""
    _no_out(accepted)
    array = np.stack(np.tril_indices(row, offset, col)).astype(_of_places("tril_indices", dtype))
    return _finish(array, dict(device=device, **accepted))


def triu_indices(row: int, col: int, offset: int = 0, *, dtype: DType | None = dtypes.int64, device: Device = None,
                 **accepted: Any) -> Tensor:  # fmt: skip
    """(2, K): rows and columns of the entries on and above the diagonal `offset`."""
    _no_out(accepted)
    array = np.stack(np.triu_indices(row, offset, col)).astype(_of_places("triu_indices", dtype))
    return _finish(array, dict(device=device, **accepted))


def from_file(filename: str, shared: bool | None = None, size: int | None = 0, *, dtype: DType | None = None, layout: Any = None,
              device: Device = None, pin_memory: bool | None = False, requires_grad: Any = False) -> Tensor:  # fmt: skip
    """The first numbers of a file, mapped into memory: read where they are looked at.

    Args:
        filename: whose bytes are the numbers, one after the other, and nothing else
        shared: changes go to the file, which is made longer where it is too short
        size: how many numbers
        dtype: theirs; the default float dtype unless given
        layout, device, pin_memory: accepted
        requires_grad: whether gradients are wanted

    Returns: tensor (size,)

    Raises:
        FileError: for a file that is not there, or too short
    """
    dtypes.check_device(device)
    kind = dtypes.to_dtype(dtype) if dtype is not None else dtypes.default_dtype()
    size = 0 if size is None else size
    if not isinstance(size, int) or size < 0:
        raise ArgumentTypeError(tr("from_file: expected size, a number of elements; got {!r}", size), "size=8")
    storage = UntypedStorage.from_file(filename, bool(shared), size * kind.itemsize)
    return Tensor._of(storage._bytes.view(kind.numpy)).requires_grad_(requires_grad)
