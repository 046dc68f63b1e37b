"""`torch.nn.parallel`: a model on several devices. There is one, so DataParallel calls the model; several ranks share gradients."""

from typing import Any

from badak.distributed.data_parallel import DistributedDataParallel as DistributedDataParallel
from badak.nn import Module
from badak.tensor.tensor import Tensor


class DataParallel(Module):
    """`module` under the name "module", as PyTorch wraps it; calls go straight through."""

    def __init__(self, module: Module, device_ids: Any = None, output_device: Any = None, dim: int = 0) -> None:
        super().__init__()
        self.module, self.output_device, self.dim = module, None, dim
        self.device_ids: list[int] = []

    def forward(self, *inputs: Any, **kwargs: Any) -> Tensor:
        """module(*inputs, **kwargs)."""
        return self.module(*inputs, **kwargs)


def data_parallel(
    module: Module, inputs: Any, device_ids: Any = None, output_device: Any = None, dim: int = 0, module_kwargs: Any = None
) -> Any:
    """module(*inputs)."""
    return module(*(inputs if isinstance(inputs, tuple) else (inputs,)), **(module_kwargs or {}))
