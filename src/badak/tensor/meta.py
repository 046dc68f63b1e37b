"""The meta device: tensors with a shape, a dtype and strides, and no memory.

Such a tensor has no `_array`. A public function that asks for it meets `NoDataError`, and is run again here: on stand-ins that
lie over memory that nobody gives (`meta_storage.py`), so that its own code says which shape, dtype and strides the result has. What
would look at a value, or needs one to know a size, is refused; nothing is written, no random number is used up.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from badak.core import events
from badak.core.errors import DeviceError, NoDataError, ShapeError, tr
from badak.core.events import Observer
from badak.core.modes import modes
from badak.core.public_api.explain import AS_IT_IS, without_data
from badak.tensor import create, dtypes
from badak.tensor.dtypes import device as Device
from badak.tensor.meta_storage import like, unfilled, untouched
from badak.tensor.random import get_rng_state, set_rng_state
from badak.tensor.tensor import Tensor
from badak.tensor.wrapped import is_wrapper, within

_RESHAPING = frozenset("unsqueeze_ squeeze_ transpose_ t_ swapaxes_ swapdims_ resize_ set_ as_strided_".split())
_FILLED = frozenset("empty ones zeros rand randn".split())  # what they hold is nothing to a tensor without values
_FILLED_LIKE = frozenset("ones_like zeros_like rand_like randn_like".split())
_TAKEN = frozenset(
    """__getitem__ __matmul__ bmm conv1d conv2d conv3d embedding gather index_add index_copy index_select linear matmul mm mv
    scatter scatter_add take take_along_dim to""".split()
)  # by PyTorch, of a meta tensor with real ones
_inside = threading.local()


LARGE = 1 << 14  # numbers: an operation of fewer is run on stand-ins of its own size
KEPT = 64  # sizes up to this one stay as they are in an example: of a head, of a window, of the channels of an image
_PRIMES = (67, 71, 73, 79, 83, 89, 97, 101, 103), (107, 109, 113, 127, 131, 137, 139, 149, 151)


class _Blind(Observer):
    """Refuses what looks at values, and lets large operations say by two small examples what they give."""

    def on_op_enter(self, op, forward: Callable) -> Callable:
        if op.view:
            return forward

        def run(save, *arrays, **attributes):
            made = by_examples(forward, save, arrays, attributes) if any(x is not None and x.size > LARGE for x in arrays) else None
            return forward(save, *arrays, **attributes) if made is None else made

        return run

    def on_read(self, how: str) -> None:
        cause = tr("{} cannot be called on meta tensors: they have no values", how)
        raise NoDataError(cause, "module.to_empty(device='cpu'), or real tensors")


def by_examples(forward: Callable, save: Any, arrays: tuple, attributes: dict) -> Any:
    """What an operation gives for arrays that nobody computes with: its outputs for two examples, with their sizes put back.

    Every large size has one small size in an example, and another one in the other, so that a size of an output shows of which
    it comes. Where it does not, as of a sum of two large ones, the answer is None, and the operation is run as it is.
    """
    sizes = sorted({n for x in arrays if x is not None for n in x.shape if n > KEPT})
    if not sizes or len(sizes) > len(_PRIMES[0]):
        return None
    found = []
    try:
        for primes in _PRIMES:
            small = dict(zip(sizes, primes))
            made = forward(save, *[None if x is None else _example(x, small) for x in arrays], **attributes)
            found.append(made if type(made) is tuple else (made,))
    except Exception:  # whatever does not fit: the operation itself says what
        return None
    outputs = tuple(_put_back(each, sizes) for each in zip(*found))
    if any(y is None for y in outputs):
        return None
    return outputs if type(made) is tuple else outputs[0]


def _example(x: np.ndarray, small: dict[int, int]) -> np.ndarray:
    """Zeros of the sizes of an example, which lie in memory as x does."""
    shape: list[int] = [small[n] if n in small else n for n in x.shape]
    order = np.argsort([-abs(step) for step in x.strides], kind="stable")
    made = np.zeros([shape[axis] if x.strides[axis] else 1 for axis in order], x.dtype)
    return np.broadcast_to(made.transpose(np.argsort(order)), shape) if 0 in x.strides else made.transpose(np.argsort(order))


def _size(first: int, second: int, sizes: list[int]) -> int | None:
    """The size that is this in the two examples: the same in both, or a large one, as often as there, or with as much more."""
    if first == second:
        return first
    for n, a, b in zip(sizes, *_PRIMES):
        if first // a == second // b and first % a == second % b == 0:
            return n * (first // a)
    more = {n + first - a for n, a, b in zip(sizes, *_PRIMES) if first - a == second - b}
    return more.pop() if len(more) == 1 else None


def _put_back(made: tuple[np.ndarray, np.ndarray], sizes: list[int]) -> np.ndarray | None:
    """The output that gave these two examples, or None."""
    first, second = made
    shape = tuple(_size(*pair, sizes) for pair in zip(first.shape, second.shape))
    if first.ndim != second.ndim or None in shape or any(step == 0 and n > 1 for n, step in zip(first.shape, first.strides)):
        return None
    order = np.argsort([-abs(step) for step in first.strides], kind="stable")
    return untouched(shape, first.dtype, tuple(map(int, order)))


@contextmanager
def _blindly() -> Iterator[None]:
    """A block in which functions run on stand-ins: nothing is recorded, values are not looked at, new tensors are real."""
    blind, grad, entered = _Blind(), modes.grad, dtypes.entered[:]
    before = get_rng_state()
    _inside.runs, modes.grad, dtypes.entered[:] = True, False, []
    try:
        with blind:
            yield
    finally:
        _inside.runs, modes.grad, dtypes.entered[:] = False, grad, entered
        set_rng_state(before)


@contextmanager
def _untouched() -> Iterator[None]:
    """A block in which memory is made that will be taken away again."""
    before, unfilled.on = unfilled.on, True
    try:
        yield
    finally:
        unfilled.on = before


def run(function: Callable, name: str, args: tuple, kwargs: dict[str, Any]) -> Any:
    """What a public function gives where the meta device is meant; AS_IT_IS where it is none of its calls."""
    if getattr(_inside, "runs", False):
        return AS_IT_IS
    if function.__name__ == "__init__":
        return _made(function, args, kwargs)
    if name in ("cpu", "cuda", "numpy", "share_memory_"):
        raise _no_copy()
    if name == "backward":
        raise NoDataError("backward of a meta tensor: what it was computed from is not recorded", "real tensors")
    if name == "__getitem__":
        _refuse_masks(args[1])
    if name == "bincount" or (name == "repeat_interleave" and not isinstance((*args, *kwargs.values(), None)[1], int)):
        raise NoDataError(tr("{} of meta tensors: the size of its result is a value, which they have not", name), "real tensors")
    events.user_code(tr("it computes with a tensor on the meta device"))  # of which a recording would keep all memory
    stand_ins = _StandIns()
    here, named = stand_ins.of(args), stand_ins.of(kwargs)
    where = _target(name, args, kwargs)
    if where is not None and not _is_meta(where):
        if name == "to":
            raise _no_copy()
        stand_ins.real = True
    named = {key: value for key, value in named.items() if key != "device" or not _is_meta(value)}
    if name == "to":
        here = tuple("cpu" if isinstance(value, str | Device) and _is_meta(value) else value for value in here)
    if name.endswith("_") and (not name.endswith("__") or name.startswith("__i") or name == "__setitem__"):
        if name not in ("__index__", "__int__", "__invert__", "__iter__"):
            return _in_place(function, name, args, kwargs, (here, named))
    _refuse_mixed(name, [*_tensors((args, kwargs))])
    if name in _FILLED:
        function, named = create.empty, {key: value for key, value in named.items() if key != "generator"}
    if name in _FILLED_LIKE:
        function = _empty_like
    with _blindly(), _untouched():
        made = function(*here, **named)
    return stand_ins.back(made, wanted=modes.grad and stand_ins.wanted and name != "detach")


def _empty_like(input: Tensor, generator: Any = None, **options: Any) -> Tensor:
    """create.empty_like, of which only shape, dtype and strides are asked for."""
    form = lambda save, array: create.empty_like(Tensor._of(array), **options)._array
    made = by_examples(form, None, (input._array,), {})
    return create.empty_like(input, **options) if made is None else Tensor._of(made)


class _StandIns:
    """Stand-ins for the meta tensors among arguments, and the way back from results."""

    def __init__(self) -> None:
        self.known: dict[int, tuple[Tensor, Tensor]] = {}  # id of the stand-in: (it, the tensor it stands for)
        self.wanted = False  # whether one of the tensors wants a gradient
        self.real = False  # whether results are real tensors, as they are where another device is asked for

    def of(self, value: Any) -> Any:
        """The value with stand-ins in place of meta tensors."""
        if isinstance(value, Tensor):
            self.wanted = self.wanted or value._requires_grad
            described = within(value).like if is_wrapper(value) else value._described
            if described is None:
                return value
            twin = Tensor._of(described)
            self.known[id(twin)] = twin, value
            return twin
        if isinstance(value, dict):
            return {key: self.of(part) for key, part in value.items()}
        return type(value)(map(self.of, value)) if type(value) in (list, tuple) else value

    def back(self, made: Any, wanted: bool = False) -> Any:
        """A result with meta tensors in place of real ones."""
        if isinstance(made, Tensor):
            if id(made) in self.known:
                return self.known[id(made)][1]
            if self.real:
                return made
            y = Tensor._like_meta(like(made._array))
            y._requires_grad = made._requires_grad or (wanted and made._array.dtype.kind in "fcV")
            return y
        if isinstance(made, dict):
            return type(made)((key, self.back(part, wanted)) for key, part in made.items())
        if isinstance(made, tuple) and hasattr(made, "_fields"):
            return type(made)(*[self.back(part, wanted) for part in made])
        if type(made) in (list, tuple):
            return type(made)([self.back(part, wanted) for part in made])
        return made


def _tensors(values: Any) -> Iterator[Tensor]:
    for value in values.values() if isinstance(values, dict) else values:
        if isinstance(value, Tensor):
            yield value
        elif isinstance(value, dict | list | tuple):
            yield from _tensors(value)


def _refuse_mixed(name: str, tensors: list[Tensor]) -> None:
    """Raise where tensors of both devices meet and PyTorch refuses it: it takes single numbers, some indices and factors."""
    real = [x for x in tensors if x._described is None and x.ndim and not is_wrapper(x)]
    if not real or len(real) == len(tensors) or not any(x._described is not None for x in tensors):
        return
    if name in _TAKEN and (tensors[0]._described is not None or name == "embedding") and (name != "linear" or len(tensors) == 2):
        return
    cause = tr("{}: Expected all tensors to be on the same device, but found at least two devices, meta and cpu!", name)
    raise DeviceError(cause, "x.to('meta'), or real tensors for all")


def _target(name: str, args: tuple, kwargs: dict[str, Any]) -> Any:
    """The device that a call asks for, None where it asks for none."""
    if kwargs.get("device") is not None:
        return kwargs["device"]
    if name != "to":
        return None
    others = [value.device if isinstance(value, Tensor) else value for value in (*args[1:], kwargs.get("other"))]
    return next((value for value in others if isinstance(value, str | Device)), None)


def _refuse_masks(key: Any) -> None:
    """Raise where a key chooses by values how many there are."""
    for part in key if isinstance(key, tuple) else (key,):
        if isinstance(part, Tensor) and part.ndim and part.dtype in (dtypes.bool_, dtypes.uint8):
            raise NoDataError("a mask cannot choose from meta tensors: how many it leaves is a value", "x.masked_fill")


def _is_meta(where: Any) -> bool:
    return isinstance(where, str | Device) and Device(where).type == "meta"


def _no_copy() -> NoDataError:
    cause = tr("Cannot copy out of meta tensor; no data!")
    return NoDataError(cause, "module.to_empty(device='cpu') and load_state_dict, or load_state_dict(assign=True)")


def _in_place(function: Callable, name: str, args: tuple, kwargs: dict, stand_ins: tuple) -> Any:
    """A call that changes its first argument: its shape changes, its values are none."""
    x = args[0] if args else kwargs.get("tensor", kwargs.get("input"))
    if not isinstance(x, Tensor):
        return AS_IT_IS
    if x._described is None:
        raise _no_copy()
    here, named = stand_ins
    if name in _RESHAPING or name == "requires_grad_":
        twin = here[0] if name == "requires_grad_" else Tensor._of(np.array(here[0]._array, copy=True))
        if name == "resize_":
            twin = Tensor._of(np.empty(0, x._described.dtype))
        with _blindly():
            function(twin, *here[1:], **named)
        x._described = like(twin._array)
        if name == "requires_grad_":
            x._requires_grad = twin._requires_grad
        return x
    place = here[0]._array if here else x._described
    if name == "__setitem__":
        with _blindly():
            place = create.as_tensor(here[0])[here[1]]._array
    others = [value for value in (*here[1:], *named.values()) if isinstance(value, Tensor)]
    if name in ("copy_", "__setitem__", "fill_") or name.startswith("__i") or name[:-1] in ("add", "sub", "mul", "div"):
        for other in others if name != "__setitem__" else others[-1:]:
            if np.broadcast_shapes(place.shape, other._array.shape) != place.shape:
                cause = tr("{}: output with shape {} doesn't match the broadcast shape {}", name, list(place.shape),
                           list(other._array.shape))  # fmt: skip
                raise ShapeError(cause, "the right side must broadcast to the tensor that is changed")
    return None if name == "__setitem__" else x


def _made(function: Callable, args: tuple, kwargs: dict[str, Any]) -> Any:
    """A module on the meta device: made as always, of memory that is not touched, and then without it."""
    module = args[0]
    if not hasattr(module, "_modules") and not hasattr(type(module), "register_parameter"):
        return AS_IT_IS
    named = {key: value for key, value in kwargs.items() if key != "device" or not _is_meta(value)}
    with _blindly(), _untouched():
        function(*args, **named)
    for part in module.modules():
        for held in (*part._parameters.values(), *part._buffers.values()):
            if held is not None:
                to_meta_(held)
    return None


def to_meta_(x: Tensor) -> None:
    """Take the memory from a tensor that nobody has used."""
    if x._described is None:
        x._described = like(x._array)
        del x._array
        x._whole, x._view_steps, x._version_counter = None, (), None


def forward(module: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
    """What a layer gives whose parameters, or whose input, are on the meta device; AS_IT_IS in such a run."""
    if getattr(_inside, "runs", False):
        return AS_IT_IS
    stand_ins = _StandIns()
    here, named = stand_ins.of(args), stand_ins.of(kwargs)
    held = [each for part in module.modules() for each in (*part._parameters.values(), *part._buffers.values())]
    floats = [x for x in (*_tensors((args, kwargs)), *held) if x is not None and x.dtype.is_floating_point]
    _refuse_mixed(type(module).__name__, floats)
    kept = [(part.__dict__, dict(part._parameters), dict(part._buffers)) for part in module.modules()]
    try:
        for own, parameters, buffers in kept:
            own["_parameters"] = {name: stand_ins.of(value) for name, value in parameters.items()}
            own["_buffers"] = {name: _written(value) for name, value in buffers.items()}
        with _blindly():
            made = module.forward(*here, **named)
    finally:
        for own, parameters, buffers in kept:
            own["_parameters"], own["_buffers"] = parameters, buffers
    return stand_ins.back(made, wanted=modes.grad and stand_ins.wanted)


def _written(buffer: Tensor | None) -> Tensor | None:
    """A buffer that a forward may write to, as batch normalisation does to its statistics."""
    if buffer is None or buffer._described is None:
        return buffer
    return Tensor._of(np.zeros(buffer._described.shape, buffer._described.dtype))


without_data.append(run)
