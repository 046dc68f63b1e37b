"""Nests: lists, tuples and dicts in one another."""

from collections.abc import Callable, Iterator
from typing import Any


def inside(nest: Any, kind: Any) -> Iterator[Any]:
    """What is of this kind in a nest, in order."""
    if isinstance(nest, kind):
        yield nest
    elif isinstance(nest, dict | list | tuple):
        for part in nest.values() if isinstance(nest, dict) else nest:
            yield from inside(part, kind)


def changed(nest: Any, kind: Any, change: Callable[[Any], Any]) -> Any:
    """The same nest with change(x) for each x of this kind in it."""
    if isinstance(nest, kind):
        return change(nest)
    if isinstance(nest, dict):
        return {key: changed(part, kind, change) for key, part in nest.items()}
    if not isinstance(nest, list | tuple):
        return nest
    parts = [changed(part, kind, change) for part in nest]
    return type(nest)(*parts) if hasattr(nest, "_fields") else type(nest)(parts)
