"""The text of a program: the file that was started, and the modules of its own that it has imported. Each is parsed once."""

import ast
import linecache
import os
import re
import sys
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

from badak.core.errors import PACKAGE

FILES, LINES = 32, 6000  # that are read, at most
CELL = re.compile(r"# (In\[[\d ]*\]|%%)")  # where a notebook that was written as a program begins a cell
LIBRARIES = f"{os.sep}site-packages{os.sep}"


class Source(NamedTuple):
    """One file of a program."""

    name: str  # as a place has it: "train.py"
    text: str
    tree: ast.Module


@lru_cache(maxsize=FILES)
def parsed(path: str, text: str) -> Source | None:
    """A file; None where its text is none of Python."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return None
    ends = [at for at, line in enumerate(text.splitlines(), 1) if CELL.match(line)]
    for here, after in zip(tree.body, [*(x.lineno for x in tree.body[1:]), len(text)]) if ends else ():
        here._shown = any((here.end_lineno or 0) < at < after for at in ends) or here is tree.body[-1]  # type: ignore[attr-defined]
    return Source(os.path.basename(path), text, tree)


def paths() -> tuple[str, ...]:
    """The file that was started, and those of the modules that were imported from its folder."""
    main = sys.argv[0] if sys.argv[0].endswith(".py") else ""
    return _paths(main, len(sys.modules)) if main else ()


@lru_cache(maxsize=4)
def _paths(main: str, count: int) -> tuple[str, ...]:
    """The same, asked again where other modules are there."""
    folder = os.path.dirname(os.path.abspath(main)) + os.sep
    files = [(getattr(module, "__dict__", None) or {}).get("__file__") or "" for module in list(sys.modules.values())]
    others = [os.path.abspath(file) for file in files if isinstance(file, str) and file.endswith(".py")]
    own = [file for file in others if file.startswith(folder) and LIBRARIES not in file and not file.startswith(PACKAGE)]
    return main, *list(dict.fromkeys(file for file in own if file != os.path.abspath(main)))[: FILES - 1]


def files() -> Iterator[tuple[str, str]]:
    """(path, text) of the files of the program, that which was started first."""
    left = LINES
    for path in paths():
        lines = linecache.getlines(path)
        left -= len(lines)
        if lines and (left > 0 or path == sys.argv[0]):
            yield path, "".join(lines)


def sources() -> list[Source]:
    """The files of the program; nothing where that which was started is not to be had."""
    found = [parsed(path, text) for path, text in files()]
    return [each for each in found if each is not None] if found[:1] != [None] else []


def own_text() -> str:
    """The text of all of them."""
    return "".join(each.text for each in sources())


def trees() -> list[ast.Module]:
    return [each.tree for each in sources()]


def walk(node: ast.AST | list[Any]) -> list[Any]:
    """The nodes below one, itself first, or of a block of lines, as ast.walk gives them; kept there, for many rules ask."""
    if isinstance(node, list):
        return [x for line in node for x in walk(line)]
    known = node.__dict__.get("_below")
    if known is None:
        known = node._below = list(ast.walk(node))  # type: ignore[attr-defined]
    return known


def shown(node: ast.AST) -> bool:
    """Whether a line is the last of the cell of a notebook, which shows what it gives."""
    return bool(node.__dict__.get("_shown"))


def unparse(node: ast.AST) -> str:
    """The text of a node; kept at the node, too."""
    known = node.__dict__.get("_text")
    if known is None:
        known = node._text = ast.unparse(node)  # type: ignore[attr-defined]
    return known


def named_line(place: str) -> str:
    """The text of a line of the program, "file.py:12"; "" where it is not to be had."""
    file, _, number = place.rpartition(":")
    lines = next((each.text.splitlines() for each in sources() if each.name == file), [])
    return lines[int(number) - 1] if 0 < int(number or 0) <= len(lines) else ""


def is_ours(kind: type) -> bool:
    """Whether a class stands in the text of the program."""
    file = getattr(sys.modules.get(kind.__module__), "__file__", None) or ""
    return kind.__module__ == "__main__" or os.path.abspath(file) in paths()


def function_at(place: str) -> ast.FunctionDef | None:
    """The innermost function that a line of the program, "file.py:12", stands in."""
    file, _, number = place.rpartition(":")
    line = int(number) if number.isdigit() else 0
    every = [x for each in sources() if each.name == file for x in walk(each.tree) if isinstance(x, ast.FunctionDef)]
    return max((x for x in every if x.lineno <= line <= (x.end_lineno or 0)), key=lambda x: x.lineno, default=None)
