"""PyTorch's `utils`, as far as badak has it: the names under which programs look for the data tools."""

from badak.naming import door as _door
from badak.utils import data as data

__getattr__ = _door(__name__)
