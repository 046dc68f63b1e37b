"""torch.compile and its neighbours: badak's kernels are compiled already, so a model or function is taken as it is."""

from collections.abc import Callable
from contextlib import contextmanager


def compile(  # noqa: A001  (PyTorch's name)
    model: Callable | None = None,
    *,
    fullgraph: bool = False,
    dynamic: bool | None = None,
    backend: str | Callable = "inductor",
    mode: str | None = None,
    options: dict | None = None,
    disable: bool = False,
):
    """The model or function itself; without one, a decorator that gives back what it decorates."""
    return _itself if model is None else model


def _itself(thing):
    return thing


def disable(fn=None, recursive: bool = True, **options):
    """The function itself, or such a decorator."""
    return _itself if fn is None else fn


def is_compiling() -> bool:
    """False."""
    return False


is_dynamo_compiling = is_exporting = is_compiling


def reset() -> None:
    """Nothing was compiled, nothing is forgotten."""


def cudagraph_mark_step_begin() -> None:
    """There are no CUDA graphs."""


def list_backends(*args) -> list[str]:
    """The empty list."""
    return []


@contextmanager
def set_stance(*args, **kwargs):
    """A block in which things are compiled otherwise: not at all, as everywhere."""
    yield


allow_in_graph = assume_constant_result = _itself
