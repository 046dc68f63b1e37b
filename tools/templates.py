"""Every text of badak for people, read from its source: templates with holes, `target[{0}] = {1} but ...`.

Read are what `tr(...)` and `say(...)` are given, the constants in a call that raises or prints, and what the command line shows
as help. A sum, `tr(...) + ("..." if more else "")`, is one text for each way it can end.
"""

import ast
import itertools
import re
import string
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from badak.inspect.introspection.error_codes import situations

SOURCE = Path(__file__).resolve().parent.parent / "src" / "badak"
MOST = 8  # ways of one sum that are written out

MARKS = ("tr", "say", "message")
# Calls whose arguments may be constants of ours: at which places, of which names. Errors are found by themselves.
ERROR = (0, 1, "cause", "fix")
CALLS: dict[str, tuple] = {
    "warn_once": (1, 2, "cause", "fix"),
    "expect": (2, 3, "rule", "fix"),
    "expect_kind": (3,),
    "mend": (0, "fix"),
    "echo": (0,),
    "option": (1,),
    "options_of": (1,),
    "section": (0,),
}
HELP = ("help", "unit", "epilog", "short_help", "section")  # what any call names so
# Constants that are shown later, and whether their single words count.
TABLES = {"HEADS": True, "COMMANDS": False, "SECTIONS": True, "TITLES": True, "MEANINGS": True, "title": True}
TABLES |= {"KIND_WORDS": True, "FIGURES": False}
FACTS = {"training": ("evaluate", "describe"), "cli": ("about_machine",), "kernels": ("info", "describe")}  # keys of dicts

Parts = tuple  # of str and Hole


@dataclass(frozen=True)
class Hole:
    """What only a run can say; `source` is the expression."""

    source: str
    short: bool = False  # may be left out of a translation: an "s", an article


@dataclass
class Text:
    """One text: where it is said, and what stands in its holes."""

    template: str
    room: str
    files: set[str] = field(default_factory=set)
    holes: tuple[Hole, ...] = ()

    @property
    def optional(self) -> set[int]:
        """Holes that a translation may leave out."""
        return {i for i, hole in enumerate(self.holes) if hole.short}


def read(root: Path = SOURCE, errors: Iterable[str] = ("BadakError", "BadakWarning")) -> dict[str, Text]:
    """All texts of a package, by template."""
    texts: dict[str, Text] = {}
    trees = {path.relative_to(root).as_posix(): ast.parse(path.read_text(encoding="utf-8")) for path in sorted(root.rglob("*.py"))}
    errors = with_subclasses(errors, trees.values())
    for name, tree in trees.items():
        for _, found in found_in(name, tree, errors):
            template, holes = written(found)
            if is_said(found):
                room = name.partition("/")[0] if "/" in name else "base"
                text = texts.setdefault(template, Text(template, room, holes=holes))
                text.files.add(name)
    return texts


def with_subclasses(names: Iterable[str], trees: Iterable[ast.Module]) -> set[str]:
    """The names of classes, and of those that derive from them."""
    classes = [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    found = set(names)
    while more := {node.name for node in classes if found & {name_of(base) for base in node.bases}} - found:
        found |= more
    return found


def found_in(name: str, tree: ast.Module, errors: set[str]) -> Iterator[tuple[ast.AST | None, Parts]]:
    """(where, text) of all that a file says."""
    nodes, taken = list(ast.walk(tree)), set()
    sums = [node for node in nodes if is_sum(node) and any(is_mark(each) for each in leaves(node))]
    unmarked = [each for node in nodes for each in constants(node, errors, name)]
    for node in [*sums, *unmarked, *filter(is_mark, nodes)]:
        if node not in taken:
            taken |= {each for each in ast.walk(node) if is_sum(each)} | set(leaves(node))
            for part in [node] if ways(node) else leaves(node):
                yield from ((part, found) for found in ways(part))
    for node in nodes:
        yield from ((None, (" ".join(part.split()),)) for part in documented(name, node).split("\n\n"))
    if name == "inspect/introspection/error_codes.py":  # what `badak explain` shows: the words of docs/reference/errors.md
        for paragraph in (text for one in situations() for kind, text in [("", one.name), *one.parts] if not kind):
            for each in paragraph.split("\n\n"):
                yield None, (re.sub(r"\[(.*?)\]\(.*?\)", r"\1", " ".join(each.split())),)


def constants(node: ast.AST, errors: set[str], name: str) -> Iterator[ast.expr]:
    """The expressions in which a constant is a text of ours, though nothing marks it."""
    if isinstance(node, ast.Call):
        called = name_of(node.func)
        places = ERROR if called in errors else CALLS.get(called, ())
        if called in ("option", "expect") and isinstance(node.func, ast.Attribute):  # others
            places = ()
        yield from (value for place, value in enumerate(node.args) if place in places)
        if called == "expect_kind":
            kind = ast.parse(f"type({ast.unparse(node.args[0])}).__name__", mode="eval").body
            yield ast.Call(ast.Name("tr"), [node.args[2], *node.args[4:], kind])
        yield from (word.value for word in node.keywords if word.arg in places or word.arg in HELP)
    elif isinstance(node, ast.Module | ast.ClassDef):
        for each in node.body:
            if isinstance(each, ast.Assign | ast.AnnAssign) and each.value is not None:
                target = name_of(each.targets[0] if isinstance(each, ast.Assign) else each.target)
                keys = {key for one in ast.walk(each.value) if isinstance(one, ast.Dict) for key in one.keys}
                texts = [one for one in ast.walk(each.value) if isinstance(one, ast.Constant) and isinstance(one.value, str)]
                if target in TABLES:
                    yield from (one for one in texts if one not in keys and (TABLES[target] or " " in one.value))
                elif target == "WORDS_OF_CLICK":  # templates
                    yield from (ast.Call(ast.Name("tr"), [one, ast.Name("a"), ast.Name("b")]) for one in texts)
    elif isinstance(node, ast.FunctionDef) and (words := words_of(node)) is not None:  # a rule of the doctor's
        values = next((x.value.elts[2:] for x in ast.walk(node) if isinstance(x, ast.Yield) and isinstance(x.value, ast.Tuple)), [])
        yield ast.Call(ast.Name("tr"), [words, *values])
    elif isinstance(node, ast.FunctionDef) and node.name in FACTS.get(name.partition("/")[0], ()):
        keys = [key for each in ast.walk(node) if isinstance(each, ast.Dict) for key in each.keys]
        keys += [each.slice for each in ast.walk(node) if isinstance(each, ast.Subscript) and isinstance(each.ctx, ast.Store)]
        found = (key.value for key in keys if isinstance(key, ast.Constant) and isinstance(key.value, str))
        yield from (ast.Constant(key.replace("_", " ")) for key in found)


def words_of(function: ast.FunctionDef) -> ast.expr | None:
    """What `@rule(kind, words)` says of what the function yields: (line, fix, what stands in the holes ...)."""
    calls = (each for each in function.decorator_list if isinstance(each, ast.Call) and name_of(each.func) == "rule")
    return next((each.args[1] for each in calls if len(each.args) > 1), None)


def documented(name: str, node: ast.AST) -> str:
    """The docstring of a command, or of a diagnosis."""
    is_command = name.startswith("cli/") and isinstance(node, ast.FunctionDef) and any(
        word in ast.unparse(each) for each in node.decorator_list for word in ("command", "group"))  # fmt: skip
    is_diagnosis = name.startswith("inspect/doctor/diagnoses/") and isinstance(node, ast.ClassDef)
    text = (is_command or is_diagnosis) and ast.get_docstring(node) or ""  # type: ignore[arg-type]
    return " ".join(text.split()) if is_diagnosis else text


def ways(node: ast.AST) -> list[Parts]:
    """What an expression can say; nothing where it is a sum of which a piece is unknown, or that has too many ways."""
    if isinstance(node, ast.Constant):
        return [(node.value,)] if isinstance(node.value, str) else []
    if is_mark(node):
        return marked(node)  # type: ignore[arg-type]
    if is_sum(node):
        left, right = ways(node.left), ways(node.right)  # type: ignore[attr-defined]
        many = len(left) * len(right) > MOST or any(is_mark(each, ("say",)) for each in leaves(node))
        return [] if many else [(*a, *b) for a, b in itertools.product(left, right)]
    branches = {
        ast.IfExp: ("body", "orelse"),
        ast.BoolOp: ("values",),
        ast.Dict: ("values",),
        ast.Tuple: ("elts",),
        ast.List: ("elts",),
    }
    found = [getattr(node, name) for name in branches.get(type(node), ())]
    return [way for each in found for one in (each if isinstance(each, list) else [each]) for way in ways(one)]


def marked(call: ast.Call) -> list[Parts]:
    """Of `tr("{0} of {1}", a, b)`."""
    template, *values = call.args
    if not values or not isinstance(template, ast.Constant):
        return ways(template)
    pieces: list = []
    left = iter(values)
    for text, name, _, _ in string.Formatter().parse(template.value):
        pieces += [text] if name is None else [text, hole(values[int(name)] if name else next(left))]
    return [tuple(pieces)]


def hole(node: ast.expr) -> Hole:
    """Of a value; an "s" for the plural, or another word of at most three letters, may be left out."""
    found = [each.value for each in ast.walk(node) if isinstance(each, ast.Constant) and isinstance(each.value, str)]
    short = isinstance(node, ast.IfExp | ast.BinOp) and bool(found) and max(map(len, found)) <= 3
    return Hole(ast.unparse(node), short)


def is_mark(node: ast.AST, names: tuple[str, ...] = MARKS) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names and bool(node.args)


def is_sum(node: ast.AST) -> bool:
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add)


def leaves(node: ast.AST) -> list[ast.AST]:
    """The pieces of a sum, of a condition."""
    if is_sum(node):
        return [*leaves(node.left), *leaves(node.right)]  # type: ignore[attr-defined]
    if isinstance(node, ast.IfExp):
        return [*leaves(node.body), *leaves(node.orelse)]
    return [leaf for each in node.values for leaf in leaves(each)] if isinstance(node, ast.BoolOp) else [node]


def name_of(node: ast.AST) -> str:
    return getattr(node, "id", getattr(node, "attr", ""))


def written(found: Parts) -> tuple[str, tuple[Hole, ...]]:
    """The template, holes numbered, braces doubled; and the holes."""
    text, holes = "", []
    for piece in found:
        if isinstance(piece, Hole):
            text += f"{{{len(holes)}}}"
            holes.append(piece)
        else:
            text += piece.replace("{", "{{").replace("}", "}}")
    return text, tuple(holes)


def is_said(found: Parts) -> bool:
    """Whether a text has words; nothing but Python, `x.float()`, is the same in every language."""
    words = "".join(piece for piece in found if isinstance(piece, str))
    if sum(map(str.isalpha, words)) < (3 if len(found) > 1 else 1):
        return False
    try:
        tree = ast.parse("".join(piece if isinstance(piece, str) else "a1" for piece in found).strip())
    except (SyntaxError, ValueError):
        return True
    prose = (ast.BoolOp, ast.In, ast.NotIn, ast.Is, ast.IsNot, ast.Not, ast.JoinedStr)
    kinds = (ast.Call, ast.Attribute, ast.Assign, ast.Subscript, ast.Compare)
    nodes = list(ast.walk(tree))
    return not any(isinstance(node, kinds) for node in nodes) or any(isinstance(node, prose) for node in nodes)
