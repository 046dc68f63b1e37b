"""What DistributedDataParallel may do with a bucket of gradients in place of its own sum."""

from badak.core.public_api import door as _door
from badak.distributed.algorithms.ddp_comm_hooks import default_hooks as default_hooks

__getattr__, __dir__ = _door("badak.distributed.algorithms.ddp_comm_hooks")
