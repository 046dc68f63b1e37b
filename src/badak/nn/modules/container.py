"""PyTorch's name for badak.nn.containers."""

from badak.nn.containers import ModuleDict as ModuleDict
from badak.nn.containers import ModuleList as ModuleList
from badak.nn.containers import Sequential as Sequential
from badak.nn.parameter_containers import ParameterDict as ParameterDict
from badak.nn.parameter_containers import ParameterList as ParameterList
