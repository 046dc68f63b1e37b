"""`torch.distributed.algorithms`: what is done around the sums of gradients."""

from badak.core.public_api import door as _door
from badak.distributed.algorithms import ddp_comm_hooks as ddp_comm_hooks

__getattr__, __dir__ = _door("badak.distributed.algorithms")
