"""`torch._C`: the few names of PyTorch's compiled core that libraries mention; badak has no such core."""

import importlib
import weakref
from enum import Enum
from types import SimpleNamespace
from typing import Any

from badak.autograd import set_grad_enabled
from badak.autograd.saved import SavedTensor, _refused
from badak.compat.torch.conv_backend import _ConvBackend as _ConvBackend
from badak.compat.torch.conv_backend import _select_conv_backend as _select_conv_backend
from badak.core.errors import NotSupportedError, tr
from badak.core.modes import modes
from badak.core.public_api import door as _door
from badak.core.public_api import overriding
from badak.io.archive import PyTorchFileReader as PyTorchFileReader
from badak.io.archive import PyTorchFileWriter as PyTorchFileWriter
from badak.tensor import Generator as Generator
from badak.tensor import Size as Size
from badak.tensor import Tensor
from badak.tensor import device as device
from badak.tensor import dtype as dtype
from badak.tensor.batched import Batched
from badak.tensor.grad_fn import NodeClasses
from badak.tensor.wrapped import answers_itself

_functions = NodeClasses()
_autograd = SimpleNamespace(SavedTensor=SavedTensor, _saved_tensors_hooks_is_enabled=lambda: not _refused)
TensorBase = Tensor  # PyTorch's compiled class below its Tensor


class _WeakTensorRef:
    """A reference that does not keep its tensor alive."""

    def __init__(self, tensor: Tensor):
        self._tensor = weakref.ref(tensor)

    def expired(self) -> bool:
        """Whether the tensor is gone."""
        return self._tensor() is None


class _Keys:
    """Dispatch keys by name: DispatchKey.AutocastCPU."""

    def __getattr__(self, name: str) -> str:
        if name.startswith("__"):
            raise AttributeError(name)
        return name


DispatchKey = _Keys()


class _None:
    """What compiled code or a tracer would make: a name for annotations and isinstance; nothing is one."""

    def __init__(self, *args: Any, **kwargs: Any):
        name = type(self).__name__
        raise NotSupportedError(tr("{}: badak traces nothing, so that none can be made", name), "use Python's own numbers")


class Graph(_None):
    """A traced program."""


class Value(_None):
    """A value in a traced program."""


class Node(_None):
    """A step of a traced program."""


# What libraries say of their operators; badak asks for none of it.
Tag = Enum(  # type: ignore[misc]
    "Tag",
    "core cudagraph_unsafe data_dependent_output dynamic_output_shape flexible_layout generated inplace inplace_view "
    "maybe_aliasing_or_mutating needs_contiguous_strides needs_exact_strides needs_fixed_stride_order nondeterministic_bitwise "
    "nondeterministic_seeded out out_variant pointwise pt2_compliant_tag reduction view_copy",
    start=0,
)


class SymInt(_None):
    """A size that is not known yet."""


class SymFloat(_None):
    """A float that is not known yet."""


class SymBool(_None):
    """A truth that is not known yet."""


class DispatchKeySet(frozenset):
    """A set of dispatch keys: badak calls functions directly, so no key is ever looked at."""

    def __new__(cls, key: Any = ()):
        return frozenset.__new__(cls, (key,) if isinstance(key, str) else key)

    def has(self, key: str) -> bool:
        """Whether the key is one of them."""
        return key in self

    def __or__(self, other: Any) -> "DispatchKeySet":
        return DispatchKeySet(frozenset.__or__(self, other))


class _ExcludeDispatchKeyGuard:
    """A block in which some dispatch keys do not count: none does anywhere."""

    def __init__(self, keys: Any):
        self.keys = keys

    def __enter__(self) -> None:
        return None

    def __exit__(self, *error: Any) -> None:
        return None


def is_traceable_wrapper_subclass(t: Any) -> bool:
    """Whether it is a tensor of a program's class that says which tensors it keeps inside, and how it is made of them."""
    own = isinstance(t, Tensor) and answers_itself(type(t), Tensor)
    return own and hasattr(t, "__tensor_flatten__") and hasattr(type(t), "__tensor_unflatten__")


def _set_conj(tensor: Any, conj: bool) -> None:
    """Nothing where it is False: numbers never wait to be conjugated here."""
    _refuse_lazy(conj, "_set_conj")


def _set_neg(tensor: Any, neg: bool) -> None:
    """Nothing where it is False: numbers never wait to be negated here."""
    _refuse_lazy(neg, "_set_neg")


def _refuse_lazy(wanted: bool, name: str) -> None:
    if wanted:
        raise NotSupportedError(tr("torch._C.{}: badak computes a conjugate and -x at once", name), "x.conj() or -x")


def _len_torch_dispatch_stack() -> int:
    """How many TorchDispatchModes are entered."""
    return sum(hasattr(type(each), "__torch_dispatch__") for each in modes.observers)


def _get_tracing_state() -> Any:
    """What keeps the calls of the program, within `torch.jit._get_trace_graph`; else None."""
    return importlib.import_module("badak.compat.torch.tracing.calls").tracing_state()


def _is_tracing() -> bool:
    """Whether torch.jit.trace runs the program."""
    return importlib.import_module("badak.compat.torch.tracing.record").is_tracing()


def _are_functorch_transforms_active() -> bool:
    """Whether a function runs for many examples at once, within vmap."""
    return bool(modes.batching)


def is_batchedtensor(tensor: Any) -> bool:
    """Whether a tensor stands for one example of many, within vmap."""
    return type(getattr(tensor, "_array", None)) is Batched


def _is_torch_function_mode_enabled() -> bool:
    """Whether a TorchFunctionMode is entered."""
    return bool(overriding.state.modes)


def _set_grad_enabled(enabled: bool) -> None:
    """What is recorded from here on."""
    set_grad_enabled(enabled)


def _is_alias_of(tensor: Any, other: Any) -> bool:
    """Whether two tensors see one memory."""
    return tensor.untyped_storage().data_ptr() == other.untyped_storage().data_ptr()


def _log_api_usage_once(event: str) -> None:
    """Nothing is logged."""


def _get_privateuse1_backend_name() -> str:
    """PyTorch's word where nobody has renamed it."""
    return "privateuseone"


_has_cuda = _has_xpu = _has_mps = _has_mtia = _has_xnnpack = _has_cudnn = _has_mkldnn = _has_magma = _has_cusparselt = False
has_openmp = has_mkl = has_mkldnn = False
has_lapack = has_spectral = True  # NumPy's


def _mps_is_available() -> bool:
    """False: badak computes on the CPU."""
    return False


def _mps_is_on_macos_or_newer(major: int, minor: int) -> bool:
    """False, likewise."""
    return False


_mps_is_in_bad_fork = _is_xnnpack_enabled = _mps_is_available


def _accelerator_getAccelerator() -> None:  # noqa: N802  (PyTorch's name)
    """None: there is none."""


def _get_accelerator(check: bool | None = None) -> device:
    """The CPU, where there is none."""
    return device("cpu")


def _cuda_getDeviceCount() -> int:  # noqa: N802  (PyTorch's name)
    """0."""
    return 0


def __getattr__(name: str) -> Any:
    """What stands in `overrides` and `vmap`, which need the functions of badak, and for what is nowhere its error."""
    if name in ("_add_batch_dim", "_remove_batch_dim"):
        return getattr(importlib.import_module("badak.compat.torch.vmap"), name)
    if name in ("_DisableTorchDispatch", "_disabled_torch_dispatch_impl"):
        return getattr(importlib.import_module("badak.compat.torch.wrapper"), name)
    if name in ("DisableTorchFunction", "DisableTorchFunctionSubclass"):
        return getattr(importlib.import_module("badak.compat.torch.overrides"), name)
    return _missing(name)


_disabled_torch_function_impl = overriding.disabled
_missing, __dir__ = _door("badak._C")
