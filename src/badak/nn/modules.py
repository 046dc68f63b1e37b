"""PyTorch's places for the layers: badak.nn.modules.Linear and badak.nn.modules.linear.Linear are badak.nn.Linear."""

from badak.core.public_api import door as _door

__getattr__, __dir__ = _door(__name__, "badak.nn")
