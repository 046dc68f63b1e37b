"""Where functions and classes are written: files, lines, syntax trees."""

import ast
import inspect
import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from textwrap import dedent
from types import FunctionType, MethodType
from typing import Any, NamedTuple

PACKAGE = Path(__file__).resolve().parents[2]  # the folder badak
ROOT = PACKAGE.parents[1]  # of a source tree: what holds src, tests and docs


class Place(NamedTuple):
    """Lines of a file, from 1 and both inclusive."""

    path: Path
    first: int
    last: int

    def __str__(self) -> str:
        here = Path(os.path.relpath(self.path)) if self.path.is_relative_to(Path.cwd()) else self.path
        return f"{here}:{self.first}"

    def code(self) -> str:
        """The text of these lines, moved to the left."""
        return dedent("\n".join(lines_of(self.path)[self.first - 1 : self.last]))


@cache
def lines_of(path: Path) -> list[str]:
    """The lines of a file."""
    return path.read_text(encoding="utf-8").splitlines()


@cache
def tree_of(path: Path) -> ast.Module:
    """The syntax tree of a file."""
    return ast.parse("\n".join(lines_of(path)))


@cache
def _definitions(path: Path) -> dict[int, ast.AST]:
    """The functions and lambdas of a file, by the line where each begins, decorators included."""
    found: dict[int, ast.AST] = {}
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            found[min([node.lineno, *(each.lineno for each in node.decorator_list)])] = node
        elif isinstance(node, ast.Lambda):
            found.setdefault(node.lineno, node)
    return found


def inside(path: str | Path) -> bool:
    """Whether a file is one of badak's."""
    return Path(path).is_relative_to(PACKAGE)


def function_of(thing: Any) -> FunctionType | None:
    """The Python function below decorators, descriptors and bound methods; None where there is none."""
    while True:
        if isinstance(thing, staticmethod | classmethod | MethodType):
            thing = thing.__func__
        elif isinstance(thing, property):
            thing = thing.fget
        elif hasattr(thing, "__wrapped__") and not isinstance(thing, type):
            thing = inspect.unwrap(thing)
        elif hasattr(thing, "func") and hasattr(thing, "keywords"):  # functools.partial
            thing = thing.func
        else:
            return thing if isinstance(thing, FunctionType) else None


def node_of(function: FunctionType) -> ast.AST | None:
    """The syntax tree of a function of badak."""
    path = Path(function.__code__.co_filename)
    return _definitions(path).get(function.__code__.co_firstlineno) if inside(path) else None


def place_of(thing: Any) -> Place | None:
    """Where a function or a class of badak is written."""
    if isinstance(thing, type):
        path = _file_of(thing)
        if path is None:
            return None
        made = (_place(path, node) for name, node in _walk_classes(tree_of(path)) if name == thing.__qualname__)
        return next(made, None) or assigned(path, thing.__qualname__)  # Sin = pointwise(...)
    function = function_of(thing)
    node = function and node_of(function)
    return _place(Path(function.__code__.co_filename), node) if function and node else None


def assigned(path: Path, name: str) -> Place | None:
    """Where a file says `name = ...` or imports it under that name."""
    for node in tree_of(path).body:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        names = [each.id for target in targets for each in ast.walk(target) if isinstance(each, ast.Name)]
        if name in names:
            return _place(path, node)
    return None


def defined(path: Path, name: str) -> Place | None:
    """Where a file defines a function or class at its top level, or assigns the name."""
    for node in tree_of(path).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name == name:
            return _place(path, node)
    return assigned(path, name)


def _place(path: Path, node: Any) -> Place:
    first = min([node.lineno, *(each.lineno for each in getattr(node, "decorator_list", ()))])
    return Place(path, first, node.end_lineno)


def _file_of(cls: type) -> Path | None:
    try:
        path = Path(inspect.getfile(cls))
    except (TypeError, OSError):
        return None
    return path if inside(path) else None


def _walk_classes(node: ast.AST, prefix: str = "") -> Iterator[tuple[str, ast.ClassDef]]:
    """(qualified name, node) of every class of a tree."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ClassDef):
            yield f"{prefix}{child.name}", child
            yield from _walk_classes(child, f"{prefix}{child.name}.")
        elif isinstance(child, ast.FunctionDef):
            yield from _walk_classes(child, f"{prefix}{child.name}.<locals>.")
        else:
            yield from _walk_classes(child, prefix)
