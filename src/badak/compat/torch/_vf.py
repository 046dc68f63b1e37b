"""`torch._VF`: the functions of torch, as PyTorch's own layers call them."""

from typing import Any

import badak


def __getattr__(name: str) -> Any:
    return getattr(badak, name)
