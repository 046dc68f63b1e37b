"""`torch.utils._foreach_utils`: how optimizers sort tensors before they go through them together."""

from typing import Any

from badak.core.public_api import door as _door
from badak.tensor import Tensor, device, dtype


def _group_tensors_by_device_and_dtype(
    tensorlistlist: list[list[Tensor | None]], with_indices: bool = False
) -> dict[tuple[device, dtype], tuple[list[list[Tensor | None]], list[int]]]:
    """Lists of equal length as lists for each device and dtype of the first one, and with_indices the places they had."""
    found: dict[tuple[device, dtype], tuple[list[list[Any]], list[int]]] = {}
    for place, first in enumerate(tensorlistlist[0]):
        assert first is not None
        lists, places = found.setdefault((first.device, first.dtype), ([[] for _ in tensorlistlist], []))
        for each, whole in zip(lists, tensorlistlist):
            if whole:
                each.append(whole[place])
        if with_indices:
            places.append(place)
    return found


def _get_foreach_kernels_supported_devices() -> list[str]:
    """None: PyTorch, too, goes through tensors of a CPU one by one."""
    return []


_get_fused_kernels_supported_devices = _get_foreach_kernels_supported_devices


def _has_foreach_support(tensors: list[Tensor | None], device: Any) -> bool:
    """False on a CPU."""
    return False


def _device_has_foreach_support(device: Any) -> bool:
    """False on a CPU."""
    return False


__getattr__, __dir__ = _door("badak.utils._foreach_utils")
