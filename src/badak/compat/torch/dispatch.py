"""`torch.utils._python_dispatch`: modes that see each operation, with names such as "aten.add.Tensor"; and fake tensors.

A mode is an observer of the thread (`core/events.py`). It is told of badak's operations, linear layers and products of many
matrices in the pieces that PyTorch cuts them into ("aten.t.default", "aten.addmm.default"); what NumPy makes without an operation,
such as zeros(3), it does not see.
"""

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from badak.autograd.grad_mode import no_grad
from badak.compat.torch.aten import OpOverload, called
from badak.compat.torch.core import is_traceable_wrapper_subclass as is_traceable_wrapper_subclass
from badak.compat.torch.tracing.forms import form_of
from badak.compat.torch.tracing.sizes import name_of
from badak.core import events
from badak.core.errors import ArgumentError, ArgumentTypeError, NotSupportedError, tr, undefined
from badak.core.events import Observer
from badak.core.modes import modes
from badak.core.public_api import door as _door
from badak.tensor import Tensor, addmm, broadcast_shapes
from badak.tensor import device as device_type
from badak.tensor.wrapped import array_of


class TorchDispatchMode(Observer):
    """`with mode:` every operation goes to mode.__torch_dispatch__(func, types, args, kwargs), which gives the result.

    Within it the mode is off, so that `return func(*args, **(kwargs or {}))` does what would have been done. The backward's
    operations come as "aten.linear_backward.default", with the gradients of the results. What a mode gives in place of a result is
    taken; the gradient stays that of the operation.

    Example:
        >>> from badak.compat.torch.dispatch import TorchDispatchMode
        >>> class Log(TorchDispatchMode):
        ...     def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        ...         print(func)
        ...         return func(*args, **(kwargs or {}))
        >>> with Log():
        ...     _ = badak.ones(2) + badak.ones(2)
        aten.add.Tensor
    """

    eager = True

    def __init__(self, _dispatch_key: Any = None) -> None:
        pass

    def __torch_dispatch__(self, func: Callable, types: Any, args: tuple = (), kwargs: dict | None = None) -> Any:
        raise undefined(self, "def __torch_dispatch__(self, func, types, args=(), kwargs=None)")

    def _ask(self, name: str, plain: Callable, args: tuple, kwargs: dict, again: Callable | None, keeps: bool = True) -> Any:
        """What the mode gives. plain(): the result as tensors; again: what gives it for other arguments."""
        made: list[Any] = []
        told = called(name, again or _no_other, args, kwargs)

        def run(*given: Any, **named: Any) -> Any:
            same = len(given) == len(told.args) and all(map(_is, given, told.args))
            if same and all(map(_is, named.values(), told.kwargs.values())):
                if not made:
                    made.append(plain())
                return made[0]
            if again is None:
                raise NotSupportedError(tr("{}: badak runs this one on its own arguments only", name), "func(*args, **kwargs)")
            return told.run(*given, **named)

        with told.overload.doing(run):
            result = self.answer(told.overload, (), told.args, told.kwargs)
        if not made and keeps:  # the backward needs what the operation keeps
            made.append(plain())
        found, expected = (x if isinstance(x, tuple | list) else (x,) for x in (result, made[0] if made else result))
        if len(found) != len(expected) or not all(isinstance(x, Tensor) or x is None for x in found):
            cause = tr("__torch_dispatch__ of {} gave {}", name, type(result).__name__)
            raise ArgumentTypeError(cause, "return func(*args, **(kwargs or {}))")
        return result

    def answer(self, overload: OpOverload, types: tuple, args: tuple, kwargs: dict) -> Any:
        """What __torch_dispatch__ gives, in which the mode is off."""
        events.watch(self, False)
        try:
            return self.__torch_dispatch__(overload, types, args, kwargs)
        finally:
            events.watch(self)

    def on_op_enter(self, op: Any, forward: Callable) -> Callable:
        def dispatched(save, *arrays, **attributes):
            tensors = [None if a is None else Tensor._of(a) for a in arrays]
            form = form_of(op, name_of(op))
            function, args, kwargs = (None, tuple(tensors), attributes) if form is None else form(*tensors, **attributes)

            def plain() -> Any:
                made = forward(save, *arrays, **attributes)
                return tuple(map(Tensor._of, made)) if type(made) is tuple else Tensor._of(made)

            name = op.name if function is None else function.__name__
            result = self._in_pieces(name, args)
            if result is None:
                result = self._ask(name, plain, tuple(args), kwargs, function)
            else:
                plain()  # for what the backward needs
            return tuple(map(array_of, result)) if isinstance(result, tuple | list) else array_of(result)

        return dispatched

    def _in_pieces(self, name: str, args: Any) -> Tensor | None:
        """What the mode gives for a linear layer or a product of many matrices; None for all else, and where two modes are on."""
        if name not in ("linear", "matmul") or len(_get_current_dispatch_mode_stack()) > 1:
            return None

        def ask(piece: str, function: Callable, *given: Any) -> Any:
            return self._ask(piece, lambda: function(*given), given, {}, function, keeps=False)

        def view(x: Tensor, *shape: int) -> Tensor:
            return x if tuple(x.shape) == shape else ask("reshape", Tensor.reshape, x, shape)

        x, w, b = (*args, None)[:3]
        with no_grad():
            if name == "linear" and x.dim() > 1:
                rows = view(x, -1, x.shape[-1]) if x.dim() > 2 else x
                turned = ask("t", Tensor.t, w)
                made = ask("mm", Tensor.mm, rows, turned) if b is None else ask("addmm", addmm, b, rows, turned)
                return view(made, *x.shape[:-1], w.shape[0])
            if name == "matmul" and x.dim() > 2 and w.dim() == 2:
                made = ask("mm", Tensor.mm, view(x, -1, x.shape[-1]), w)
                return view(made, *x.shape[:-1], w.shape[-1])
            if name == "matmul" and min(x.dim(), w.dim()) > 1 and max(x.dim(), w.dim()) > 3:
                batch = broadcast_shapes(x.shape[:-2], w.shape[:-2])
                many = [
                    view(ask("expand", Tensor.expand, each, (*batch, *each.shape[-2:])), math.prod(batch), *each.shape[-2:])
                    for each in (x, w)
                ]
                return view(ask("bmm", Tensor.bmm, *many), *batch, x.shape[-2], w.shape[-1])
        return None

    def on_backward_enter(self, node: Any, backward: Callable) -> Callable:
        def dispatched(saved, *dys):
            shown = tuple(None if dy is None else Tensor._of(dy) for dy in dys)
            single: list[bool] = []

            def plain() -> Any:
                made = backward(saved, *dys)
                single.append(type(made) is not tuple)
                return tuple(None if dx is None else Tensor._of(dx) for dx in (made if type(made) is tuple else (made,)))

            result = self._ask(f"{node.op.name}_backward", plain, shown, {}, None)
            arrays = tuple(None if dx is None else dx._array for dx in result)
            return arrays[0] if single[0] else arrays

        return dispatched

    def on_call(self, effect: Any, args: Any, kwargs: dict, proceed: Callable) -> Any:
        if effect.kind != "pure" or not any(isinstance(x, Tensor) for x in args):
            return proceed(*args, **kwargs)
        return self._ask(effect.function.__name__.strip("_"), lambda: proceed(*args, **kwargs), args, kwargs, proceed, keeps=False)


def is_in_torch_dispatch_mode(include_infra_modes: bool = True) -> bool:
    """Whether a TorchDispatchMode is entered."""
    return bool(_get_current_dispatch_mode_stack())


def _get_current_dispatch_mode_stack() -> list[TorchDispatchMode]:
    """The modes that are entered, the innermost last."""
    return [each for each in modes.observers if isinstance(each, TorchDispatchMode)]


def _get_current_dispatch_mode() -> TorchDispatchMode | None:
    """The innermost mode that is entered."""
    return next(reversed(_get_current_dispatch_mode_stack()), None)


@contextmanager
def _disable_current_modes() -> Iterator[list[TorchDispatchMode]]:
    """A block in which the modes that are entered are off."""
    entered = _get_current_dispatch_mode_stack()
    for mode in entered:
        events.watch(mode, False)
    try:
        yield entered
    finally:
        for mode in entered:
            events.watch(mode)


def return_and_correct_aliasing(func: Any, args: tuple, kwargs: dict, out: Any) -> Any:
    """What a __torch_dispatch__ gives: the first argument of a function that changes it in place, else `out`."""
    name = func.overloadpacket.__name__
    return args[0] if name.endswith("_") and not name.startswith("_") else out


def transform_subclass(t: Any, callback: Callable, outer_size: Any = None, outer_stride: Any = None) -> Any:
    """A wrapper of the same class, of what callback(name, tensor) gives for each tensor inside."""
    names, context = t.__tensor_flatten__()
    inside = {name: callback(name, getattr(t, name)) for name in names}
    size, stride = (t.size() if outer_size is None else outer_size), (t.stride() if outer_stride is None else outer_stride)
    return type(t).__tensor_unflatten__(inside, context, size, stride)


def _is(a: Any, b: Any) -> bool:
    return a is b or type(a) is type(b) and not isinstance(a, Tensor) and a == b


def _no_other(*args: Any, **kwargs: Any) -> Any:
    raise NotSupportedError("badak runs this one on its own arguments only", "func(*args, **kwargs)")


class _Fake(type):
    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, Tensor) and instance.is_meta


class FakeTensor(metaclass=_Fake):
    """A tensor without values: one of the meta device."""


_fake_modes: list["FakeTensorMode"] = []  # those that are entered


def active_fake_mode() -> "FakeTensorMode | None":
    """The FakeTensorMode that this stands within."""
    return _fake_modes[-1] if _fake_modes else None


def detect_fake_mode(inputs: Any = None) -> "FakeTensorMode | None":
    """As active_fake_mode: fake tensors do not remember their mode."""
    return active_fake_mode()


class FakeTensorMode:
    """`with FakeTensorMode() as mode:` new tensors have shapes and no values; `mode.from_tensor(x)` gives one like x.

    A model that is made or called within runs for its shapes alone.

    Example:
        >>> from badak.compat.torch.dispatch import FakeTensorMode
        >>> with FakeTensorMode():
        ...     y = nn.Linear(1000, 10)(badak.randn(64, 1000))
        >>> tuple(y.shape), y.is_meta
        ((64, 10), True)
    """

    def __init__(self, *, allow_non_fake_inputs: bool = False, **options: Any) -> None:
        self._device: Any = device_type("meta")

    def __enter__(self) -> "FakeTensorMode":
        self._device.__enter__()
        _fake_modes.append(self)
        return self

    def __exit__(self, *error: Any) -> None:
        _fake_modes.pop()
        self._device.__exit__(*error)

    def from_tensor(self, tensor: Tensor, **options: Any) -> Tensor:
        """A tensor like this one, without values."""
        if not isinstance(tensor, Tensor):
            raise ArgumentError(tr("FakeTensorMode: expected a tensor; got {}", type(tensor).__name__), "badak.tensor(data)")
        return tensor.detach().to("meta").requires_grad_(tensor.requires_grad)


__getattr__, __dir__ = _door("badak.utils._python_dispatch")
