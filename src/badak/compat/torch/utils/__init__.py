"""PyTorch's `utils`, as far as badak has it: the names under which programs look for the data tools."""

from badak.compat.torch.utils import data as data
from badak.core.public_api import door as _door

__getattr__, __dir__ = _door("badak.utils")
