"""`torch.utils.data._utils`: how examples become a batch, and what a worker knows, which libraries take from there."""

from badak.core.public_api import door as _door
from badak.data import collate as collate
from badak.data import workers as worker

__all__ = ["collate", "worker"]
__getattr__, __dir__ = _door("badak.utils.data._utils")
