"""`torch.nn.parallel`: a model on several devices. There is one, so DataParallel calls the model; several ranks share gradients."""

from badak.distributed.data_parallel import DistributedDataParallel as DistributedDataParallel
from badak.nn import Module


class DataParallel(Module):
    """`module` under the name "module", as PyTorch wraps it; calls go straight through."""

    def __init__(self, module: Module, device_ids=None, output_device=None, dim: int = 0):
        super().__init__()
        self.module, self.output_device, self.dim = module, None, dim
        self.device_ids: list[int] = []

    def forward(self, *inputs, **kwargs):
        """module(*inputs, **kwargs)."""
        return self.module(*inputs, **kwargs)


def data_parallel(module: Module, inputs, device_ids=None, output_device=None, dim: int = 0, module_kwargs=None):
    """module(*inputs)."""
    return module(*(inputs if isinstance(inputs, tuple) else (inputs,)), **(module_kwargs or {}))
