"""Who asks for a name that is missing: an import, a line that Python runs to define things, or a program that uses it.

The first two get a placeholder (`missing.Missing`), so that no import ends at a name that the program may never use. So does a
function that asks whether something is of a class or a dtype that badak does not have: it is not. A `try` and `hasattr` get the
error, because there the program has something else to do.
"""

import ast
import dis
import linecache
import os
import re
from functools import cache
from inspect import CO_OPTIMIZED
from itertools import islice
from sys import _getframe
from types import FrameType

from badak.core.errors import PACKAGE, package

_FILES = {os.path.join(os.path.dirname(__file__), f"{name}.py") for name in ("door", "finder", "import_time", "missing", "table")}
_FILES.add(os.path.join(PACKAGE, "compat", "torch", "operators.py"))
_ATTRIBUTE, _IMPORT = ("LOAD_ATTR", "LOAD_METHOD"), ("IMPORT_NAME", "IMPORT_FROM")
_KIND = re.compile(r"[A-Z]\w*[a-z]|(q?u?int|bits|float|complex)\d").match  # a class, a dtype: of both, equal means the same one
_SAME = ast.Eq | ast.NotEq | ast.Is | ast.IsNot | ast.In | ast.NotIn
_Lines = list[tuple[int, int]]


def wants_placeholder() -> bool:
    """Whether the name is asked for by an import, or read as an attribute where definitions are made, and in no `try`; or by a
    question whether something is one."""
    frame = asker() if package() == "torch" else None
    if frame is None:
        return False
    instruction = dis.opname[frame.f_code.co_code[frame.f_lasti]]
    if instruction in _IMPORT:
        return not stands_in_try(frame)
    if instruction not in _ATTRIBUTE:
        return False
    return defines(frame) and not stands_in_try(frame) or is_being_imported(frame) or _is_asked_about(frame)


def _is_asked_about(frame: FrameType) -> bool:
    """Whether what is read is a class that isinstance() asks about, or a class or dtype next to ==, `is` or `in`."""
    line, last, column, end = next(islice(frame.f_code.co_positions(), frame.f_lasti // 2, None))
    return any(a <= (line, column) and (last, end) <= b for a, b in _questions(frame.f_code.co_filename))


@cache
def _questions(filename: str) -> list:
    """From where to where such classes and dtypes stand in a source file."""
    found: list = []
    for node in ast.walk(_tree(filename)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("isinstance", "issubclass"):
            found += node.args[1:]
        if isinstance(node, ast.Compare) and all(isinstance(each, _SAME) for each in node.ops):
            sides = [each for side in (node.left, *node.comparators) for each in getattr(side, "elts", [side])]
            found += [each for each in sides if isinstance(each, ast.Attribute) and _KIND(each.attr)]
    return [((each.lineno, each.col_offset), (each.end_lineno, each.end_col_offset)) for each in found]


def asker() -> FrameType | None:
    """The frame that asks: the innermost one that belongs neither to these files nor to the import system."""
    frame: FrameType | None = _getframe(1)
    while frame is not None and _is_machinery(frame):
        frame = frame.f_back
    return frame


def _is_machinery(frame: FrameType) -> bool:
    code = frame.f_code
    return "importlib" in code.co_filename or code.co_name == "find_spec" or code.co_filename in _FILES


def defines(frame: FrameType) -> bool:
    """Whether it is the body of a module or of a class, of a file: at a prompt, whoever reads a name uses it."""
    return not frame.f_code.co_flags & CO_OPTIMIZED and "__file__" in frame.f_globals


def is_being_imported(frame: FrameType | None) -> bool:
    """Whether an import waits for this frame, and no `try` on the way to it."""
    while frame is not None and "importlib" not in frame.f_code.co_filename:
        if stands_in_try(frame):
            return False
        frame = frame.f_back
    return frame is not None


def stands_in_try(frame: FrameType) -> bool:
    """Whether the line that a frame is at stands in the body of a `try` with an `except`, or in a `with suppress(...)`."""
    return _holds(_lines(frame.f_code.co_filename)[0], frame.f_lineno)


def stands_in_decorator(frame: FrameType) -> bool:
    """Whether the line that a frame is at is a decorator."""
    return _holds(_lines(frame.f_code.co_filename)[1], frame.f_lineno)


def _holds(lines: _Lines, line: int) -> bool:
    return any(first <= line <= last for first, last in lines)


def _tree(filename: str) -> ast.AST:
    """What a source file says; nothing where it cannot be read."""
    try:
        return ast.parse("".join(linecache.getlines(filename)))
    except (SyntaxError, ValueError):
        return ast.Module([], [])


@cache
def _lines(filename: str) -> tuple[_Lines, _Lines]:
    """First and last line of each guarded body, and of each decorator, of a source file."""
    guarded, decorators = [], []
    for node in ast.walk(_tree(filename)):
        if isinstance(node, ast.Try) and node.handlers or isinstance(node, ast.With) and _suppresses(node):
            guarded.append((node.body[0].lineno, node.body[-1].end_lineno or node.body[-1].lineno))
        for each in getattr(node, "decorator_list", ()):
            decorators.append((each.lineno, each.end_lineno or each.lineno))
    return guarded, decorators


def _suppresses(node: ast.With) -> bool:
    return any(ast.unparse(item.context_expr).startswith(("suppress(", "contextlib.suppress(")) for item in node.items)
