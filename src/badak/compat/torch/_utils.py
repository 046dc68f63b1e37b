"""`torch._utils`: what libraries take from it, tensors in chunks and in one piece, errors of other threads, devices' numbers.

badak computes on the CPU: there is no device to give the number of, and PyTorch's answer without a GPU is None.
"""

import importlib.util
import io
import sys
import traceback
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from types import ModuleType
from typing import Any

from badak.compat.torch.compiler import is_compiling as is_compiling
from badak.compat.torch.devices import module_of
from badak.compat.torch.overrides import resolve_name
from badak.core.errors import ArgumentError, ArgumentTypeError, NotSupportedError, StateError, tr
from badak.core.machine import cores
from badak.core.public_api import door as _door
from badak.io.allowed import SPARSE, with_metadata
from badak.io.pt import load
from badak.io.storage import Storage
from badak.nn.lazy import UninitializedParameter
from badak.nn.parameter import Parameter
from badak.tensor import Tensor, cat, empty, view_as_real
from badak.tensor import device as _device
from badak.tensor import dtype as _dtype
from badak.tensor.layouts import layout as _layout
from badak.tensor.layouts import sparse_coo
from badak.tensor.storage import TypedStorage

# tensors from their parts


def _load_from_bytes(b: bytes) -> TypedStorage:
    """What Python's pickle calls for each storage of the tensors that PyTorch pickled: torch.storage has it."""
    found = load(io.BytesIO(b)) if isinstance(b, bytes) else None
    if not isinstance(found, Storage):
        raise ArgumentTypeError("torch.storage._load_from_bytes: expected the bytes of one storage", "torch.load for whole files")
    return Tensor._of(found.raw.view(found.dtype.numpy)).storage()


def _rebuild_tensor(storage: Any, storage_offset: int, size: Iterable[int], stride: Iterable[int]) -> Tensor:
    """The tensor that sees this part of a storage."""
    return empty(0, dtype=storage.dtype).set_(storage, storage_offset, tuple(size), tuple(stride))


def _rebuild_tensor_v2(
    storage: Any, storage_offset: int, size: Iterable[int], stride: Iterable[int], requires_grad: bool,
    backward_hooks: Any, metadata: Any = None,
) -> Tensor:  # fmt: skip
    """The same, with requires_grad."""
    return _with_state(_rebuild_tensor(storage, storage_offset, size, stride), requires_grad, backward_hooks, metadata)


def _rebuild_tensor_v3(
    storage: Any, storage_offset: int, size: Iterable[int], stride: Iterable[int], requires_grad: bool,
    backward_hooks: Any, dtype: _dtype, metadata: Any = None,
) -> Tensor:  # fmt: skip
    """The same, of a storage without a dtype."""
    made = empty(0, dtype=dtype).set_(storage, storage_offset, tuple(size), tuple(stride))
    return _with_state(made, requires_grad, backward_hooks, metadata)


def _with_state(made: Tensor, requires_grad: bool, hooks: Any, metadata: Any) -> Tensor:
    _without_hooks(hooks)
    try:
        made = with_metadata(made, metadata or {})
    except TypeError as error:
        raise NotSupportedError(f"torch._utils: {error}", "a tensor without metadata") from None
    return made.requires_grad_(requires_grad)


def _without_hooks(hooks: Any) -> None:
    if hooks:
        raise NotSupportedError("torch._utils: a tensor is rebuilt without hooks; got some", "tensor.register_hook afterwards")


def _rebuild_parameter(data: Tensor, requires_grad: bool, backward_hooks: Any) -> Parameter:
    """A parameter of a tensor."""
    _without_hooks(backward_hooks)
    return Parameter(data, requires_grad)


def _rebuild_parameter_with_state(data: Tensor, requires_grad: bool, backward_hooks: Any, state: Any) -> Parameter:
    """A parameter of a tensor, with attributes of its own."""
    return _set_obj_state(_rebuild_parameter(data, requires_grad, backward_hooks), state)


def _rebuild_sparse_tensor(layout: _layout, data: tuple) -> Tensor:
    """A sparse tensor of its parts."""
    make = SPARSE.get(layout)
    if make is None:
        raise NotSupportedError(tr("rebuilding sparse tensor for layout {}", layout), "sparse_coo, sparse_csr or sparse_csc")
    if layout is not sparse_coo:
        return make(*data)
    indices, values, size, *coalesced = data
    return make(indices, values, size, is_coalesced=coalesced[0] if coalesced else None)


def _get_obj_state(obj: Any) -> Any:
    """What `__getstate__` gives."""
    return obj.__getstate__()


def _set_obj_state(obj: Any, state: Any) -> Any:
    """Give an object the attributes that `_get_obj_state` found."""
    if isinstance(state, tuple) and len(state) != 2:
        raise StateError(tr("Invalid serialized state: {}", state), "a dict of attributes, or a pair of dicts")
    for attributes in state if isinstance(state, tuple) else (state,):
        for name, value in (attributes or {}).items():
            setattr(obj, name, value)
    return obj


# many tensors in one


def _flatten_dense_tensors(tensors: Iterable[Tensor]) -> Tensor:
    """All numbers in one row; of one tensor, its own memory."""
    flat = [tensor.contiguous().view(-1) for tensor in tensors]
    return flat[0] if len(flat) == 1 else cat(flat)


def _unflatten_dense_tensors(flat: Tensor, tensors: Iterable[Tensor]) -> tuple[Tensor, ...]:
    """The parts of a row as views that have the shapes of tensors."""
    found, start = [], 0
    for tensor in tensors:
        empty_one = not tensor.numel()
        found.append(
            empty(tensor.shape, dtype=flat.dtype) if empty_one else flat.narrow(0, start, tensor.numel()).view(tensor.shape)
        )
        start += tensor.numel()
    return tuple(found)


def _take_tensors(tensors: Iterable[Tensor], size_limit: int) -> Iterator[list[Tensor]]:
    """Tensors in lists of one type, each of size_limit bytes or of one tensor that is larger."""
    open_lists: dict[str, tuple[list[Tensor], int]] = {}
    for tensor in tensors:
        kind = tensor.type()
        parts = (tensor._indices(), tensor._values()) if tensor.is_sparse else (tensor,)
        size = sum(part.numel() * part.element_size() for part in parts)
        chunk, held = open_lists.get(kind, ([], 0))
        if held and held + size > size_limit:
            yield chunk
            chunk, held = [], 0
        chunk.append(tensor)
        open_lists[kind] = chunk, held + size
    yield from (chunk for chunk, _ in open_lists.values() if chunk)


def _reorder_tensors_as(tensors: Iterable[Tensor], ordered_tensors: Iterable[Tensor]) -> tuple[Tensor, ...]:
    """Tensors that are in order within their type, in the order of others."""
    by_type: defaultdict[str, list[Tensor]] = defaultdict(list)
    for tensor in tensors:
        by_type[tensor.type()].append(tensor)
    queues = {kind: iter(each) for kind, each in by_type.items()}
    return tuple(next(queues[tensor.type()]) for tensor in ordered_tensors)


def _handle_complex(tensor: Tensor) -> Tensor:
    """Complex numbers as pairs of real ones."""
    return view_as_real(tensor) if not isinstance(tensor, UninitializedParameter) and tensor.is_complex() else tensor


def _element_size(dtype: _dtype) -> int:
    """Bytes of a number."""
    if not isinstance(dtype, _dtype):
        raise ArgumentTypeError(tr("expected torch.dtype, but got {}", type(dtype)), "such as torch.float32")
    return dtype.itemsize


# devices


def _get_available_device_type() -> None:
    """None: there is no accelerator."""


def _get_device_attr(get_member: Callable[[Any], Any]) -> None:
    """None: there is no accelerator whose module could be asked."""


def _get_current_device_index() -> None:
    """None: there is no accelerator."""


def _get_all_device_indices() -> None:
    """None: there is no accelerator."""


def _get_devices_properties(device_ids: Iterable[int]) -> list[None]:
    """None for each."""
    return [None for _ in device_ids]


def get_current_device_index() -> int:
    """-1: there is no accelerator."""
    return -1


def _get_device_index(device: Any, optional: bool = False, allow_cpu: bool = False) -> int | None:
    """The number of a device: an int itself, with allow_cpu -1 for the CPU, with `optional` None for "the current one"."""
    device = _device(device) if isinstance(device, str) else device
    if isinstance(device, _device) and device.type == "cpu":
        if not allow_cpu:
            raise ArgumentError(tr("Expected a non cpu device, but got: {}", device), "allow_cpu=True gives -1 for the CPU")
        return -1
    index = device.index if isinstance(device, _device) else device if isinstance(device, int) else None
    if index is None and not optional:
        cause = tr("Expected a torch.device with a specified index or an integer, but got:{}", device)
        raise ArgumentError(cause, "'cuda:0', or optional=True")
    return index


def _get_device_module(device_type: str) -> Any:
    """torch.cpu for "cpu"."""
    return module_of(device_type)


def cpu_count() -> int:
    """How many CPUs this process may use."""
    return cores()


# errors, names, classes


class KeyErrorMessage(str):
    """A message that a KeyError shows as it is, with its lines."""

    __slots__ = ()

    def __repr__(self) -> str:
        return self


class ExceptionWrapper:
    """An exception of another thread or process, as text: the class, where, and the traceback."""

    def __init__(self, exc_info: Any = None, where: str = "in background") -> None:
        exc_info = sys.exc_info() if exc_info is None else exc_info
        self.exc_type: Any = exc_info[0]
        self.where = where
        self.exc_msg = "".join(traceback.format_exception(*exc_info))

    def reraise(self) -> None:
        """Raise one of the same class here, whose message holds the other's traceback."""
        text = f"Caught {self.exc_type.__name__} {self.where}.\nOriginal {self.exc_msg}"
        if self.exc_type is not KeyError and getattr(self.exc_type, "message", None):
            raise self.exc_type(message=text)
        try:
            error = self.exc_type(KeyErrorMessage(text) if self.exc_type is KeyError else text)
        except Exception:  # it takes other arguments
            raise RuntimeError(text) from None
        try:
            raise error
        finally:
            del error


def render_call(fn: Callable, args: Iterable[Any], kwargs: dict[str, Any]) -> str:
    """A call as text, each tensor by its size."""
    shown = [_rendered(value) for value in args] + [f"{name}={_rendered(value)}" for name, value in kwargs.items()]
    return f"{resolve_name(fn) or fn}({', '.join(shown)})"


def _rendered(value: Any) -> str:
    return f"tensor([...], size={tuple(value.shape)})" if isinstance(value, Tensor) and value.numel() else repr(value)


def _import_dotted_name(name: str) -> Any:
    """The module or attribute of that name."""
    head, *rest = name.split(".")
    found: Any = importlib.import_module(head)
    for part in rest:
        found = getattr(found, part)
    return found


def try_import(module_name: str) -> ModuleType | None:
    """The module, or None where there is none of that name."""
    if module_name not in sys.modules and importlib.util.find_spec(module_name) is None:
        return None
    return importlib.import_module(module_name)


class _ClassPropertyDescriptor:
    """What `classproperty` makes."""

    def __init__(self, fget: Any, fset: Any = None) -> None:
        self.fget = fget

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self.fget.__get__(instance, type(instance) if owner is None else owner)()


def classproperty(func: Any) -> _ClassPropertyDescriptor:
    """Decorator: a property of the class itself."""
    return _ClassPropertyDescriptor(func if isinstance(func, classmethod | staticmethod) else classmethod(func))


def _dummy_type(name: str) -> type:
    """A class that has no instances."""

    def refuse(cls: type, *args: Any, **kwargs: Any) -> None:
        raise NotSupportedError(tr("Tried to instantiate dummy base class {}", cls.__name__), "it stands for what only a GPU has")

    return type(name, (), {"__new__": refuse})


__getattr__, __dir__ = _door("badak._utils")
