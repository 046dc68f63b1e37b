"""What DistributedDataParallel may do with a bucket of gradients in place of its own sum."""

from badak.face.distributed.algorithms.ddp_comm_hooks import default_hooks as default_hooks
from badak.naming import door as _door

__getattr__ = _door("badak.distributed.algorithms.ddp_comm_hooks")
