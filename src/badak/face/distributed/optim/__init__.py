"""`torch.distributed.optim`: optimizers whose memory lies on several ranks."""

from badak.face.distributed.optim.zero_redundancy_optimizer import ZeroRedundancyOptimizer as ZeroRedundancyOptimizer
from badak.naming import door as _door

__getattr__ = _door("badak.distributed.optim")
