"""The meaning of every kernel, in NumPy. One family per file; result type = input type; inputs are never
modified, except by the optimizer updates."""

from functools import partial as _partial

from badak.kernels.by_name import found as _found
from badak.kernels.by_name import kernels_of as _kernels_of

# the files that most programs need; any other is found by its name
_FILES = (
    "activation arithmetic attention blocks casts clipping concat conv cross_entropy dropout embedding error_function "
    "exponential int8 layer_norm linear losses matmul mixed optimizer random recurrent rms_norm running softmax sums windows"
)
for _file in _FILES.split():
    globals().update(_kernels_of(f"{__name__}.{_file}"))

__getattr__ = _partial(_found, __name__)
