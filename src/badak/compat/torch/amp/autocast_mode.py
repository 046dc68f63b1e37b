"""autocast: the block in which products are computed in a 16-bit type, and losses in float32."""

import functools
from collections.abc import Callable
from typing import Any

from badak.core import events
from badak.core.errors import ArgumentError, ArgumentTypeError, tr, warn_once
from badak.core.modes import anywhere, modes
from badak.tensor import Tensor, dtypes
from badak.tensor.casting import Casting
from badak.tensor.dtypes import dtype as DType  # noqa: N812

_DEFAULTS = {"cpu": dtypes.bfloat16, "cuda": dtypes.float16, "mps": dtypes.float16, "xpu": dtypes.float16}
events.for_all(globals(), "_DEFAULTS")
_HALVES = (dtypes.bfloat16, dtypes.float16)


class autocast:  # noqa: N801  (PyTorch's name)
    """A block or function in which products take and give `dtype`, bfloat16 on the CPU: see `tensor/casting.py`.

    For a device that is not there it switches itself off, as in PyTorch.

    Args:
        device_type: "cpu"
        dtype: bfloat16 by default
        enabled: False changes nothing
        cache_enabled: accepted

    Returns: context manager and decorator

    Example:
        >>> with badak.autocast("cpu"):
        ...     y = badak.ones(2, 2) @ badak.ones(2, 2)
        >>> y.dtype
        badak.bfloat16
    """

    def __init__(
        self, device_type: str, dtype: DType | None = None, enabled: bool = True, cache_enabled: bool | None = None
    ) -> None:
        if not isinstance(device_type, str):
            raise ArgumentError(tr("Expected `device_type` of type `str`, got: `{}`", type(device_type)), "autocast('cpu')")
        device_type = dtypes.device(device_type).type  # which refuses what is no name of a device
        self.device = device_type
        self.fast_dtype = dtype if dtype is not None else _DEFAULTS.get(device_type, dtypes.float16)
        self._enabled, self._keep = bool(enabled) and device_type == "cpu", cache_enabled is not False
        if self._enabled and self.fast_dtype not in _HALVES:
            if self.fast_dtype is not dtypes.float32:
                warn_once("autocast", tr("autocast on the CPU knows bfloat16 and float16, not {}: it is off", self.fast_dtype))
            self._enabled = False
        self._before: list = []

    def __enter__(self):
        self._before.append(modes.casting)
        if self.device == "cpu":
            inner = self._enabled and modes.casting is not None and modes.casting.kind is self.fast_dtype
            if not inner:  # a block within one of its kind goes on with what was cast there
                modes.casting = Casting(self.fast_dtype, self._keep) if self._enabled else None
        anywhere.casting += 1
        return self

    def __exit__(self, *error):
        modes.casting = self._before.pop()
        anywhere.casting -= 1

    def __call__(self, function: Callable) -> Callable:
        @functools.wraps(function)
        def decorated(*args, **kwargs):
            with autocast(self.device, self.fast_dtype, self._enabled, self._keep):
                return function(*args, **kwargs)

        return decorated


def custom_fwd(fwd: Any = None, *, device_type: str = "cuda", cast_inputs: Any = None) -> Any:
    """The decorator of a Function's forward: with cast_inputs, its tensors come in that dtype and autocast is off within."""
    if fwd is None:
        return functools.partial(custom_fwd, device_type=device_type, cast_inputs=cast_inputs)

    @functools.wraps(fwd)
    def forward(*args, **kwargs):
        if cast_inputs is None or not is_autocast_enabled(device_type):
            return fwd(*args, **kwargs)
        args = [x.to(cast_inputs) if isinstance(x, Tensor) and x.is_floating_point() else x for x in args]
        with autocast(device_type, enabled=False):
            return fwd(*args, **kwargs)

    return forward


def custom_bwd(bwd: Any = None, *, device_type: str = "cuda") -> Any:
    """The decorator of a Function's backward under autocast: the function itself."""
    return bwd if bwd is not None else lambda function: function


def is_autocast_available(device_type: str) -> bool:
    """Whether autocast does anything for that device: for the CPU."""
    return device_type == "cpu"


def is_autocast_enabled(device_type: str | None = None) -> bool:
    """Whether this stands within a block of autocast; of the one for CUDA unless a device is named, which does nothing here."""
    return modes.casting is not None if device_type == "cpu" else _asked.get(device_type or "cuda", False)


_asked: dict[str, bool] = {}  # what set_autocast_enabled was given for devices that are not there
_nested = [0]


def set_autocast_enabled(device_type: str | bool, enabled: bool | None = None) -> None:
    """Begin autocast without a block, or end it: set_autocast_enabled("cpu", True). Without a device it is said of CUDA.

    Args:
        device_type: "cpu"; another device changes nothing
        enabled: whether products are computed in 16 bits from now on

    Example:
        >>> badak.set_autocast_enabled("cpu", False)
    """
    device, wanted = ("cuda", device_type) if enabled is None else (device_type, enabled)
    if not isinstance(device, str) or not isinstance(wanted, bool):
        cause = tr("set_autocast_enabled: expected a device and a bool; got {!r}, {!r}", device_type, enabled)
        raise ArgumentTypeError(cause, '("cpu", True)')
    events.setting("set_autocast_enabled")
    if device != "cpu":
        _asked[device] = wanted
    elif wanted is not (modes.casting is not None):
        modes.casting = Casting(_DEFAULTS["cpu"], True) if wanted else None
        anywhere.casting += 1  # and never less: a block may end after it


def set_autocast_dtype(device_type: str, dtype: Any) -> None:
    """The dtype of autocast from now on where a block names none.

    Args:
        device_type: "cpu"; another device is remembered
        dtype: bfloat16 or float16

    Example:
        >>> badak.set_autocast_dtype("cpu", badak.bfloat16)
    """
    if not isinstance(device_type, str):
        cause = tr("set_autocast_dtype: expected the name of a device; got {!r}", device_type)
        raise ArgumentTypeError(cause, '("cpu", badak.bfloat16)')
    if device_type == "cpu" and dtype not in _HALVES:
        raise ArgumentError(tr("Currently, AutocastCPU only support Bfloat16 or Float16 as the autocast_cpu_dtype; got {}", dtype),
                            "badak.bfloat16")  # fmt: skip
    events.setting("set_autocast_dtype")
    _DEFAULTS[device_type] = dtype
    if device_type == "cpu" and modes.casting is not None:
        modes.casting = Casting(dtype, modes.casting.keep)


def set_autocast_cpu_enabled(enabled: bool) -> None:
    """set_autocast_enabled("cpu", enabled)."""
    set_autocast_enabled("cpu", enabled)


def set_autocast_cpu_dtype(dtype: Any) -> None:
    """set_autocast_dtype("cpu", dtype)."""
    set_autocast_dtype("cpu", dtype)


def set_autocast_cache_enabled(enabled: bool) -> None:
    """Whether a parameter is cast once for the block that is open."""
    if modes.casting is not None:
        modes.casting = Casting(modes.casting.kind, bool(enabled))


def clear_autocast_cache() -> None:
    """Forget the parameters that were cast in the block that is open."""
    if modes.casting is not None:
        modes.casting = Casting(modes.casting.kind, modes.casting.keep)


def autocast_increment_nesting() -> int:
    """One block more, as programs count that open them by hand."""
    _nested[0] += 1
    return _nested[0]


def autocast_decrement_nesting() -> int:
    """One block less."""
    _nested[0] -= 1
    return _nested[0]


def get_autocast_dtype(device_type: str) -> DType:
    """The dtype that autocast uses there."""
    within = modes.casting if device_type == "cpu" else None
    return _DEFAULTS.get(device_type, dtypes.float16) if within is None else within.kind


def get_autocast_cpu_dtype() -> Any:
    """The dtype that autocast uses on the CPU."""
    return get_autocast_dtype("cpu")


def get_autocast_gpu_dtype() -> Any:
    """The dtype that autocast would use on a GPU."""
    return get_autocast_dtype("cuda")


def is_autocast_cpu_enabled() -> bool:
    """Whether this stands within a block of autocast for the CPU."""
    return is_autocast_enabled("cpu")


def is_autocast_cache_enabled() -> bool:
    """Whether autocast casts a parameter once for the whole block."""
    return modes.casting is None or modes.casting.keep
