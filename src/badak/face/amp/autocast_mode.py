"""autocast: the block in which PyTorch computes products in a 16-bit type. badak stays in float32."""

import functools

from badak.errors import warn_once
from badak.tensor import dtypes

_DEFAULTS = {"cpu": dtypes.bfloat16, "cuda": dtypes.float16, "mps": dtypes.float16, "xpu": dtypes.float16}


class autocast:  # noqa: N801  (PyTorch's name)
    """A block or function in which PyTorch would use `dtype` for products; here it computes as everywhere.

    For a device that is not there PyTorch switches itself off too. On the CPU it would round to bfloat16 where badak keeps
    float32: the numbers differ by that rounding, which a warning says once.
    """

    def __init__(self, device_type: str, dtype=None, enabled: bool = True, cache_enabled: bool | None = None):
        self.device = device_type
        self.fast_dtype = dtype if dtype is not None else _DEFAULTS.get(device_type, dtypes.float16)
        self._enabled = False
        if enabled and device_type == "cpu" and self.fast_dtype is not dtypes.float32:
            warn_once(
                "autocast", f"autocast on the CPU: badak computes in float32, not in {self.fast_dtype}", "enabled=False"
            )

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return None

    def __call__(self, function):
        @functools.wraps(function)
        def decorated(*args, **kwargs):
            return function(*args, **kwargs)

        return decorated


def custom_fwd(fwd=None, *, device_type: str = "cuda", cast_inputs=None):
    """The decorator of a Function's forward under autocast: the function itself."""
    return fwd if fwd is not None else lambda function: function


def custom_bwd(bwd=None, *, device_type: str = "cuda"):
    """The decorator of a Function's backward under autocast: the function itself."""
    return bwd if bwd is not None else lambda function: function


def is_autocast_available(device_type: str) -> bool:
    """False: no device of badak's computes in mixed precision."""
    return False


def is_autocast_enabled(device_type: str | None = None) -> bool:
    """False: see autocast."""
    return False


def get_autocast_dtype(device_type: str):
    """The dtype that PyTorch's autocast would use there."""
    return _DEFAULTS.get(device_type, dtypes.float16)
