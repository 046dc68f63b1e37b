"""`torch.functional`: functions of the package by another name."""

from typing import Any

import badak
from badak.nn import functional as F  # noqa: F401  (PyTorch's module has it)
from badak.tensor import Tensor  # noqa: F401


def __getattr__(name: str) -> Any:
    return getattr(badak, name)
