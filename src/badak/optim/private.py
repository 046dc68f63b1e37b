"""What programs import from torch.optim.optimizer next to Optimizer: kinds for annotations, and helpers of optimizers of one's own.

Their underscores say that they are PyTorch's own; optimizers of other packages use them all the same.
"""

from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any, TypeAlias

from badak.autograd import set_grad_enabled
from badak.autograd.hooks import RemovableHandle, function
from badak.core import events
from badak.tensor import Tensor, float32, float64, get_default_dtype, is_complex, view_as_real

ParamsT: TypeAlias = Iterable[Tensor] | Iterable[dict[str, Any]] | Iterable[tuple[str, Tensor]]
_params_t = ParamsT
before: dict[int, Callable] = {}  # called around each step of every optimizer
after: dict[int, Callable] = {}
events.for_all(globals(), "before", "after")


def register_optimizer_step_pre_hook(hook: Callable) -> RemovableHandle:
    """Call hook(optimizer, args, kwargs) before each step of every optimizer; it may return new (args, kwargs)."""
    return RemovableHandle(before, function(hook))


def register_optimizer_step_post_hook(hook: Callable) -> RemovableHandle:
    """Call hook(optimizer, args, kwargs) after each step of every optimizer."""
    return RemovableHandle(after, function(hook))


def _use_grad_for_differentiable(func: Callable) -> Callable:
    """Decorator of a step: it records where its optimizer was made with differentiable=True."""

    @wraps(func)
    def step(self, *args, **kwargs):
        with set_grad_enabled(bool(self.defaults.get("differentiable"))):
            return func(self, *args, **kwargs)

    return step


def _default_to_fused_or_foreach(params: list[Tensor], differentiable: bool, use_fused: bool = False) -> tuple[bool, bool]:
    """(fused, foreach) for who has not chosen: neither, on a CPU."""
    return False, False


def _get_value(x):
    """A number, whether it is a tensor or not."""
    return x.item() if isinstance(x, Tensor) else x


_to_scalar = _get_value


def _dispatch_sqrt(x):
    """The root of a tensor or a number."""
    return x.sqrt() if isinstance(x, Tensor) else x**0.5


def _stack_if_compiling(x: list):
    """A list, as it is."""
    return x


def _view_as_real(params: list[Tensor], *state_and_grads: list[Tensor]) -> None:
    """Let complex tensors in these lists be pairs of real numbers."""
    for at, p in enumerate(params):
        if is_complex(p):
            params[at] = view_as_real(p)
            for those in state_and_grads:
                those[at] = view_as_real(those[at])


def _get_scalar_dtype(is_fused=None):
    """The dtype of a step that is counted in a tensor."""
    return float64 if not is_fused and get_default_dtype() == float64 else float32


def _get_foreach_kernels_supported_devices() -> list[str]:
    """The devices on which lists of tensors are worth a kernel: none but accelerators."""
    return ["cuda", "xpu", "mtia"]


_get_capturable_supported_devices = _get_fused_kernels_supported_devices = lambda *args, **named: (
    _get_foreach_kernels_supported_devices()
)


def _disable_dynamo_if_unsupported(single_tensor_fn: Callable | None = None) -> Callable:
    """Decorator that changes nothing: nothing is compiled that could not be."""
    return lambda func: func


def _device_dtype_check_for_fused(p: Tensor, cuda_unsupported: bool = False) -> None:
    """Any parameter will do."""


_params_doc = "params: tensors, (name, tensor) pairs, or dicts of them with settings of their own"
_foreach_doc = "foreach: taken, and without effect"
_fused_doc = "fused: taken, and without effect"
_capturable_doc = "capturable: taken, and without effect"
_differentiable_doc = "differentiable: whether the step is recorded"
_maximize_doc = "maximize: go up instead of down"
