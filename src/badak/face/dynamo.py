"""`torch._dynamo`, `torch._inductor`, `torch._functorch`: settings of a compiler that badak does not have are accepted."""

from badak.face.compiler import allow_in_graph as allow_in_graph
from badak.face.compiler import disable as disable
from badak.face.compiler import is_compiling as is_compiling
from badak.face.compiler import reset as reset


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


mark_static = maybe_mark_dynamic = graph_break = mark_dynamic
