"""The kernels of `reference`, compiled by Numba, matrix products included; names, signatures and meaning are theirs.

The same input gives the same bits on any number of threads. See `threadpool/parallel.py` for how a kernel is written.
"""

from typing import Any as _Any

from badak.core.errors import tr
from badak.kernels import reference as _reference
from badak.kernels.by_name import found as _found
from badak.kernels.by_name import kernels_of as _kernels_of
from badak.kernels.numba._blocks import contiguous as contiguous
from badak.kernels.numba._memory import keep_freed_memory as _keep_freed_memory
from badak.kernels.numba.codegen.compile import FOLDER as _FOLDER
from badak.kernels.numba.codegen.registers import describe as _describe_products
from badak.kernels.numba.cpu_dispatch import describe as _describe_ways
from badak.kernels.numba.threadpool.calls import CallList as CallList
from badak.kernels.numba.threadpool.parallel import call_log as call_log
from badak.kernels.numba.threadpool.parallel import warmup as warmup
from badak.kernels.numba.threadpool.pool import get_num_threads as get_num_threads
from badak.kernels.numba.threadpool.pool import set_num_threads as set_num_threads

# the files that most programs need; any other is found by its name
_FILES = (
    "activation arithmetic attention blocks casts clipping compare_words concat conv cross_entropy dropout embedding "
    "error_function exponential int8 layer_norm linear losses matmul mixed optimizer paged_attention random reductions "
    "rms_norm running softmax windows"
)
for _file in _FILES.split():
    globals().update(_kernels_of(f"{__name__}.{_file}"))
_keep_freed_memory()


def __getattr__(name: str) -> _Any:
    """A kernel with a file of its own; else as it is in NumPy: seldom in a training step's hot path, or a look-up of numbers."""
    try:
        return _found(__name__, name)
    except AttributeError:
        return getattr(_reference, name)


def describe():
    """What computes here: {"set", "products", "threads", "threading_layer", "cache"}."""
    ways = "; ".join(f"{kind} by {way}" for kind, way in _describe_ways().items())
    return {
        "set": "numba",
        "products": f"{_describe_products()}; {ways}",
        "threads": get_num_threads(),
        "threading_layer": tr("badak's own team"),
        "cache": "" if _FOLDER is None else str(_FOLDER),
    }
