"""PyTorch's `utils`, as far as badak has it: the names under which programs look for the data tools."""

from . import data as data
