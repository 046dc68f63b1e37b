"""Read a program before it runs: which names of torch it uses, and which of them badak has."""

import ast
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from types import ModuleType, SimpleNamespace

import badak
from badak.core.errors import FileError, tr
from badak.core.public_api import Missing, instead, names_of
from badak.tensor import Tensor

_OF_OTHERS = {name for kind in (list, dict, str, set) for name in dir(kind)}  # index, values, ...: hardly a tensor's


@dataclass(frozen=True)
class Use:
    """One name at its first place: torch.nn.Linear, the file, the line, what is missing of it, and whether in a `try`."""

    name: str
    path: str
    line: int
    missing: str | None
    tried: bool = False

    @property
    def instead(self) -> str | None:
        """What to use in its place, if there is something."""
        return instead(self.missing.removeprefix("torch.")) if self.missing else None


@dataclass
class Source:
    """One file: the names it imports, and what it uses of torch."""

    path: str
    tree: ast.Module
    names: dict[str, str] = field(default_factory=dict)  # local name: torch.<...>
    imports: list[tuple[str, int]] = field(default_factory=list)  # other modules: dotted name, level of a relative import
    tries: list[tuple[int, int]] = field(default_factory=list)


def check(path: str) -> list[Use]:
    """The names of torch in a script and in the files next to it that it imports, each at its first place."""
    found: dict[str, Use] = {}
    for source in _sources(os.path.abspath(path)):
        for name, line in _uses(source):
            tried = any(first <= line <= last for first, last in source.tries)
            found.setdefault(name, Use(name, source.path, line, _missing_part(name), tried))
    return list(found.values())


def methods(path: str) -> list[Use]:
    """Calls x.name(...) of methods that PyTorch's Tensor has and badak's has not: missing if x is a tensor."""
    found: dict[str, Use] = {}
    for source in _sources(os.path.abspath(path)):
        defined = {node.name for node in ast.walk(source.tree) if isinstance(node, ast.FunctionDef)}
        for node in ast.walk(source.tree):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
                continue
            name = node.func.attr
            if name in names_of("Tensor") - defined - _OF_OTHERS and not hasattr(Tensor, name):
                full = f"torch.Tensor.{name}"
                found.setdefault(full, Use(full, source.path, node.lineno, full))
    return list(found.values())


def _sources(path: str) -> Iterator[Source]:
    """The script, and the files of its own folder that it imports, directly or through others."""
    root, pending, seen = os.path.dirname(path), [path], set()
    while pending:
        path = pending.pop(0)
        if path in seen:
            continue
        seen.add(path)
        source = _read(path)
        yield source
        for dotted, level in source.imports:
            folder = root if level == 0 else os.path.abspath(os.path.join(path, *[".."] * level))
            pending += [file for file in _files_of(folder, dotted) if file not in seen]


def _files_of(folder: str, dotted: str) -> list[str]:
    """The files that `import dotted` reads below a folder."""
    files, parts = [], [part for part in dotted.split(".") if part]
    for i in range(1, len(parts) + 1):
        place = os.path.join(folder, *parts[:i])
        files += [file for file in (f"{place}.py", os.path.join(place, "__init__.py")) if os.path.isfile(file)]
    return files


def _read(path: str) -> Source:
    try:
        with open(path, "rb") as file:
            source = Source(path, ast.parse(file.read(), path))
    except OSError as error:
        raise FileError(tr("badak run --check: {}: {}", path[:200], error.strerror), "badak run --check SCRIPT") from error
    except (SyntaxError, ValueError) as error:
        raise FileError(tr("badak run --check: {} is not Python: {}", path[:200], error), "a Python 3 file") from error
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Import):
            _note_import(source, node)
        elif isinstance(node, ast.ImportFrom):
            _note_from(source, node)
        elif isinstance(node, ast.Try) and node.handlers:
            source.tries.append((node.body[0].lineno, node.body[-1].end_lineno or node.body[-1].lineno))
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            dotted = _dotted(node.value, source.names)
            if dotted and dotted.rpartition(".")[2].islower():  # nn = torch.nn
                source.names.setdefault(node.targets[0].id, dotted)
    return source


def _is_torch(dotted: str) -> bool:
    return dotted == "torch" or dotted.startswith("torch.")


def _note_import(source: Source, node: ast.Import) -> None:
    for alias in node.names:
        if not _is_torch(alias.name):
            source.imports.append((alias.name, 0))
        elif alias.asname:
            source.names[alias.asname] = alias.name
        else:
            source.names["torch"] = "torch"


def _note_from(source: Source, node: ast.ImportFrom) -> None:
    module = node.module or ""
    if node.level == 0 and _is_torch(module):
        for alias in node.names:
            source.names[alias.asname or alias.name] = f"{module}.{alias.name}"
    else:
        source.imports.append((module, node.level))
        source.imports += [(f"{module}.{alias.name}".lstrip("."), node.level) for alias in node.names]


def _uses(source: Source) -> Iterator[tuple[str, int]]:
    """Every import and every longest chain of attributes that begins with a name of torch."""
    inner: set[int] = set()
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names if _is_torch(alias.name))
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and _is_torch(node.module or ""):
            yield from ((f"{node.module}.{alias.name}", node.lineno) for alias in node.names if alias.name != "*")
        elif isinstance(node, ast.Attribute) and id(node) not in inner:
            part: ast.AST = node
            while isinstance(part, ast.Attribute):
                part = part.value
                inner.add(id(part))
            dotted = _dotted(node, source.names)
            if dotted:
                yield dotted, node.lineno


def _dotted(node: ast.AST, names: dict[str, str]) -> str | None:
    """torch.<...> of a chain of attributes, None where it does not begin with a name of torch."""
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name) or node.id not in names:
        return None
    return ".".join([names[node.id], *reversed(parts)])


def _missing_part(name: str) -> str | None:
    """The beginning of a name that badak does not have, None where all is there. Of a value nothing more is asked."""
    here: object = badak
    parts = name.split(".")
    for i in range(1, len(parts)):
        if i > 1 and not isinstance(here, ModuleType | type | SimpleNamespace):
            return None
        if not hasattr(here, parts[i]) or isinstance(getattr(here, parts[i]), Missing):
            return ".".join(parts[: i + 1])
        here = getattr(here, parts[i])
    return None
