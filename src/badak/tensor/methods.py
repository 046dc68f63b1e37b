"""Gives Tensor its methods: the operators, those that `naming/public.py` lists, and in-place twins of functions."""

from badak.naming import public
from badak.tensor.inplace_ops import swap_shape, twin
from badak.tensor.operators import OPERATORS
from badak.tensor.tensor import Tensor

METHODS = OPERATORS | public.methods()
for _name, _file, _ in public.listed("in_place", "in_place_both"):
    _make = swap_shape if _file == "tensor.shape" else twin
    METHODS[_name] = _make(public.found(_file, _name[:-1]), _name)

for _name, _function in METHODS.items():
    setattr(Tensor, _name, _function)
