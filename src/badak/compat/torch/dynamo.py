"""`torch._dynamo`, `_inductor`, `_functorch`, `_logging`: settings of a compiler that badak does not have are accepted."""

from typing import NoReturn

from badak.compat.torch.compiler import allow_in_graph as allow_in_graph
from badak.compat.torch.compiler import assume_constant_result as assume_constant_result
from badak.compat.torch.compiler import disable as disable
from badak.compat.torch.compiler import is_compiling as is_compiling
from badak.compat.torch.compiler import reset as reset
from badak.core.errors import NotSupportedError
from badak.core.public_api.door import Namespace
from badak.nn import Module


class Settings:
    """Takes any setting and remembers it; a group of settings that was never set is another such object."""

    def __getattr__(self, name: str) -> "Settings":
        if name.startswith("__"):
            raise AttributeError(name)
        made = Settings()
        setattr(self, name, made)
        return made


config = Settings()


def optimize(*args, **kwargs):
    """A decorator that gives back what it decorates."""
    return lambda thing: thing


def mark_dynamic(*args, **kwargs) -> None:
    """Nothing is compiled for a shape."""


mark_static = mark_static_address = maybe_mark_dynamic = mark_unbacked = graph_break = mark_dynamic


def set_logs(**levels) -> None:
    """Nothing is logged: `step.fallback_reason` says why a step was not replayed."""


def list_backends(exclude_tags=("debug", "experimental")) -> list[str]:
    """What torch.compile can be told; badak has one compiler, of PyTorch's usual name."""
    return ["inductor"]


class OptimizedModule(Module):
    """What PyTorch's compiler makes of a module; badak's gives back the module itself, so nothing is one."""

    def __new__(cls, *args, **kwargs) -> NoReturn:
        raise NotSupportedError("OptimizedModule: badak's compile gives back the module itself", "badak.compile(model)")


class Unsupported(NotSupportedError):
    """PyTorch's error of a program that cannot be traced. badak never raises it."""


eval_frame = Namespace(OptimizedModule=OptimizedModule)
exc = Namespace(Unsupported=Unsupported)
