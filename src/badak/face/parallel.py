"""`torch.nn.parallel`: a model on several devices. There is one, so the wrapper calls the model."""

from contextlib import contextmanager

from badak.errors import ArgumentError
from badak.face import distributed
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


class DistributedDataParallel(Module):
    """`module` under the name "module", in a group of one process: nobody's gradients have to be averaged."""

    def __init__(
        self,
        module: Module,
        device_ids=None,
        output_device=None,
        dim: int = 0,
        broadcast_buffers: bool = True,
        init_sync: bool = True,
        process_group=None,
        bucket_cap_mb=None,
        find_unused_parameters: bool = False,
        check_reduction: bool = False,
        gradient_as_bucket_view: bool = False,
        static_graph: bool = False,
        **options,
    ):
        if process_group is None and not distributed.is_initialized():
            raise ArgumentError(
                "Default process group has not been initialized, please make sure to call init_process_group.",
                "init_process_group with world_size=1, or use the model without the wrapper",
            )
        super().__init__()
        self.module, self.device_ids, self.device = module, device_ids, None
        self.require_backward_grad_sync = True

    def forward(self, *inputs, **kwargs):
        """module(*inputs, **kwargs)."""
        return self.module(*inputs, **kwargs)

    @contextmanager
    def no_sync(self):
        """A block without averaging: as everywhere."""
        yield

    def register_comm_hook(self, state, hook) -> None:
        """Accepted: nothing is sent."""


def data_parallel(module: Module, inputs, device_ids=None, output_device=None, dim: int = 0, module_kwargs=None):
    """module(*inputs)."""
    return module(*(inputs if isinstance(inputs, tuple) else (inputs,)), **(module_kwargs or {}))
