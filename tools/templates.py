"""Every text of badak for people, read from its source: templates with holes, `target[{0}] = {1} but ...`.

Read are what errors and warnings are made of, what `say(...)` is given, and what the command line shows as help. An
expression is followed through names, parameters, conditions, sums and calls until it comes to literals; what it cannot
say beforehand is a hole, and literals that may fill a hole are texts of their own, parts.
"""

import ast
import itertools
import re
import string
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from badak.inspect.introspection.error_codes import situations

SOURCE = Path(__file__).resolve().parent.parent / "src" / "badak"
MOST = 8  # alternatives of one text that are written out; beyond that, a hole
DEEP = 6  # names followed to find a literal

# Calls that keep or show a text: which arguments, by place or name. Errors and their subclasses are found by themselves.
ERROR = (0, 1, "cause", "fix")
CALLS: dict[str, tuple] = {
    "warn_once": (1, 2, "cause", "fix"),
    "expect": (3, "fix"),
    "mend": (0, "fix"),
    "say": (0,),
    "remark": (1,),
    "complain": (0, 1),
    "Finding": (2, 3, "cause", "fix", "between"),
    "Begin": (1, "between"),
    "found": (1, 2),
    "note": (0,),
    "notes": (0,),
    "append to notes": (0,),
    "NotApplicable": (0,),
    "Kind": (1,),
    "Audit": (3,),
    "append to why": (0,),
    "append to problems": (0,),
    "echo": (0,),
    "log": (0,),
    "tell": (0,),
    "_say": (0, 1),
    "to_stderr": (0,),
    "write_text": (0,),
    "Level": (3,),
    "option": ("help",),
    "Option": ("help",),
}
# Functions that give a tuple of texts, and where they stand in it.
RETURNS = {"_complaint": (0, 1), "describe_unregistered": (0, 1), "_inside": (0, 1), "_prefix": (0, 1), "_vocabulary": (0, 1)}
# Functions of names and values that commands print in rows, and of a line that they print.
FACTS = {"training": ("evaluate", "describe"), "cli": ("about_machine",), "kernels": ("info", "describe")}
LINES = {"training": ("describe", "held_out", "weights_of", "_progress", "_best")}
# Constants that are shown later, and whether their single words count.
TABLES = {"HEADS": True, "SITUATIONS": True, "COMMANDS": False, "SECTIONS": True, "TITLES": True, "MEANINGS": True, "title": True}
TABLES |= {"KIND_WORDS": True, "FIGURES": False}
TEMPLATES = {"WORDS_OF_CLICK"}  # constants that are templates already


@dataclass(frozen=True)
class Hole:
    """What only a run can say; `source` is the expression."""

    source: str
    short: bool = False  # may be left out of a translation: an "s", an article


Parts = tuple  # of str and Hole


@dataclass
class Text:
    """One text: where it is said, and what stands in its holes."""

    template: str
    room: str
    part: bool
    files: set[str] = field(default_factory=set)
    holes: tuple[str, ...] = ()
    optional: tuple[int, ...] = ()  # holes that a translation may leave out


class Module:
    """A file: its tree, and what surrounds each node."""

    def __init__(self, path: Path, root: Path):
        self.name = path.relative_to(root).as_posix()
        first = path.relative_to(root).parts[0]
        self.room = first if first != path.name else "base"
        self.tree = ast.parse(path.read_text(encoding="utf-8"))
        self.nodes: list[ast.AST] = [self.tree]
        self.above: dict[ast.AST, ast.AST] = {}
        for node in self.nodes:  # which grows as it is read
            for child in ast.iter_child_nodes(node):
                self.above[child] = node
                self.nodes.append(child)

    def functions_around(self, node: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
        while node in self.above:
            node = self.above[node]
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield node


class Reader:
    """Reads a package; `texts` maps (is a part, template) to what is known of it."""

    def __init__(self, root: Path = SOURCE):
        self.modules = [Module(path, root) for path in sorted(root.rglob("*.py"))]
        self.texts: dict[tuple[bool, str], Text] = {}
        self.functions: dict[str, list[tuple[Module, ast.FunctionDef]]] = {}
        self.calls: dict[str, list[tuple[Module, ast.Call]]] = {}
        self.constants: dict[str, list[tuple[Module, ast.expr]]] = {}
        self._known: dict[tuple[ast.AST, bool], list[Parts]] = {}
        self._assigned: dict[ast.AST, dict[str, list[ast.expr]]] = {}
        bases: dict[str, set[str]] = {}
        for module in self.modules:
            for node in module.nodes:
                if isinstance(node, ast.FunctionDef):
                    self.functions.setdefault(node.name, []).append((module, node))
                elif isinstance(node, ast.Call):
                    self.calls.setdefault(called(node), []).append((module, node))
                elif isinstance(node, ast.ClassDef):
                    bases[node.name] = {name_of(base) for base in node.bases}
                elif isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
                    self._note_constant(module, node)
        self.errors = {"BadakError", "BadakWarning"}
        while more := {name for name, above in bases.items() if above & self.errors} - self.errors:
            self.errors |= more

    def _note_constant(self, module: Module, node: ast.Assign | ast.AnnAssign) -> None:
        if not isinstance(module.above.get(node), ast.Module | ast.ClassDef):
            return
        for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
            if isinstance(target, ast.Name):
                self.constants.setdefault(target.id, []).append((module, node.value))

    def read(self) -> dict[tuple[bool, str], Text]:
        self._keep_tables()
        self._keep_facts()
        self._keep_page()
        for name, calls in list(self.calls.items()):
            asked = ERROR if name in self.errors else CALLS.get(name)
            for module, call in calls if asked else []:
                if module.name == "core/errors.py" and not isinstance(call.args[0], ast.JoinedStr):  # it passes on what others say
                    continue
                for value in arguments(call, asked):
                    self.keep(module, value, words=name not in self.errors)
        for module in self.modules:
            if module.room == "cli":
                self._keep_help(module)
            self._keep_metadata(module)
        return self.texts

    def _keep_help(self, module: Module) -> None:
        """The docstrings of commands, paragraph by paragraph."""
        for node in module.nodes:
            if isinstance(node, ast.FunctionDef) and any("command" in ast.unparse(d) or "group" in ast.unparse(d)
                                                         for d in node.decorator_list):  # fmt: skip
                for paragraph in (ast.get_docstring(node) or "").split("\n\n"):
                    self._add(module, (" ".join(paragraph.split()),), False)

    def _keep_facts(self) -> None:
        """The keys and values of dicts that commands show, and lines that functions give them."""
        for module, function in self._named(FACTS):
            for node in ast.walk(function):
                if isinstance(node, ast.Dict):
                    for key, value in zip(node.keys, node.values):
                        if isinstance(key, ast.Constant) and isinstance(key.value, str):
                            self.keep(module, ast.Constant(key.value.replace("_", " ")))
                            self.keep(module, value, words=False)
                elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript):
                    self.keep(module, node.targets[0].slice)
        for module, function in self._named(LINES):
            for node in ast.walk(function):
                if isinstance(node, ast.Return) and node.value is not None:
                    self.keep(module, node.value, words=False)

    def _named(self, functions: dict[str, tuple[str, ...]]) -> Iterator[tuple[Module, ast.FunctionDef]]:
        """The functions of these names, each in its package."""
        for room, names in functions.items():
            yield from (each for name in names for each in self.functions.get(name, []) if each[0].room == room)

    def _keep_tables(self) -> None:
        for name, words in TABLES.items():
            for module, value in self.constants.get(name, []):
                self.keep(module, value, words)
        for name, places in RETURNS.items():
            for module, function in self.functions.get(name, []):
                for node in ast.walk(function):
                    if isinstance(node, ast.Return) and isinstance(node.value, ast.Tuple):
                        for place in places:
                            self.keep(module, node.value.elts[place], False)
        for name in TEMPLATES:
            for module, value in self.constants.get(name, []):
                for each in value.elts:  # type: ignore[attr-defined]
                    self._add(module, raw(each.value), False)

    def _keep_metadata(self, module: Module) -> None:
        """What --help says: help=..., the unit, the headings; of a field its second argument, option(default, help)."""
        for node in module.nodes:
            if isinstance(node, ast.Call):
                for word in node.keywords:
                    if word.arg in ("help", "unit", "epilog", "short_help", "section"):
                        self.keep(module, word.value)
                of_field = isinstance(node.func, ast.Name) and node.func.id == "option"
                if (of_field or called(node) in ("options_of", "section")) and node.args:
                    self.keep(module, node.args[min(1, len(node.args) - 1)])

    def _keep_page(self) -> None:
        """What `badak explain` shows: the words of docs/reference/errors.md, and what diagnoses say of themselves."""
        for module in self.modules:
            for node in module.nodes if module.name.startswith("inspect/doctor/diagnoses/") else []:
                if isinstance(node, ast.ClassDef) and (text := ast.get_docstring(node)):
                    self._add(module, (" ".join(text.split()),), False)
        owner = next((module for module in self.modules if module.name == "inspect/introspection/error_codes.py"), None)
        for one in situations() if owner else []:
            for paragraph in ("" if kind else text for kind, text in one.parts):
                for each in filter(None, paragraph.split("\n\n")):
                    self._add(owner, (re.sub(r"\[(.*?)\]\(.*?\)", r"\1", " ".join(each.split())),), False)  # type: ignore

    def keep(self, module: Module, node: ast.expr, words: bool = True) -> None:
        """Keep what an expression says; without `words`, a single word is a name that was followed too far."""
        for found in self.follow(module, node, False):
            if words or isinstance(node, ast.Constant) or any(" " in piece for piece in found if isinstance(piece, str)):
                self._add(module, found, False)

    def _add(self, module: Module, found: Parts, part: bool) -> None:
        template, holes = written(found)
        fixed = "".join(piece for piece in found if isinstance(piece, str))
        if not any(letter.isalpha() for letter in fixed) or is_code(found):
            return
        if holes and sum(map(str.isalpha, fixed)) < 3:
            return
        text = self.texts.setdefault((part, template), Text(template, module.room, part))
        text.files.add(module.name)
        text.holes = tuple(hole.source for hole in holes)
        text.optional = tuple(i for i, hole in enumerate(holes) if hole.short)

    def follow(self, module: Module, node: ast.expr, part: bool, depth: int = 0) -> list[Parts]:
        """The alternatives of a text; none where the expression leads to no literal, or to itself."""
        if (node, part) not in self._known:
            self._known[node, part] = []
            self._known[node, part] = [] if depth > DEEP else list(dict.fromkeys(self._followed(module, node, part, depth)))
        return self._known[node, part]

    def _followed(self, module: Module, node: ast.expr, part: bool, depth: int) -> list[Parts]:
        if isinstance(node, ast.Constant):
            return [(node.value,)] if isinstance(node.value, str) and node.value else []
        ways = {
            ast.JoinedStr: self._joined,
            ast.BinOp: self._sum,
            ast.Name: self._name,
            ast.Call: self._call,
            ast.Subscript: self._subscript,
            ast.Attribute: self._attribute,
        }
        if isinstance(node, ast.IfExp):
            return self._all(module, [node.body, node.orelse], part, depth)
        if isinstance(node, ast.BoolOp):
            return self._all(module, node.values, part, depth)
        if isinstance(node, ast.List | ast.Tuple | ast.Set):
            return self._all(module, node.elts, part, depth)
        if isinstance(node, ast.Dict):
            return self._all(module, node.values, part, depth)
        if isinstance(node, ast.GeneratorExp | ast.ListComp):
            return self.follow(module, node.elt, part, depth + 1)
        if isinstance(node, ast.Starred | ast.NamedExpr | ast.Await):
            return self.follow(module, node.value, part, depth + 1)
        way = ways.get(type(node))
        return way(module, node, part, depth) if way else []

    def _all(self, module: Module, nodes: list[ast.expr], part: bool, depth: int) -> list[Parts]:
        return [found for node in nodes for found in self.follow(module, node, part, depth + 1)]

    def _joined(self, module: Module, node: ast.JoinedStr, part: bool, depth: int) -> list[Parts]:
        pieces = []
        for value in node.values:
            if isinstance(value, ast.Constant):
                pieces.append([(value.value,)])
            else:
                pieces.append(self._hole(module, value.value, depth))  # type: ignore[attr-defined]
        return product(pieces)

    def _hole(self, module: Module, node: ast.expr, depth: int) -> list[Parts]:
        """What an expression within a text becomes: the one literal that it can be, else a hole, its literals kept as parts."""
        if isinstance(node, ast.Attribute) or (isinstance(node, ast.Call) and called(node) == "say"):  # which says it itself
            return [(Hole(ast.unparse(node)),)]
        found = self.follow(module, node, True, depth + 1)
        plain = not isinstance(node, ast.Call | ast.Subscript | ast.GeneratorExp)
        if len(found) == 1 and plain and not self._may_be_other(module, node):
            return found
        lengths = [len("".join(p if isinstance(p, str) else "xxxx" for p in each)) for each in found]
        short = bool(found) and max(lengths) <= 3 and all(isinstance(p, str) for each in found for p in each)
        if not short:
            chosen = [node.body, node.orelse] if isinstance(node, ast.IfExp) else []
            words = {each.value for each in chosen if isinstance(each, ast.Constant)}
            for each in found:  # single words are names, but for those that a condition chooses here
                if any(isinstance(p, str) and (" " in p or p in words) for p in each):
                    self._add(module, each, True)
        return [(Hole(ast.unparse(node), short),)]

    def _may_be_other(self, module: Module, node: ast.expr) -> bool:
        """Whether the only literal found is one of several values: a parameter, or a condition with an empty branch."""
        if not isinstance(node, ast.Name):
            return not isinstance(node, ast.Constant | ast.JoinedStr)
        if any(node.id in parameters(function) for function in module.functions_around(node)):
            return True
        values = self._values(module, node)
        return len(values) != 1 or isinstance(values[0][1], ast.IfExp | ast.BoolOp | ast.Call | ast.Subscript)

    def _sum(self, module: Module, node: ast.BinOp, part: bool, depth: int) -> list[Parts]:
        if not isinstance(node.op, ast.Add):
            return self.follow(module, node.left, part, depth + 1) if isinstance(node.op, ast.Mult) else []
        sides = []
        for side in (node.left, node.right):
            found = self.follow(module, side, part, depth + 1) or [(Hole(ast.unparse(side)),)]
            if isinstance(side, ast.IfExp | ast.BoolOp) and any(is_empty(each) for each in ast.walk(side)):
                found = [*found, ()]
            sides.append(found)
        return product(sides) if any(isinstance(p, str) for side in sides for each in side for p in each) else []

    def _values(self, module: Module, node: ast.Name) -> list[tuple[Module, ast.expr]]:
        """What is assigned to a name: in the function around, in the file, or where it is imported from."""
        for function in module.functions_around(node):
            if function not in self._assigned:
                self._assigned[function] = assigned(function)
            found = self._assigned[function].get(node.id)
            if found:
                return [(module, value) for value in found]
            if node.id in parameters(function):
                return self._given(function, node.id)
        constants = self.constants.get(node.id, [])
        own = [(owner, value) for owner, value in constants if owner is module]
        return own or (constants if len(constants) == 1 or node.id.isupper() else [])

    def _given(self, function: ast.FunctionDef | ast.AsyncFunctionDef, name: str) -> list[tuple[Module, ast.expr]]:
        """What callers pass for a parameter, and its default."""
        names = parameters(function)
        place = names.index(name) - (names[:1] in (["self"], ["cls"]))
        found = []
        callee = function.name
        for module, call in self.calls.get(callee, []) if callee != "__init__" else []:
            found += [(module, value) for value in arguments(call, (place, name))]
        return found

    def _name(self, module: Module, node: ast.Name, part: bool, depth: int) -> list[Parts]:
        return [found for owner, value in self._values(module, node) for found in self.follow(owner, value, part, depth + 1)]

    def _call(self, module: Module, node: ast.Call, part: bool, depth: int) -> list[Parts]:
        name = called(node)
        if name == "join" and node.args:
            return self.follow(module, node.args[0], True, depth + 1) if part else self._join(module, node, depth)
        if name in ("sorted", "list", "tuple", "values", "say", "capitalize", "strip") and (node.args or name == "values"):
            return self.follow(module, node.args[0] if node.args else node.func.value, part, depth + 1)  # type: ignore
        if name == "get" and isinstance(node.func, ast.Attribute):
            return self.follow(module, node.func.value, part, depth + 1) + self._all(module, node.args[1:], part, depth)
        written_here = self.functions.get(name, [])
        if len(written_here) > 3:
            return []
        returns = [(owner, each.value) for owner, function in written_here for each in ast.walk(function)
                   if isinstance(each, ast.Return) and each.value is not None]  # fmt: skip
        return [found for owner, value in returns for found in self.follow(owner, value, part, depth + 1)]

    def _join(self, module: Module, node: ast.Call, depth: int) -> list[Parts]:
        """Lines or pieces of a whole text: each is a text of its own."""
        for each in self.follow(module, node.args[0], False, depth + 1):
            self._add(module, each, False)
        return []

    def _subscript(self, module: Module, node: ast.Subscript, part: bool, depth: int) -> list[Parts]:
        if isinstance(node.slice, ast.Slice) or not isinstance(node.value, ast.Name | ast.Dict | ast.Tuple | ast.List):
            return []
        if isinstance(node.value, ast.Name):
            values = [value for _, value in self._values(module, node.value)]
            if not values or not all(isinstance(value, ast.Dict | ast.Tuple | ast.List) for value in values):
                return []
        return self.follow(module, node.value, part, depth + 1)

    def _attribute(self, module: Module, node: ast.Attribute, part: bool, depth: int) -> list[Parts]:
        return [found for owner, value in self.constants.get(node.attr, [])
                for found in self.follow(owner, value, part, depth + 1)]  # fmt: skip


def raw(template: str) -> Parts:
    """The parts of what is a template already."""
    pieces = []
    for text, name, _, _ in string.Formatter().parse(template):
        pieces += [text] if name is None else [text, Hole(f"click {name}")]
    return tuple(pieces)


def called(call: ast.Call) -> str:
    """The name of what is called; "append to notes" of `subject.notes.append(...)`, "say of seen" of another's say."""
    name = name_of(call.func)
    if name == "say" and isinstance(call.func, ast.Attribute) and name_of(call.func.value) != "language":
        return f"say of {name_of(call.func.value)}"
    return f"append to {name_of(call.func.value)}" if name == "append" else name  # type: ignore[attr-defined]


def name_of(node: ast.AST) -> str:
    return getattr(node, "id", getattr(node, "attr", ""))


def is_empty(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and node.value in ("", None)


def arguments(call: ast.Call, asked: tuple) -> Iterator[ast.expr]:
    """The arguments of a call at the places and of the names that are asked for."""
    for place, value in enumerate(call.args):
        if place in asked:
            yield value
    for word in call.keywords:
        if word.arg in asked:
            yield word.value


def parameters(function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[str]:
    each = function.args
    return [one.arg for one in (*each.posonlyargs, *each.args, *each.kwonlyargs)]


def assigned(function: ast.AST) -> dict[str, list[ast.expr]]:
    """name: what is assigned to it within a function, also in tuples and in `for what, text in ((1, "..."), ...)`."""
    found: dict[str, list[ast.expr]] = {}
    for node in ast.walk(function):
        if isinstance(node, ast.Assign):
            pairs = [(target, node.value) for target in node.targets]
        elif isinstance(node, ast.AnnAssign | ast.NamedExpr | ast.AugAssign):
            pairs = [(node.target, node.value)] if node.value is not None else []
        elif isinstance(node, ast.For) and isinstance(node.iter, ast.Tuple | ast.List):
            pairs = [(node.target, row) for row in node.iter.elts]
        else:
            continue
        for target, value in pairs:
            for name, each in named(target, value):
                found.setdefault(name, []).append(each)
    return found


def named(target: ast.expr, value: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    """The names of a target, each with its part of the value."""
    if isinstance(target, ast.Name):
        yield target.id, value
    elif isinstance(target, ast.Tuple):
        for row in [value.body, value.orelse] if isinstance(value, ast.IfExp) else [value]:
            if isinstance(row, ast.Tuple) and len(row.elts) == len(target.elts):
                yield from ((name_of(each), part) for each, part in zip(target.elts, row.elts))


def product(pieces: list[list[Parts]]) -> list[Parts]:
    """Every way to say a text whose pieces have alternatives; too many become holes."""
    count = 1
    for i, piece in enumerate(pieces):
        count *= len(piece)
        if count > MOST:
            pieces[i], count = [(Hole("..."),)], count // len(piece)
    return [tuple(itertools.chain(*each)) for each in itertools.product(*pieces)]


def merged(found: Parts) -> list[str | Hole]:
    """Neighbours joined: literals into one, holes that touch into one."""
    out: list[str | Hole] = []
    for piece in found:
        if out and isinstance(piece, str) and isinstance(out[-1], str):
            out[-1] += piece
        elif out and isinstance(piece, Hole) and isinstance(out[-1], Hole):
            out[-1] = Hole(out[-1].source + " " + piece.source, out[-1].short and piece.short)
        elif piece != "":
            out.append(piece)
    return out


def written(found: Parts) -> tuple[str, list[Hole]]:
    """The template, holes numbered, braces doubled; and the holes."""
    text, holes = "", []
    for piece in merged(found):
        if isinstance(piece, Hole):
            text += f"{{{len(holes)}}}"
            holes.append(piece)
        else:
            text += piece.replace("{", "{{").replace("}", "}}")
    return text, holes


def is_code(found: Parts) -> bool:
    """Whether a text is nothing but Python, `x.float()`, which is the same in every language."""
    text = "".join(piece if isinstance(piece, str) else "a1" for piece in merged(found))
    try:
        tree = ast.parse(text.strip())
    except (SyntaxError, ValueError):
        return False
    prose = (ast.BoolOp, ast.In, ast.NotIn, ast.Is, ast.IsNot, ast.Not, ast.JoinedStr)
    kinds = (ast.Call, ast.Attribute, ast.Assign, ast.Subscript, ast.Compare)
    nodes = list(ast.walk(tree))
    return any(isinstance(node, kinds) for node in nodes) and not any(isinstance(node, prose) for node in nodes)
