"""`torch.types`: words for annotations."""

from collections.abc import Sequence
from typing import Any, Union

from badak.tensor import Tensor, device, dtype

Number = Union[int, float, bool]  # noqa: UP007  (a program may subscript it)
Device = Union[device, str, int, None]  # noqa: UP007
_size = Union[tuple, list]  # noqa: UP007
_int, _float, _bool, _dtype, _device = int, float, bool, dtype, device
_TensorOrTensors = Union[Tensor, Sequence[Tensor]]  # noqa: UP007
FileLike = Any
