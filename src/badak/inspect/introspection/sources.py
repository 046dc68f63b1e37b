"""Where a name is written in each layer of badak: its public API, its operations, their kernels, derivations and rows of tests.

    badak source softmax --show
    badak.source(F.softmax)

It is read from the code each time (`trace.py`), so that it is as true as the code.
"""

import ast
import inspect
from collections.abc import Iterator
from functools import cache, lru_cache
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

from badak.core.errors import ArgumentTypeError
from badak.core.i18n import say, tr
from badak.core.public_api import home, public
from badak.inspect.introspection.names import find, name_of, space
from badak.inspect.introspection.source import PACKAGE, ROOT, Place, assigned, defined, function_of, lines_of, place_of, tree_of
from badak.inspect.introspection.trace import Trace, fast_places, kernels_of, plain_place, trace_of
from badak.nn import Module
from badak.ops.op import Op
from badak.optim import Optimizer

DOCS, ROWS = ROOT / "docs" / "explanation" / "derivations", ROOT / "tests" / "sample_rows"
IS_SOURCE_TREE = PACKAGE == ROOT / "src" / "badak" and DOCS.is_dir() and ROWS.is_dir()
AWAY = "Derivations and tests stand in the source tree; this is an installed package."
WIDTH = 100


class Level(NamedTuple):
    """One line: what it is in which layer, and where it is written; no place: a word about it."""

    layer: str
    name: str
    place: Place | None = None
    note: str = ""


class Source:
    """A name in every layer: `levels`, from the API down, the public names that it is `made_of`, else a word why.

    str() is a table, `show()` the code itself in order.
    """

    def __init__(self, name: str, levels: list[Level], made_of: list[str], notes: list[str]):
        self.name, self.levels, self.made_of, self.notes = name, levels, made_of, notes

    def __repr__(self) -> str:
        width = max([20, *(len(level.name) + 2 for level in self.levels)])
        lines = [f"badak.{self.name}", ""]
        before = ""
        for level in self.levels:
            layer = "" if level.layer == before else level.layer
            before = level.layer
            lines.append(f"  {layer:<11} {level.name:<{width}} {level.place or ''}".rstrip())
            lines += [f"  {'':<11}   {level.note}"] if level.note else []
        return "\n".join([*lines, *self._words()])

    def _words(self) -> list[str]:
        lines = [""] if self.made_of or self.notes else []
        if self.made_of:
            names, line = [], ""
            for name in self.made_of:
                if len(line) + len(name) > WIDTH:
                    names.append(line.rstrip())
                    line = ""
                line += f"{name}, "
            made = "\n    ".join([*names, line.rstrip(", ")])
            own = any(level.layer == "op" for level in self.levels)
            lines.append(f"  {say('and may call') if own else say('made of')}\n    {made}")
        return lines + [f"  {say(note)}" for note in self.notes]

    def show(self, colour: bool = False) -> str:
        """The code of every layer, in order; colour: highlighted for a terminal, where the package pygments is there."""
        parts = [str(self)]
        for level, place in self._codes():
            heading = f"── {level.layer}: {level.name} ── {place} "
            text = _coloured(place.code(), place.path.suffix) if colour else place.code()
            parts.append(f"{heading}{'─' * max(0, WIDTH - len(heading))}\n{text}")
        return "\n\n".join(parts)

    def _codes(self) -> Iterator[tuple[Level, Place]]:
        """The levels that have code of their own, and where, without what stands in one that was shown."""
        shown: list[Place] = []
        for level in self.levels:
            place = level.place
            if place is None or any(p.path == place.path and p.first <= place.first <= place.last <= p.last for p in shown):
                continue
            shown.append(place)
            yield level, place

    def _repr_html_(self) -> str:
        rows = tr("").join(
            f"<tr><td>{escape(level.layer)}</td><td>{escape(level.name)}</td><td>{escape(str(level.place or ''))}</td></tr>"
            for level in self.levels
        )
        codes = "".join(
            f"<details><summary>{escape(level.layer)}: <b>{escape(level.name)}</b> {escape(str(place))}</summary>"
            f"{_coloured(place.code(), place.path.suffix, html=True)}</details>"
            for level, place in self._codes()
        )
        words = "".join(f"<p>{escape(line.strip())}</p>" for line in self._words() if line)
        return f"<h4>badak.{escape(self.name)}</h4><table>{rows}</table>{words}{codes}"


def _coloured(code: str, suffix: str, html: bool = False) -> str:
    """Code with the colours of a terminal, or as HTML that needs no style sheet; as it is where there is no pygments."""
    try:
        from pygments import formatters, highlight, lexers
    except ImportError:
        return f"<pre>{escape(code)}</pre>" if html else code
    lexer = lexers.MarkdownLexer() if suffix == ".md" else lexers.PythonLexer()
    made = highlight(code, lexer, formatters.HtmlFormatter(noclasses=True) if html else formatters.TerminalFormatter())
    return made if html else made.rstrip("\n")


def source_of(thing: Any) -> Source:
    """What is written where of a function, a method, a class, an object of one, or of a public name given as a text."""
    if isinstance(thing, str):
        name, thing, others = find(thing)
    else:
        if not (callable(thing) or isinstance(thing, Module | Optimizer)):
            raise ArgumentTypeError(
                tr("source: {} is no function", type(thing).__name__), 'badak.source(F.softmax), or badak.source("softmax")'
            )
        if isinstance(thing, Module | Optimizer):
            thing = type(thing)
        if isinstance(thing, type) and issubclass(thing, Op):
            return Source(thing.__name__, [*_op(thing)], [], [] if IS_SOURCE_TREE else [AWAY])
        name, others = name_of(thing)
    levels = [Level("api", name, _public(name, thing), tr("also {}", ", ".join(others)) if others else "")]
    trace = trace_of(thing)
    while not trace.ops and not trace.kernels and len(trace.made_of) == 1:  # another name for the same
        name_below, below = trace.made_of[0], space(trace.made_of[0])
        levels.append(Level("api", name_below, _public(name_below, below)))
        trace = trace_of(below)
    levels += [*_below(thing, trace)]
    computes = not isinstance(thing, type) or (not issubclass(thing, BaseException) and getattr(thing, "UPDATE", None) is None)
    made_of = trace.made_of if computes else []
    return Source(name, [*dict.fromkeys(levels)], made_of, _notes(name, thing, trace, levels))


def source(thing: Any) -> Source:
    """Where a function, a class or a public name is written in each layer of badak: badak.source(F.softmax).

    A public name may be a string: badak.source("softmax"). PyTorch has no such function.

    Args:
        thing: a function, a class, or a public name

    Returns: a `Source`: str() is a table, `show()` the code

    Example:
        >>> "ops/" in str(badak.source("softmax"))
        True
    """
    return source_of(thing)


def _below(thing: Any, trace: Trace) -> Iterator[Level]:
    """The levels under the API."""
    update = getattr(thing, "UPDATE", None)
    if isinstance(thing, type) and issubclass(thing, Optimizer) and update is not None:
        yield Level("update", update.name, place_of(update.function))
    yield from _kernels(trace.kernels)
    for op in trace.ops:
        yield from _op(op)


def _op(op: type[Op]) -> Iterator[Level]:
    """An operation: its class, its two directions, and what computes them."""
    formula = (inspect.getdoc(op) or "").strip().split("\n")[0]
    yield Level("op", op.__name__, place_of(op), formula)
    names: list[str] = []
    for direction in ("forward", "backward"):
        if function_of(getattr(op, direction)) is function_of(getattr(Op, direction)):
            continue
        yield Level(direction, f"{op.__name__}.{direction}", place_of(getattr(op, direction)))
        found = kernels_of(op, direction)  # type: ignore[arg-type]
        names += [name for name in found.kernels if name not in names]
    yield from _kernels(names)
    if not names:
        ways = [kernels_of(op, way) for way in ("forward", "backward")]  # type: ignore[arg-type]
        numpy = list(dict.fromkeys(name for way in ways for name in way.numpy))
        yield Level("kernel", f"NumPy itself{': ' + ', '.join(numpy) if numpy else ''}")
    if IS_SOURCE_TREE:
        yield from _derivations(names)
        yield from _rows(op)  # type: ignore[arg-type]


def _kernels(names: list[str]) -> Iterator[Level]:
    for name in names:
        yield Level("reference", name, plain_place(name))
    for name in names:
        places = fast_places(name)
        yield from (Level("numba", each, place) for each, place in places)
        if not places:
            yield Level("numba", f"{name}: the reference one")


def _derivations(names: list[str]) -> Iterator[Level]:
    """The pages that are called as a kernel, or as the file of one."""
    called = {name.removesuffix("_backward") for name in names}
    files = {place.path.stem for name in names if (place := plain_place(name))}
    for page in sorted(DOCS.glob("*.md")):
        if page.stem in called | files:
            yield Level("derivation", page.stem, Place(page, 1, len(lines_of(page))))


@cache
def _rows(op: type[Op]) -> list[Level]:
    """The rows of tests/sample_rows that are about an operation."""
    found = []
    if getattr(op, "samples", None) is not None:
        found.append(Level("tests", f"row {op.__name__}", place_of(op), tr("in its declaration")))
    for path, name, first, last in _samples():
        if name == op.__name__:
            found.append(Level("tests", f"row {name}", Place(path, first, last)))
    for path, lines in _mentions().items():
        if not found and op.__name__ in lines:
            found.append(Level("tests", f"row {op.__name__}", Place(path, lines[op.__name__], lines[op.__name__])))
    return found or [Level("tests", "no row of its own: tested through the names that use it")]


@lru_cache(maxsize=1)
def _samples() -> list[tuple[Path, str, int, int]]:
    """(file, operation, first line, last line) of every `Sample(Operation, ...)` in the tests."""
    return [
        (path, _last(node.args[0]), node.lineno, node.end_lineno or node.lineno)
        for path in sorted(ROWS.glob("*.py"))
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.Call) and node.args and _last(node.func) == "Sample"
    ]


@lru_cache(maxsize=1)
def _mentions() -> dict[Path, dict[str, int]]:
    """File -> name -> the line where the tests first use it, for rows that a table of names makes."""
    found: dict[Path, dict[str, int]] = {}
    for path in sorted(ROWS.glob("*.py")):
        lines = found.setdefault(path, {})
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.Name) and node.id[0].isupper():
                lines[node.id] = min(node.lineno, lines.get(node.id, node.lineno))
    return found


def _last(node: ast.AST) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def _public(name: str, thing: Any) -> Place | None:
    """Where a public name is given its meaning: `exp = float_function(...)` rather than the inside of what makes such functions."""
    last = name.rpartition(".")[2]
    function = None if isinstance(thing, type) else function_of(thing)
    if function is not None and function.__name__ == function.__code__.co_name:
        return place_of(thing)
    for entry, file, other in public.listed("both", "functions", "methods"):
        path = PACKAGE / f"{file.replace('.', '/')}.py"
        if entry == last and path.is_file() and assigned(path, other):
            return assigned(path, other)
    if function is not None:
        path = PACKAGE.parent / f"{home(function).replace('.', '/')}.py"
        return (defined(path, last) if path.is_file() else None) or place_of(function)
    return place_of(thing)


def _notes(name: str, thing: Any, trace: Trace, levels: list[Level]) -> list[str]:
    notes: list[str] = []
    if not callable(thing):
        notes.append(tr("A value ({}), not a function: nothing is computed.", type(thing).__name__))
    elif isinstance(thing, type) and issubclass(thing, BaseException):
        notes.append(tr("An exception: nothing is computed."))
    elif not trace.ops and not trace.kernels and not trace.made_of:
        notes.append(tr("Plain Python: no operation and no kernel stands below it."))
    elif not trace.ops and not trace.kernels:
        notes.append(tr("It has no operation of its own: its gradient is that of the names that it is made of."))
    if levels[0].place is None and callable(thing):
        notes.append(tr("It is not written in badak: {} has it.", home(thing) or type(thing).__module__))
    return notes if IS_SOURCE_TREE else [*notes, AWAY]
