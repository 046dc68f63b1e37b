"""`torch.distributed.algorithms`: what is done around the sums of gradients."""

from badak.face.distributed.algorithms import ddp_comm_hooks as ddp_comm_hooks
from badak.naming import door as _door

__getattr__ = _door("badak.distributed.algorithms")
