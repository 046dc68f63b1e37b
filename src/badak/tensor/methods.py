"""Gives Tensor its methods: the operators, those that `core/public_api/public.py` lists, and in-place twins of functions."""

from types import FunctionType

from badak.core.public_api import guarded, guarded_operator, public
from badak.tensor import pointwise as _pointwise  # noqa: F401  (its rows are in the table of names)
from badak.tensor import reductions as _reductions  # noqa: F401  (as well)
from badak.tensor.history import History
from badak.tensor.inplace_ops import swap_shape, twin
from badak.tensor.operators import OPERATORS
from badak.tensor.properties import About
from badak.tensor.tensor import Tensor
from badak.tensor.values import Values

METHODS = OPERATORS | public.methods()
for _name, _file, _ in public.listed("in_place", "in_place_both"):
    _make = swap_shape if _file == "tensor.shape" or _name == "as_strided_" else twin
    METHODS[_name] = _make(public.found(_file, _name[:-1]), _name)

_OWN = {name: method for base in (History, About, Values) for name, method in vars(base).items() if name[0] != "_"}

for _name, _method in [*_OWN.items(), *METHODS.items()]:
    if type(_method) is FunctionType:
        _method = (guarded_operator if _name[:2] == "__" else guarded)(_method, "badak.Tensor", _name)
    elif isinstance(_method, property) and _method.fget and _name in METHODS:  # x.T and its kin, which compute
        _method = property(guarded(_method.fget, "badak.Tensor", _name), _method.fset, doc=_method.__doc__)
    setattr(Tensor, _name, _method)
