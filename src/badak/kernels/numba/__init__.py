"""The kernels of `reference`, compiled by Numba, matrix products included; names, signatures and meaning are theirs.

The same input gives the same bits on any number of threads. See `threadpool/parallel.py` for how a kernel is written.
"""

from typing import Any as _Any

from badak.core.errors import tr
from badak.kernels import reference as _reference
from badak.kernels.by_name import found as _found
from badak.kernels.numba._blocks import contiguous as contiguous
from badak.kernels.numba._memory import keep_freed_memory as _keep_freed_memory
from badak.kernels.numba.activation import gelu as gelu
from badak.kernels.numba.activation import gelu_backward as gelu_backward
from badak.kernels.numba.activation import relu as relu
from badak.kernels.numba.activation import relu_backward as relu_backward
from badak.kernels.numba.activation import sigmoid as sigmoid
from badak.kernels.numba.activation import sigmoid_backward as sigmoid_backward
from badak.kernels.numba.activation import silu as silu
from badak.kernels.numba.activation import silu_backward as silu_backward
from badak.kernels.numba.activation import tanh as tanh
from badak.kernels.numba.activation import tanh_backward as tanh_backward
from badak.kernels.numba.arithmetic import arithmetic as arithmetic
from badak.kernels.numba.arithmetic import where as where
from badak.kernels.numba.attention import attention as attention
from badak.kernels.numba.attention import attention_backward as attention_backward
from badak.kernels.numba.blocks import dequantize_blocks as dequantize_blocks
from badak.kernels.numba.blocks import embedding_blocks as embedding_blocks
from badak.kernels.numba.blocks import linear_blocks as linear_blocks
from badak.kernels.numba.blocks import linear_blocks_backward as linear_blocks_backward
from badak.kernels.numba.casts import cast as cast
from badak.kernels.numba.clipping import clip_kept as clip_kept
from badak.kernels.numba.clipping import limit_all as limit_all
from badak.kernels.numba.clipping import norm_all as norm_all
from badak.kernels.numba.clipping import shrink_all as shrink_all
from badak.kernels.numba.codegen.compile import FOLDER as _FOLDER
from badak.kernels.numba.codegen.registers import describe as _describe_products
from badak.kernels.numba.compare_words import WordList as WordList
from badak.kernels.numba.concat import concatenate as concatenate
from badak.kernels.numba.conv import conv as conv
from badak.kernels.numba.conv import conv_dw as conv_dw
from badak.kernels.numba.conv import conv_dx as conv_dx
from badak.kernels.numba.cpu_dispatch import describe as _describe_ways
from badak.kernels.numba.cross_entropy import cross_entropy as cross_entropy
from badak.kernels.numba.cross_entropy import cross_entropy_backward as cross_entropy_backward
from badak.kernels.numba.cross_entropy import spread_loss as spread_loss
from badak.kernels.numba.cross_entropy import total_loss as total_loss
from badak.kernels.numba.dropout import dropout as dropout
from badak.kernels.numba.embedding import embedding as embedding
from badak.kernels.numba.embedding import embedding_backward as embedding_backward
from badak.kernels.numba.embedding import index_copy as index_copy
from badak.kernels.numba.exponential import exp as exp
from badak.kernels.numba.exponential import log as log
from badak.kernels.numba.int8 import linear_int8 as linear_int8
from badak.kernels.numba.layer_norm import layer_norm as layer_norm
from badak.kernels.numba.layer_norm import layer_norm_backward as layer_norm_backward
from badak.kernels.numba.linear import linear as linear
from badak.kernels.numba.linear import linear_backward as linear_backward
from badak.kernels.numba.losses import mse as mse
from badak.kernels.numba.losses import mse_backward as mse_backward
from badak.kernels.numba.matmul import matmul as matmul
from badak.kernels.numba.mixed import add_mixed as add_mixed
from badak.kernels.numba.optimizer import update_all as update_all
from badak.kernels.numba.optimizer import update_kept as update_kept
from badak.kernels.numba.paged_attention import fill_pages as fill_pages
from badak.kernels.numba.paged_attention import paged_attention as paged_attention
from badak.kernels.numba.random import c_function as c_function
from badak.kernels.numba.random import random_bernoulli as random_bernoulli
from badak.kernels.numba.random import random_integers as random_integers
from badak.kernels.numba.random import random_normal as random_normal
from badak.kernels.numba.random import random_pairs as random_pairs
from badak.kernels.numba.random import random_permutation as random_permutation
from badak.kernels.numba.random import random_rejection as random_rejection
from badak.kernels.numba.random import random_uniform as random_uniform
from badak.kernels.numba.random import random_words as random_words
from badak.kernels.numba.random import scaled as scaled
from badak.kernels.numba.reductions import column_sum as column_sum
from badak.kernels.numba.rms_norm import rms_norm as rms_norm
from badak.kernels.numba.rms_norm import rms_norm_backward as rms_norm_backward
from badak.kernels.numba.running import cumsum as cumsum
from badak.kernels.numba.softmax import log_softmax as log_softmax
from badak.kernels.numba.softmax import log_softmax_backward as log_softmax_backward
from badak.kernels.numba.softmax import softmax as softmax
from badak.kernels.numba.softmax import softmax_backward as softmax_backward
from badak.kernels.numba.threadpool.calls import CallList as CallList
from badak.kernels.numba.threadpool.parallel import call_log as call_log
from badak.kernels.numba.threadpool.parallel import warmup as warmup
from badak.kernels.numba.threadpool.pool import get_num_threads as get_num_threads
from badak.kernels.numba.threadpool.pool import set_num_threads as set_num_threads
from badak.kernels.numba.windows import fold as fold
from badak.kernels.numba.windows import max_pool as max_pool
from badak.kernels.numba.windows import max_pool_backward as max_pool_backward
from badak.kernels.numba.windows import unfold as unfold

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
