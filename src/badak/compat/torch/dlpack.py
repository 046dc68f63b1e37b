"""`torch.utils.dlpack`: tensors handed to and from other libraries without a copy."""

from badak.tensor.create import from_dlpack as from_dlpack
from badak.tensor.create import to_dlpack as to_dlpack

__all__ = ["from_dlpack", "to_dlpack"]
