"""`badak launch`: several ranks of one program, watched. It does for badak what torchrun does for PyTorch."""

from badak.distributed.launch.launcher import Order as Order
from badak.distributed.launch.launcher import launch as launch
