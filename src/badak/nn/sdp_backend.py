"""Which kernel computes attention: a choice on a GPU. badak has one, whose results are those of all of them."""

from contextlib import contextmanager
from enum import Enum
from typing import Any


class SDPBackend(Enum):
    """PyTorch's kernels for scaled_dot_product_attention."""

    ERROR = -1
    MATH = 0
    FLASH_ATTENTION = 1
    EFFICIENT_ATTENTION = 2
    CUDNN_ATTENTION = 3
    OVERRIDEABLE = 4

    def __int__(self) -> int:
        return self.value


@contextmanager
def sdpa_kernel(backends: list[SDPBackend] | SDPBackend, set_priority: bool = False) -> Any:
    """A block in which only these kernels may compute attention; here it changes nothing."""
    yield
