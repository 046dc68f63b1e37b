"""Whether the Python of a run may go another way for other sizes of its inputs: the branches of a script are its meaning.

A run at three sizes shows no branch that is taken at a hundred. So the source of each function that ran is read: what decides in it
is a constant, an attribute of the module, a dtype, `x is None` and the like, or the program is kept for its sizes alone.
"""

import ast
import inspect
import sys
import textwrap
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any

_ASKS = frozenset(
    "callable dim has_torch_function has_torch_function_unary has_torch_function_variadic hasattr is_autocast_enabled is_complex "
    "is_floating_point is_grad_enabled is_scripting is_tensor is_tracing isinstance issubclass type".split()
)  # functions whose answer is the same for all sizes
_SAYS = frozenset("device dtype is_complex is_cuda is_floating_point is_sparse layout ndim requires_grad training".split())
_CHOOSE = frozenset("max min sorted".split())  # functions of numbers that decide
_DECIDE = (ast.FloorDiv, ast.Mod)


def depends_on_sizes(run: Callable[[], Any]) -> bool:
    """Whether a branch of the user's Python that runs in `run()` may depend on the sizes of its inputs."""
    found: dict[CodeType, set[str]] = {}  # a function, and its arguments that are texts, switches or None

    def watch(frame: FrameType, event: str, _: Any) -> None:
        root = frame.f_globals.get("__name__", "").split(".")[0]
        if event == "call" and root not in ("badak", "numpy") and root not in sys.stdlib_module_names - {"__main__"}:
            given = {name for name, x in frame.f_locals.items() if x is None or isinstance(x, bool | str)}
            found[frame.f_code] = found[frame.f_code] & given if frame.f_code in found else given

    before = sys.getprofile()
    sys.setprofile(watch)
    try:
        run()
    finally:
        sys.setprofile(before)
    trees = []
    for code, given in found.items():
        if (tree := _tree(code)) is None:
            return True
        trees.append((tree, code, given))
    kept = {
        node.attr
        for tree, _, _ in trees
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)
    }
    return any(not _Reader(code, given, kept).same_for_all_sizes(tree) for tree, code, given in trees)


def _tree(code: CodeType) -> ast.AST | None:
    if code.co_name.startswith("<") and code.co_name != "<lambda>":
        return ast.Pass()  # a comprehension, which is read with the function around it
    try:
        return ast.parse(textwrap.dedent(inspect.getsource(code)))
    except (OSError, TypeError, SyntaxError):
        return None


class _Reader:
    """Reads one function."""

    def __init__(self, code: CodeType, given: set[str], kept: set[str]) -> None:
        self.given, self.kept = set(given), kept
        self.local = {*code.co_varnames, *code.co_cellvars, *code.co_freevars} - {"self", "cls"}

    def same_for_all_sizes(self, tree: ast.AST) -> bool:
        """Whether all that decides in it is the same for all sizes."""
        self.given -= {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
        for node in ast.walk(tree):
            if isinstance(node, ast.If | ast.While | ast.IfExp) and not self.fixed(node.test):
                return False
            if isinstance(node, ast.comprehension) and not all(map(self.fixed, node.ifs)):
                return False
            if isinstance(node, ast.Compare | ast.BoolOp) and not self.fixed(node):
                return False
            if isinstance(node, ast.BinOp) and isinstance(node.op, _DECIDE) and not self.fixed(node):
                return False
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _CHOOSE:
                if not all(map(self.fixed, node.args)):
                    return False
            if isinstance(node, ast.Match):
                return False
        return True

    def fixed(self, a: ast.AST) -> bool:
        """Whether an expression is the same for all sizes."""
        if isinstance(a, ast.Constant):
            return True
        if isinstance(a, ast.Name):
            return a.id not in self.local or a.id in self.given
        if isinstance(a, ast.Attribute):
            return a.attr in _SAYS or a.attr not in self.kept and self.fixed(a.value)
        if isinstance(a, ast.Compare):
            sides = [a.left, *a.comparators]
            if any(isinstance(x, ast.Constant) and x.value is None for x in sides) and isinstance(a.ops[0], ast.Is | ast.IsNot):
                return True
            return all(map(self.fixed, sides))
        if isinstance(a, ast.Call):
            name = a.func.id if isinstance(a.func, ast.Name) else getattr(a.func, "attr", "")
            return name in _ASKS or name in ("bool", "len") and all(map(self.fixed, a.args))
        if isinstance(a, ast.BoolOp | ast.Tuple | ast.List | ast.Set):
            return all(map(self.fixed, a.values if isinstance(a, ast.BoolOp) else a.elts))
        if isinstance(a, ast.UnaryOp):
            return self.fixed(a.operand)
        if isinstance(a, ast.BinOp):
            return self.fixed(a.left) and self.fixed(a.right)
        return isinstance(a, ast.Subscript) and self.fixed(a.value) and self.fixed(a.slice)
