"""`torch.distributed.utils`: what libraries take from it."""

from collections.abc import Container
from typing import Any

from badak.core.public_api import door as _door
from badak.distributed.collectives import broadcast
from badak.nn import Module


def _sync_module_states(
    module: Module,
    process_group: Any,
    broadcast_bucket_size: int,
    src: int,
    params_and_buffers_to_ignore: Container[str],
    broadcast_buffers: bool = True,
) -> None:
    """Give the parameters, and the buffers, of a module the values that they have on the rank src."""
    for name, tensor in [*module.named_parameters(), *(module.named_buffers() if broadcast_buffers else ())]:
        if name not in params_and_buffers_to_ignore:
            broadcast(tensor.detach(), src, group=process_group)


__getattr__, __dir__ = _door("badak.distributed.utils")
