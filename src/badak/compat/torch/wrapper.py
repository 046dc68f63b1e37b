"""Wrappers: tensors of a program's class that have sizes and a dtype, and no memory (`Tensor._make_wrapper_subclass`).

What is done to one goes to the `__torch_dispatch__` of its class, or of a mode that is entered, as a function with PyTorch's name,
"aten.mul.Tensor", and arguments in PyTorch's order (`aten.py`). The class calls it on the tensors that it wraps. Gradients stand
above: a node remembers the call. Its backward goes to the class as the operations that the gradient is made of; where it is no
formula, as one function, "aten.sort_backward.default", which computes the call again.
"""

import threading
from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np

import badak
from badak.compat.torch.aten import RUNS, Called, called
from badak.compat.torch.tracing.forms import form_of
from badak.compat.torch.tracing.sizes import name_of
from badak.compat.torch.wrapper_gradients import asking, in_graph, recorded, walk_back
from badak.core.errors import ArgumentTypeError, DeviceError, GraphError, NotSupportedError, tr
from badak.core.modes import anywhere, modes
from badak.core.nests import inside
from badak.core.public_api import overriding
from badak.core.public_api.explain import guarded
from badak.tensor import Tensor, dtypes
from badak.tensor.apply import apply, wrapped_run
from badak.tensor.create import _shape
from badak.tensor.layouts import order_asked, strided
from badak.tensor.meta_storage import description
from badak.tensor.wrapped import Wrapped, answers, answers_itself, is_wrapper, walks, within

_WITHOUT_GRADIENT = frozenset(
    "detach zeros_like ones_like empty_like full_like rand_like randn_like randint_like new_zeros new_ones new_empty new_full "
    "argmax argmin argsort eq ne lt le gt ge".split()
)


class _State(threading.local):
    below = False  # whether no class is asked: wrappers are sizes alone


state = _State()


def make(cls: type, size: Any, strides: Any, storage_offset: Any, memory_format: Any, dtype: Any, layout: Any, device: Any,
         requires_grad: bool, policy: Any) -> Tensor:  # fmt: skip
    """`Tensor._make_wrapper_subclass`."""
    if not (isinstance(cls, type) and issubclass(cls, Tensor)):
        raise ArgumentTypeError(
            "Creating a Tensor subclass from a class that does not inherit from Tensor is not possible. Make sure your class "
            "inherits from Tensor.",
            "class Own(badak.Tensor)",
        )
    if not answers_itself(cls, Tensor):
        cause = tr("{} must define __torch_dispatch__", cls.__name__)
        raise ArgumentTypeError(cause, "@classmethod def __torch_dispatch__(cls, func, types, args=(), kwargs=None)")
    where = {"cpu": dtypes.CPU, "meta": dtypes.META}.get("cpu" if device is None else dtypes.device(device).type)
    if where is None:
        raise DeviceError(tr("_make_wrapper_subclass: badak has no device {}", device), "device='cpu'")
    if policy is not None or layout not in (None, strided):
        cause = tr("_make_wrapper_subclass: badak's wrappers know their sizes, and lie in rows and columns")
        raise NotSupportedError(cause, "size=, strides= and dtype= alone")
    kind = (dtypes.default_dtype() if dtype is None else dtypes.to_dtype(dtype)).numpy
    shape = _shape((size,), {})
    steps = None if strides is None else tuple(step * kind.itemsize for step in strides)
    like = description(shape, kind, steps)
    if steps is None and order_asked(memory_format, len(shape)) == "channels":
        like = np.moveaxis(description((shape[0], *shape[2:], shape[1]), kind), -1, 1)
    made: Any = object.__new__(cls)
    made._array = Wrapped(like, int(storage_offset or 0), where)
    if not _known:
        anywhere.casting += 1  # from now on `apply` looks at the arrays of tensors
        _known.append(True)
    return made.requires_grad_(requires_grad)


_known: list[bool] = []  # whether a wrapper was ever made


# ---------------------------------------------------------------- a call, and who answers it


def has_wrapper(args: tuple, kwargs: dict) -> bool:
    """Whether one of the arguments is a wrapper."""
    return any(map(is_wrapper, inside((args, kwargs), Tensor)))


def of_op(op: Any, inputs: tuple, attributes: dict) -> Any:
    """What `apply` gives for an operation on a wrapper; NotImplemented where none is among its inputs."""
    if not any(x is not None and is_wrapper(x) for x in inputs):
        return NotImplemented
    form = form_of(op, name_of(op))
    if form is None:
        return call(op.name, partial(apply, op), tuple(inputs), attributes)
    function, args, kwargs = form(*inputs, **attributes)
    return call(function.__name__, function, args, kwargs, (op, inputs, attributes))


def of_function(function: Callable, name: str, args: tuple, kwargs: dict) -> Any:
    """What a public function gives that asked for the numbers of a wrapper."""
    return call(name, _public(function, name), args, kwargs)


def whole(public: Callable, args: tuple, kwargs: dict) -> Any:
    """What a public function gives that is handed to the class as it is called."""
    return call(public.__name__, public, args, kwargs)


@cache
def _public(function: Callable, name: str) -> Callable:
    return function if hasattr(function, "__explained__") else guarded(function, "badak.compat", name)


def call(name: str, function: Callable, args: tuple, kwargs: dict, op: Any = None) -> Any:
    """What a mode or the class of a wrapper gives for a call. op: (operation, inputs, attributes), where it is one of `apply`."""
    if state.below:
        return _of_sizes(name, function, args, kwargs)
    if name in _PARTS and (parts := _PARTS[name](*args, **kwargs)) is not None:
        return parts()
    told = called(name, function, args, kwargs)
    packet = told.overload.overloadpacket.__name__
    wanted = modes.grad and packet not in _WITHOUT_GRADIENT and any(x.requires_grad for x in inside((args, kwargs), Tensor))
    if wanted and packet.endswith("_"):
        cause = tr("{}: badak's wrappers are not changed in place where gradients are recorded", told.overload)
        raise GraphError(cause, "the out-of-place form")
    result = _answer(told)
    if packet.endswith("_"):
        return told.args[0]
    return recorded(told, result, op) if wanted else result


def _private(name: str, function: Callable) -> Callable:
    """A function that is no public one, as one that asks the classes of wrappers as these do."""

    def run(*args: Any) -> Any:
        return call(name, run, args, {}) if has_wrapper(args, {}) else function(*args)

    return run


def _answer(told: Called) -> Any:
    """Ask the modes, then the classes."""
    overload, run, args, kwargs = told
    kinds: list[type] = []
    for each in filter(is_wrapper, inside((args, kwargs), Tensor)):
        if type(each) not in kinds:
            at = next((i for i, kind in enumerate(kinds) if issubclass(type(each), kind)), len(kinds))
            kinds.insert(at, type(each))
    before, modes.grad = modes.grad, False
    try:
        with overload.doing(run):
            for mode in reversed([each for each in modes.observers if hasattr(type(each), "__torch_dispatch__")]):
                return mode.answer(overload, tuple(kinds), args, kwargs)
            for kind in kinds:
                result = kind.__torch_dispatch__(  # type: ignore[attr-defined]
                    overload, tuple(kinds), args, kwargs
                )
                if result is not NotImplemented:
                    return result
    finally:
        modes.grad = before
    said = "\n".join(f"  - tensor subclass {kind}" for kind in kinds)
    cause = tr(
        "Multiple dispatch failed for 'torch.ops.{}'; all __torch_dispatch__ handlers returned NotImplemented: {}", overload, said
    )
    raise ArgumentTypeError(cause, tr("let the __torch_dispatch__ of one of them answer for {}", overload))


def _of_sizes(name: str, function: Callable, args: tuple, kwargs: dict) -> Any:
    """The call on tensors of the meta device in place of wrappers; what changes the sizes of one changes it."""
    twins: dict[int, Tensor] = {}

    def twin(value: Any) -> Any:
        if isinstance(value, Tensor) and is_wrapper(value):
            return twins.setdefault(id(value), Tensor._like_meta(within(value).like))
        if isinstance(value, dict):
            return {key: twin(each) for key, each in value.items()}
        return type(value)(map(twin, value)) if type(value) in (list, tuple) else value

    if name == "set_":
        x, source = args[0], args[1]
        like = within(source).like if is_wrapper(source) else source._described
        if like is None:
            like = description(source._array.shape, source._array.dtype, source._array.strides)
        x._array = Wrapped(like, x._array.offset, x._array.device)
        return x
    made = _public(function, name)(*twin(args), **twin(kwargs))
    if args and isinstance(args[0], Tensor) and id(args[0]) in twins and name.endswith("_"):
        within(args[0]).like = twins[id(args[0])]._described
        return args[0]
    return made


class _DisableTorchDispatch:
    """A block in which no class is asked: what is done to wrappers is done to their sizes alone."""

    def __enter__(self) -> None:
        self._before, state.below = state.below, True

    def __exit__(self, *error: Any) -> None:
        state.below = self._before


def _disabled_torch_dispatch_impl(func: Callable, types: Any, args: tuple = (), kwargs: dict | None = None) -> Any:
    """The `__torch_dispatch__` of Tensor: what is done to sizes."""
    with _DisableTorchDispatch():
        return func(*args, **(kwargs or {}))


# ---------------------------------------------------------------- functions of several operations


def _linear(x: Tensor, w: Tensor, b: Tensor | None = None) -> Callable:
    def parts() -> Tensor:
        turned: Any = w.t()
        if b is None or x.dim() == 1:
            return x.matmul(turned) if b is None else x.matmul(turned) + b
        if x.dim() == 2:
            return badak.addmm(b, x, turned)
        return badak.addmm(b, x.reshape(-1, x.shape[-1]), turned).view(*x.shape[:-1], w.shape[0])

    return parts


def _matmul(a: Tensor, b: Tensor) -> Callable | None:
    if b.dim() == 2 and a.dim() > 2:
        return lambda: a.reshape(-1, a.shape[-1]).matmul(b).view(*a.shape[:-1], b.shape[1])
    if a.dim() == 1 and b.dim() == 2:
        return lambda: a.unsqueeze(0).matmul(b).squeeze(0)
    return None


def _reshape(x: Tensor, *shape: Any) -> Callable | None:
    """A copy that is seen otherwise, where there is no such view; else None."""
    size = tuple(shape[0]) if len(shape) == 1 and not isinstance(shape[0], int) else shape
    try:
        x._array.like.reshape(size, copy=False)  # type: ignore[attr-defined]
    except ValueError:
        return lambda: asked("_unsafe_view", x.clone(memory_format=badak.contiguous_format), list(size))
    return None


def _getitem(x: Tensor, key: Any) -> Callable | None:
    """select, slice and unsqueeze, dim by dim; None for a key with tensors, lists or truth values."""
    key = key if isinstance(key, tuple) else (key,)
    if not all(each is None or each is ... or type(each) in (int, slice) for each in key):
        return None
    taken = sum(type(each) in (int, slice) for each in key)

    def parts() -> Tensor:
        y, dim = x, 0
        for each in key:
            if each is ...:
                dim += x.dim() - taken
            elif each is None:
                y, dim = y.unsqueeze(dim), dim + 1
            elif type(each) is int:
                y = asked("select", y, dim, each)
            else:
                start, stop, step = each.start or 0, each.stop, each.step or 1
                if (start, stop, step) != (0, None, 1) or len(key) == 1:
                    y = asked(
                        "slice", y, dim, start, 9223372036854775807 if stop is None else stop, *((step,) if step != 1 else ())
                    )
                dim += 1
        return y

    return parts


def asked(name: str, *args: Any) -> Any:
    """What is given for one of aten's operators by its name."""
    return call(name, RUNS[name], args, {})


_PARTS: dict[str, Callable] = {
    "linear": _linear,
    "matmul": _matmul,
    "reshape": _reshape,
    "getitem": _getitem,
    "__getitem__": _getitem,
    "truediv": lambda c, x: lambda: badak.reciprocal(x) * c,
}


answers.append(of_function)
wrapped_run.append(of_op)
walks.extend((in_graph, walk_back))
overriding.wrappers.extend((has_wrapper, whole))
asking.append(_private)
