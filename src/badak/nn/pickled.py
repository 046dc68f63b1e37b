"""What badak.save and badak.load have to know of this package: how a Parameter is written and made, and how a Module is."""

from collections import OrderedDict
from types import FunctionType
from typing import Any

from badak.io import allowed, limits, pickler, program
from badak.io.unpickler import Name, anything, derived, exactly
from badak.nn import functional
from badak.nn.members import HOOKS, MEMBERS
from badak.nn.module import Module
from badak.nn.parameter import Parameter
from badak.tensor import Tensor, elementwise, pointwise

MAX_HEIGHT = 100  # modules within modules
TABLES = (dict, OrderedDict)
KINDS = {"_parameters": Parameter, "_buffers": Tensor, "_modules": Module}


def _rebuild_parameter(data: Tensor, requires_grad: bool = True, hooks: Any = None, state: Any = None) -> Parameter:
    made = Parameter(data, requires_grad)
    allowed.give_attributes(made, state)
    return made


def _fill(made: Module, attributes: dict[str, Any], built: dict[int, Any]) -> None:
    """Give a module of a file its attributes; its tables are checked and copied, since the file could still change them.

    A child must have its own state already: so a module cannot contain itself.
    """
    if id(made) in built:
        raise ValueError("a module that is given its state twice")
    if any(type(attributes.get(name, {})) not in TABLES or attributes.get(name) for name in HOOKS):
        raise ValueError("a module with hooks, which badak takes from no file")
    tables = {name: _table(attributes.get(name, {}), KINDS[name]) for name in MEMBERS}
    buffers = attributes.get("_non_persistent_buffers_set", set())
    training = attributes.get("training", True)
    if type(buffers) is not set or not all(type(name) is str for name in buffers) or type(training) is not bool:
        raise ValueError("a module whose buffers or mode are none")
    children = [child for child in tables["_modules"].values() if child is not None]
    if any(id(child) not in built for child in children):
        raise ValueError("a module that contains itself, or one that is not finished")
    height = 1 + max((built[id(child)][0] for child in children), default=0)
    if height > MAX_HEIGHT:
        raise ValueError(f"modules nested deeper than {MAX_HEIGHT}")
    Module.__init__(made)
    own = {name: value for name, value in attributes.items() if name not in HOOKS}
    made.__dict__.update({**own, **tables, "_non_persistent_buffers_set": set(buffers), "training": training})
    built[id(made)] = height, made


def _hooked(module: Module) -> tuple[str, str] | None:
    if any(vars(module).get(name) for name in HOOKS):
        return "is a module with hooks, which badak takes from no file", "save a state_dict, or remove the hooks first"
    return None


def _table(table: Any, kind: type) -> dict[str, Any]:
    """A copy of a table of members, after checking that it is one."""
    plain = type(table) in TABLES and all(type(name) is str and name and "." not in name for name in table)
    if not plain or not all(value is None or isinstance(value, kind) for value in table.values()):
        raise ValueError(f"a module's table of {kind.__name__}s that is none")
    return dict(table)


def _public_functions(package: Any) -> list[Any]:
    return [thing for name, thing in vars(package).items() if type(thing) is FunctionType and not name.startswith("_")]


pickler.WRAPPED[Parameter] = "torch._utils._rebuild_parameter"
for _name in ("torch._utils._rebuild_parameter", "torch._utils._rebuild_parameter_with_state"):
    allowed.define(Name(_name, _rebuild_parameter, derived(Tensor), exactly(bool), anything, anything, needs=1))
allowed.define(Name("torch.nn.parameter.Parameter", Parameter, derived(Tensor), exactly(bool), needs=1, value=Parameter))
limits.KEYS.add(Parameter)
pickler.CHECKS[Module] = _hooked
program.trust(Module, _fill)
program.hand_over([*_public_functions(functional), *_public_functions(elementwise), *pointwise.FUNCTIONS.values()])
