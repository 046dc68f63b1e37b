"""How a module looks in a notebook: a tree that opens, each line with its settings and the number of its parameters."""

from html import escape
from typing import Any

LINES = 300  # modules shown at most


def html_of(module: Any) -> str:
    """What stands in the cell of a notebook for a module."""
    room = [LINES]
    left = sum(1 for _ in module.modules()) - LINES
    note = f"<div>... {left} modules more</div>" if left > 0 else ""
    return f"<div style='font-family:monospace'>{_node('', module, 0, room)}{note}</div>"


def _node(name: str, module: Any, depth: int, room: list[int]) -> str:
    """One module and what is in it, as far as there is room."""
    if not room[0]:
        return ""
    room[0] -= 1
    numbers = sum(p.numel() for p in module.parameters())
    extra = module.extra_repr()
    line = f"{f'{escape(name)}: ' if name else ''}<b>{escape(module._get_name())}</b>({escape(extra)})"
    line += f" <span style='opacity:.6'>{numbers:,} parameters</span>" if numbers else ""
    children = "".join(_node(child, each, depth + 1, room) for child, each in module._modules.items() if each is not None)
    if not children:
        return f"<div style='margin-left:1.5em'>{line}</div>"
    opened = " open" if depth < 2 else ""
    return f"<details style='margin-left:1em'{opened}><summary>{line}</summary>{children}</details>"
