"""`torch.distributed.optim`: optimizers whose memory lies on several ranks."""

from badak.core.public_api import door as _door
from badak.distributed.optim.zero_redundancy_optimizer import ZeroRedundancyOptimizer as ZeroRedundancyOptimizer

__getattr__, __dir__ = _door("badak.distributed.optim")
