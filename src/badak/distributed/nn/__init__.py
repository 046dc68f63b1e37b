"""`torch.distributed.nn`: collectives that gradients go through."""

from badak.core.public_api import door as _door
from badak.distributed.nn import functional as functional

__getattr__, __dir__ = _door("badak.distributed.nn", like="badak.distributed.nn.functional")
