"""Write the stubs of what is bound from the table of public names: `python tools/stubs.py [--check]`.

Editors and type checkers read these `.pyi` files in place of the modules next to them: `badak/__init__.pyi`,
`badak/tensor/__init__.pyi` (functions), `badak/tensor/interface.pyi` (what Tensor has from the table, and its fields), and those of
the modules whose functions follow from rows or come in families.
"""

import ast
import inspect
import sys
import types
import typing
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from badak.core.public_api import public
from badak.core.public_api.table import PLACES
from badak.nn import grad
from badak.nn.functional import conv, images, lp_pooling, pooling
from badak.tensor import Tensor, fft, pointwise, reductions
from badak.tensor.methods import METHODS

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "badak"
DECLARED = (pointwise, reductions, fft, grad, conv, images, lp_pooling, pooling)
HEAD = "# Written by tools/stubs.py from core/public_api/public.py; a test keeps it true.\n# ruff: noqa\n"
PLAIN = {
    int: "_int", float: "_float", bool: "_bool", complex: "_complex", str: "str", tuple: "tuple", list: "list", dict: "dict",
    type(None): "None", np.ndarray: "np.ndarray", Sequence: "Sequence", Callable: "Callable",
}  # fmt: skip
GENERIC = (Sequence, tuple, list)
IMPORTS = """from builtins import bool as _bool, complex as _complex, float as _float, int as _int
from collections.abc import Callable, Sequence
"""
METHODS_HEAD = """from typing import Any, ClassVar

import numpy as np

from badak.autograd.node import Leaf, Node, Version
from badak.tensor import dtypes
from badak.tensor.tensor import Tensor

class Methods:
"""


def type_text(annotation: Any) -> str:
    """An annotation as a stub writes it; Any for what it has no word for."""
    parts = [each for each in typing.get_args(annotation) if each is not ...]
    if typing.get_origin(annotation) in (types.UnionType, typing.Union):
        return " | ".join(map(type_text, parts))
    if typing.get_origin(annotation) in GENERIC:
        several = ", ..." if ... in typing.get_args(annotation) else ""
        return f"{typing.get_origin(annotation).__name__}[{', '.join(map(type_text, parts))}{several}]"
    if annotation in (Tensor, "Tensor"):
        return "Tensor"
    if getattr(annotation, "__module__", "") == "badak.tensor.dtypes":
        return f"dtypes.{annotation.__name__}"
    return PLAIN.get(annotation, "None" if annotation is None else "Any")


def default_text(value: Any) -> str:
    """A default value as a stub writes it."""
    return repr(value) if value is None or type(value) in (int, float, bool, str, tuple) and value == value else "..."


def parameter_text(parameter: inspect.Parameter) -> str:
    """One parameter with its type and default."""
    text = parameter.name
    if parameter.annotation is not parameter.empty:
        text += f": {type_text(parameter.annotation)}"
    if parameter.default is not parameter.empty:
        equals = "=" if parameter.annotation is parameter.empty else " = "
        text += equals + default_text(parameter.default)
    return {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "") + text


def definition(name: str, function: Callable[..., Any], returns: str | None = None, method: bool = True) -> list[str]:
    """`def name(...) -> ...` with the first line of the docstring."""
    signature = inspect.signature(function)
    parameters = list(signature.parameters.values())
    if method:
        parameters[0] = parameters[0].replace(name="self", annotation=inspect.Parameter.empty, default=inspect.Parameter.empty)
    texts, named_only = [], False
    for parameter in parameters:
        if parameter.kind is parameter.VAR_POSITIONAL:
            named_only = True
        elif parameter.kind is parameter.KEYWORD_ONLY and not named_only:
            texts.append("*")
            named_only = True
        texts.append(parameter_text(parameter))
    made = returns or ("Any" if signature.return_annotation is signature.empty else type_text(signature.return_annotation))
    ignore = "  # type: ignore[override]" if name in ("__eq__", "__ne__") else ""
    return [f"def {name}({', '.join(texts)}) -> {made}:{ignore}", *docstring(function)]


def docstring(thing: object) -> list[str]:
    """The first line of a docstring as the body of a definition."""
    line = (inspect.getdoc(thing) or "").split("\n")[0]
    return [f"    {line!r}" if '"' in line or "\\" in line else f'    """{line}"""'] if line else ["    ..."]


def method_lines() -> Iterable[str]:
    """The definitions of the class Methods."""
    made_of = {name: (file, other) for name, file, other in public.listed("in_place", "in_place_both")}
    for name, method in sorted(METHODS.items()):
        if isinstance(method, property):
            annotation = inspect.signature(method.fget).return_annotation
            yield "@property"
            yield f"def {name}(self) -> {'Tensor' if annotation is inspect.Signature.empty else type_text(annotation)}:"
            yield from docstring(method)
        elif name in made_of:
            file, other = made_of[name]
            original = definition(name, public.found(file, other.removesuffix("_")), "Tensor")[0]
            yield from (original, *docstring(method))
        else:
            yield from definition(name, method, "Tensor" if name.startswith("__") and name[2:5] not in ("set", "del") else None)


def fields() -> Iterable[str]:
    """The annotated fields of Tensor, and the signatures of the methods that stand next to them."""
    tree = ast.parse((PACKAGE / "tensor" / "tensor.py").read_text(encoding="utf-8"))
    body = next(node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == "Tensor").body
    for node in body:
        if isinstance(node, ast.AnnAssign):
            yield f"{ast.unparse(node.target)}: {ast.unparse(node.annotation)}"


def methods_stub() -> str:
    """interface.pyi."""
    of = ["@classmethod", "def _of(cls, array: np.ndarray, kind: Any = None) -> Tensor: ...", "@classmethod"]
    of.append("def _like_meta(cls, description: np.ndarray, kind: Any = None) -> Tensor: ...")
    return HEAD + IMPORTS + METHODS_HEAD + "".join(f"    {line}\n" for line in (*fields(), *of, *method_lines()))


def exported(other: str, name: str) -> str:
    """What follows `import` where a stub gives `other` on as `name`: only `x as x` counts as given on."""
    return f"{name} as {name}" if name == other else f"{other} as _{name}_\n{name} = _{name}_"


def functions_stub(room: str, more: str) -> str:
    """The stub of a package that binds functions from the table."""
    lines = [HEAD + IMPORTS + "from typing import Any\n", more]
    for name, file, other in public.listed("both", "functions", room=room):
        if file == "tensor.tensor.Tensor":
            lines += definition(name, getattr(Tensor, name), method=False)
        else:
            lines.append(f"from {file if file == 'math' else f'badak.{file}'} import {exported(other, name)}")
    for name, *_ in public.listed("in_place_both", room=room):
        lines += [
            f"def {name}(input: Tensor, *args: Any, **options: Any) -> Tensor:",
            *docstring(getattr(Tensor, name)),
        ]
    return "\n".join(lines) + "\n"


def package_imports(package: Path) -> str:
    """The imports that a package file writes out itself, and, of badak, what `core/public_api/table.py` brings from elsewhere."""
    tree = ast.parse((package / "__init__.py").read_text(encoding="utf-8"))
    lines = [
        f"from {node.module} import {exported(each.name, each.asname)}"
        for node in tree.body
        for each in getattr(node, "names", ())
        if isinstance(node, ast.ImportFrom) and not each.asname.startswith("_")
    ]
    if package == PACKAGE:
        written = {name for name, *_ in public.listed("both", "functions")}
        for ours, theirs in PLACES.items():
            (module, _, name), theirs_name = theirs.rpartition("."), ours.partition(".")[2]
            if "." not in theirs_name and theirs_name not in written and theirs != "badak.tensor":  # in a stub that is the function
                lines.append(f"from {module} import {exported(name, theirs_name)}")
        lines.append("__version__: str\nnewaxis: None")
    return "\n".join(lines)


def declared_stub(module: types.ModuleType) -> str:
    """The stub of a module whose functions follow from rows or come in families, with those that help them."""
    head = HEAD + IMPORTS + "from typing import Any\n\nfrom badak.tensor import dtypes\nfrom badak.tensor.tensor import Tensor\n"
    tables = [name for name in ("FUNCTIONS", "SPECIAL") if hasattr(module, name)]
    lines = [head, *(f"{name}: dict[str, Callable[..., Tensor]]" for name in tables)]
    if hasattr(module, "__all__"):
        lines.append(f"__all__ = {module.__all__}")
    for name, function in (vars(module) | getattr(module, "FUNCTIONS", {})).items():
        if name[0] != "_" and inspect.isfunction(function) and inspect.unwrap(function).__code__.co_filename == module.__file__:
            lines += definition(name, function, method=False)
    return "\n".join(lines) + "\n"


def stubs() -> dict[Path, str]:
    """Every stub and its text."""
    return {
        PACKAGE / "__init__.pyi": functions_stub("", package_imports(PACKAGE)),
        PACKAGE / "tensor" / "__init__.pyi": functions_stub("tensor.", package_imports(PACKAGE / "tensor")),
        PACKAGE / "tensor" / "interface.pyi": methods_stub(),
        **{Path(str(module.__file__)).with_suffix(".pyi"): declared_stub(module) for module in DECLARED},
    }


if __name__ == "__main__":
    old = [path for path, text in stubs().items() if not path.exists() or path.read_text(encoding="utf-8") != text]
    if "--check" in sys.argv:
        sys.exit(f"out of date: {', '.join(path.name for path in old)}: python tools/stubs.py" if old else 0)
    for path, text in stubs().items():
        path.write_text(text, encoding="utf-8")
