"""Changing the dtype or the place of everything that a module holds."""

from collections.abc import Callable
from typing import Any

from badak.autograd import no_grad
from badak.core import events
from badak.core.errors import ArgumentError, ArgumentTypeError, DTypeError, tr
from badak.nn.parameter import Parameter, is_lazy
from badak.nn.tree import Tree
from badak.tensor import Tensor, float16, float32, float64
from badak.tensor import bfloat16 as bfloat16_
from badak.tensor import device as device_type
from badak.tensor import dtype as dtype_type
from badak.tensor.dtypes import Device, check_device, to_dtype
from badak.tensor.layouts import channels_last, channels_last_3d
from badak.tensor.storage import share
from badak.tensor.wrapped import is_wrapper, swap


class Moving(Tree):
    """The part of Module that moves: `to` and its shorthands, all through `_apply`."""

    def _apply(self, fn: Callable, recurse: bool = True):
        """Replace each parameter, its gradient and each buffer by `fn` of it; parameters stay the same objects."""
        if recurse:
            for module in self.children():
                module._apply(fn)
        with no_grad():
            for parameter in self._parameters.values():
                if parameter is None:
                    continue
                grad, parameter.grad = parameter.grad, None
                if is_wrapper(parameter):
                    swap(parameter, Parameter(fn(parameter.detach()), parameter.requires_grad))
                else:
                    seen = parameter.data
                    seen._version_counter = parameter._watch()  # a change in place counts: a graph may have saved the parameter
                    parameter.data = fn(seen)
                if grad is not None:
                    moved = fn(grad)
                    if not (grad.is_sparse or is_wrapper(grad)):
                        grad.data = moved  # it stays the same object, as in PyTorch
                        moved = grad
                    parameter.grad = moved
            for name, buffer in self._buffers.items():
                if buffer is not None:
                    events.redefine(self, tr("{}.{} was moved", type(self).__name__, name))
                    self._buffers[name] = fn(buffer)
        return self

    def to(self, *args: Any, **kwargs: Any) -> Any:
        """Move to a device, a floating dtype, or both: `to(device, dtype, non_blocking)`, `to(dtype)`, `to(tensor)`.

        Changes the module itself and returns it. Integer and bool buffers keep their dtype. memory_format lays out what has 4
        dims (channels_last) or 5 (channels_last_3d) again.
        """
        order, rank = kwargs.get("memory_format"), 0
        if order is not None:
            rank = {channels_last: 4, channels_last_3d: 5}.get(order, 0)
        device, dtype = _read_target(*args, **kwargs)
        if dtype is not None and not (dtype.is_floating_point or dtype.is_complex):
            raise DTypeError(tr("nn.Module.to only accepts floating point or complex dtypes, but got desired dtype={}", dtype))

        def move(t: Tensor) -> Tensor:
            kind = dtype if t.is_floating_point() or t.is_complex() else None
            return t.to(device=device, dtype=kind, memory_format=order if rank and t.dim() == rank else None)

        return self._apply(move)

    def float(self) -> Any:
        """All floating parameters and buffers to float32."""
        return self._apply(lambda t: t.to(float32) if t.is_floating_point() else t)

    def double(self) -> Any:
        """All floating parameters and buffers to float64."""
        return self._apply(lambda t: t.to(float64) if t.is_floating_point() else t)

    def half(self) -> Any:
        """All floating parameters and buffers to float16."""
        return self._apply(lambda t: t.to(float16) if t.is_floating_point() else t)

    def bfloat16(self) -> Any:
        """All floating parameters and buffers to bfloat16."""
        return self._apply(lambda t: t.to(bfloat16_) if t.is_floating_point() else t)

    def type(self, dst_type: Any) -> Any:
        """All parameters and buffers to `dst_type`, integers too."""
        return self._apply(lambda t: t.type(dst_type))

    def cpu(self) -> Any:
        """The module itself: here everything lives on the CPU."""
        return self._apply(lambda t: t.cpu())

    def cuda(self, device: Device = None) -> Any:
        """Raises: badak computes on the CPU."""
        check_device("cuda" if device is None else f"cuda:{device}" if isinstance(device, int) else device)
        return self

    def to_empty(self, *, device: Device, recurse: bool = True) -> Any:
        """Fresh storage without values for every parameter and buffer, on `device`."""
        return self._apply(lambda t: t.new_empty(t.shape, device=device), recurse=recurse)

    def share_memory(self) -> Any:
        """Move every parameter, gradient and buffer into memory that other processes see."""
        for each in filter(is_lazy, (*self.parameters(), *self.buffers())):
            each.share_memory_()  # which says why not
        every: list[Tensor] = []

        def listed(t: Tensor) -> Tensor:
            every.append(t)
            return t

        self._apply(listed)
        share(every)
        return self


def _is_meta(device) -> bool:
    return isinstance(device, (str, device_type)) and device_type(device).type == "meta"


def _is_dtype(value) -> bool:
    return isinstance(value, dtype_type) or value in (float, complex, int, bool)


def _read_target(*args, device=None, dtype=None, non_blocking=False, tensor=None, memory_format=None, copy=False):
    """(device, dtype) of the arguments of `to`: a tensor, a dtype, or a device and a dtype, then non_blocking.

    non_blocking means nothing on a CPU.
    """
    if copy:
        raise ArgumentError(".to() does not accept copy argument: a module stays the same object", "copy.deepcopy(module)")
    rest, fits = list(args), True
    if rest and isinstance(rest[0], Tensor):
        tensor = rest.pop(0)
    elif rest and _is_dtype(rest[0]):
        dtype = rest.pop(0)
    elif rest and (rest[0] is None or isinstance(rest[0], (str, int, device_type)) and not isinstance(rest[0], bool)):
        device = rest.pop(0)
        if rest:
            dtype = rest.pop(0)
            fits = dtype is None or _is_dtype(dtype)
    if not fits or len(rest) > 1 or not all(isinstance(value, bool) for value in rest):
        given = ", ".join(type(value).__name__ for value in args)
        cause = tr("to() received an invalid combination of arguments - got ({})", given)
        raise ArgumentTypeError(cause, "give a device, a floating dtype or a tensor")
    if tensor is not None:
        device, dtype = tensor.device, tensor.dtype
    if not _is_meta(device):
        check_device(device)
    return device, dtype if dtype is None else to_dtype(dtype)
