"""`torch._C._nn`: the functions of it that libraries call, those of nn.functional by their inner names."""

from collections.abc import Callable
from typing import Any

from badak.core.public_api import door as _door
from badak.nn import functional as F
from badak.nn.functional import adaptive_avg_pool2d as adaptive_avg_pool2d
from badak.nn.functional import adaptive_avg_pool3d as adaptive_avg_pool3d
from badak.nn.functional import avg_pool2d as avg_pool2d
from badak.nn.functional import avg_pool3d as avg_pool3d
from badak.nn.functional import elu as elu
from badak.nn.functional import gelu as gelu
from badak.nn.functional import glu as glu
from badak.nn.functional import hardsigmoid as hardsigmoid
from badak.nn.functional import hardswish as hardswish
from badak.nn.functional import hardtanh as hardtanh
from badak.nn.functional import leaky_relu as leaky_relu
from badak.nn.functional import linear as linear
from badak.nn.functional import logsigmoid as log_sigmoid  # noqa: F401
from badak.nn.functional import mish as mish
from badak.nn.functional import one_hot as one_hot
from badak.nn.functional import pad as pad
from badak.nn.functional import relu6 as relu6
from badak.nn.functional import scaled_dot_product_attention as scaled_dot_product_attention
from badak.nn.functional import silu as silu
from badak.nn.functional import softplus as softplus
from badak.nn.functional import softshrink as softshrink
from badak.nn.moving import _read_target
from badak.tensor import device as as_device


def _parse_to(*args: Any, **kwargs: Any) -> tuple[Any, Any, bool, Any]:
    """(device, dtype, non_blocking, memory_format) of the arguments of `to`."""
    device, dtype = _read_target(*args, **kwargs)
    flags = [each for each in args if isinstance(each, bool)]
    asynchronous = kwargs.get("non_blocking", flags[0] if flags else False)
    return None if device is None else as_device(device), dtype, asynchronous, kwargs.get("memory_format")


def _upsample(mode: str, antialias: bool = False) -> Callable:
    """F.interpolate as one function for each mode; `corners`, align_corners, stands before the factors, where the mode has it."""

    def resized(input: Any, output_size: Any, corners: Any, factors: Any) -> Any:
        return F.interpolate(input, output_size, factors, mode, corners, antialias=antialias)

    if mode.startswith("nearest"):
        return lambda input, output_size, scale_factors=None: resized(input, output_size, None, scale_factors)
    return lambda input, output_size, align_corners, scale_factors=None: resized(input, output_size, align_corners, scale_factors)


upsample_nearest1d = upsample_nearest2d = upsample_nearest3d = _upsample("nearest")
_upsample_nearest_exact1d = _upsample_nearest_exact2d = _upsample_nearest_exact3d = _upsample("nearest-exact")
upsample_linear1d, upsample_bilinear2d, upsample_trilinear3d = map(_upsample, ("linear", "bilinear", "trilinear"))
upsample_bicubic2d = _upsample("bicubic")
_upsample_bilinear2d_aa, _upsample_bicubic2d_aa = _upsample("bilinear", True), _upsample("bicubic", True)
__getattr__, __dir__ = _door("badak._C._nn")
