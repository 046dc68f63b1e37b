"""`torch.jit`: a program or model is taken as it is; badak neither scripts nor traces. Files of it cannot be read."""

import builtins
from types import SimpleNamespace
from typing import Any, NoReturn, Optional
from typing import Final as Final

from badak.core.errors import NotSupportedError
from badak.nn import Module


class ScriptModule(Module):
    """What scripting would make; nothing is one unless a class derives from it."""


class ScriptFunction:
    """What scripting a function would make; nothing is one."""


def script(obj, *args, **kwargs):
    """The module, class or function itself."""
    return obj


def trace(func, example_inputs=None, *args, **kwargs):
    """The module or function itself."""
    return func


def script_if_tracing(fn):
    """The function itself."""
    return fn


export = unused = interface = script_method = _script_if_tracing = _overload = _overload_method = script_if_tracing
annotations = SimpleNamespace(
    List=list, Dict=dict, Tuple=tuple, Optional=Optional, Any=Any,
    BroadcastingList1=list, BroadcastingList2=list, BroadcastingList3=list,
)  # fmt: skip


def ignore(drop=False, **kwargs):
    """The function itself, or such a decorator."""
    return drop if callable(drop) else script_if_tracing


def annotate(the_type, the_value):
    """The value."""
    return the_value


def isinstance(obj, target_type) -> bool:  # noqa: A001  (PyTorch's name)
    """Python's isinstance."""
    return builtins.isinstance(obj, target_type)


def is_scripting() -> bool:
    """False."""
    return False


is_tracing = is_scripting


def freeze(mod, *args, **kwargs):
    """The module itself."""
    return mod


optimize_for_inference = freeze


def save(m, f, *args, **kwargs) -> NoReturn:
    """Raises NotSupportedError: there is no scripted program to write."""
    raise NotSupportedError("torch.jit.save: badak does not write TorchScript", "save model.state_dict()")


def load(f, *args, **kwargs) -> NoReturn:
    """Raises NotSupportedError: such a file holds a program, which badak does not run."""
    raise NotSupportedError("torch.jit.load: badak does not run TorchScript", "save the state_dict with PyTorch and load that")


def fork(func, *args, **kwargs):
    """Call the function now; `wait` gives its result."""
    return func(*args, **kwargs)


def wait(future):
    """The result of `fork`."""
    return future
