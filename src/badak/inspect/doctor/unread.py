"""What a line of a forward computes, and nobody reads."""

import ast
import re
from typing import Any

from badak.core.errors import tr
from badak.inspect.doctor.source import unparse, walk
from badak.inspect.doctor.syntax import find
from badak.inspect.doctor.told import Found, rule
from badak.tensor.tensor import Tensor

LOSS = re.compile(r"loss|criterion|entropy|nll|mse|bce", re.IGNORECASE)
TERM = re.compile(r"loss|criterion|penalty|(^|_)(kld?|dice|reg|aux|bce|mse|nll)(_|$)|divergence", re.IGNORECASE)
READ_IT = tr("read it in the next line, or leave it out")


@rule("unread")
def never_read(function: ast.FunctionDef) -> Found:
    """What a line of a forward computes gets a name that is not read before it is given something else, or the end."""
    grown = {id(node.target) for node in find(function, ast.AugAssign)}  # in place
    names = find(function, ast.Name)
    reads = [node for node in names if isinstance(node.ctx, ast.Load) or id(node) in grown]
    for block in (getattr(node, "body", None) for node in walk(function)):
        for i, line in enumerate(block if isinstance(block, list) else ()):
            if not isinstance(line, ast.Assign) or len(line.targets) != 1 or not isinstance(line.targets[0], ast.Name):
                continue
            name, calls = line.targets[0].id, isinstance(line.value, ast.Call)
            last = getattr(function.body[-1], "end_lineno", 0) if block is function.body else 0  # no loop comes back to it
            end = line.end_lineno or 0, line.end_col_offset or 0
            later = (x for x in reads if x.id == name and (x.lineno, x.col_offset) > end)
            if isinstance(line.value, ast.BinOp) and last and not any(later):
                yield line, READ_IT, tr("{} is computed, and nobody reads it", name)
            lost = calls and not name.startswith("_") and not asks_alone(line.value) and not for_show(function, line.value)
            if not lost or any(isinstance(node, ast.Lambda) for node in walk(line.value)):
                continue
            rest = [node for later in block[i + 1 :] for node in mentions(later, name)]  # type: ignore[index]
            over = bool(rest) and rest[0] == "Store"
            if over or not any(node.id == name for node in reads):
                yield (
                    line,
                    READ_IT,
                    (
                        tr("{} is computed, and not read before it is given something else", name)
                        if over
                        else tr("{} is computed, and nobody reads it", name)
                    ),
                )


def asks_alone(value: Any) -> bool:
    """Whether a call only asks something how large it is, or brings it to another device: n = graph.num_nodes(), x.to(device)."""
    func = value.func
    plain = isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name) and func.value.id != "self"
    return plain and (
        func.attr in ("to", "cuda", "cpu", "size", "dim") or not (value.args or value.keywords or hasattr(Tensor, func.attr))
    )


def for_show(function: ast.FunctionDef, value: ast.expr) -> bool:
    """Whether a loss is computed where nothing learns of one: no backward(), and what is given back is no loss."""
    text = unparse(function)
    kind = LOSS.search(unparse(value.func).rpartition(".")[2]) if isinstance(value, ast.Call) else None
    ends = " ".join(unparse(x) for x in find(function, ast.Return))
    return (
        bool(kind)
        and function.name != "forward"
        and ".backward(" not in text
        and not re.search(r"loss|elbo|nll|kl", ends, re.IGNORECASE)
    )


def mentions(line: ast.stmt, name: str) -> list[str]:
    """ "Load" and "Store" of a name in the order in which a plain line does them; all others read it first, to be sure."""
    kinds = [type(node.ctx).__name__ for node in find(line, ast.Name) if node.id == name]
    return sorted(kinds) if isinstance(line, ast.Assign) else ["Load"] * bool(kinds)


@rule("unread", "{} is computed, and not read before it is given something else")
def made_zero(function: ast.FunctionDef) -> Found:
    """out, hidden = self.encoder(x), and hidden = torch.zeros_like(hidden): what was computed is not read."""
    for i, line in enumerate(function.body):
        value = line.value if isinstance(line, ast.Assign) else None
        name = unparse(line.targets[0]) if isinstance(line, ast.Assign) else ""
        if not isinstance(value, ast.Call) or not re.fullmatch(
            rf"\w+\.(zeros|ones|empty)_like\({re.escape(name)}\)", unparse(value)
        ):
            continue
        for before in reversed(function.body[:i]):
            kinds = [type(x.ctx).__name__ for x in find(before, ast.Name) if x.id == name]
            if kinds == ["Store"] and isinstance(before, ast.Assign) and isinstance(before.value, ast.Call):
                yield line, READ_IT, name
            if kinds:
                break
