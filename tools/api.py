"""Write docs/api.md, the list of public names with the first line of each docstring: `python tools/api.py [--check]`."""

import inspect
import re
import sys
from pathlib import Path
from types import ModuleType

import badak

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "api.md"
NAMESPACES = ["", "nn", "nn.functional", "nn.init", "nn.utils", "optim", "optim.lr_scheduler", "autograd"]
NAMESPACES += ["distributions", "fft", "linalg", "utils.data"]


def namespace(dotted: str) -> ModuleType:
    """badak.<dotted>."""
    found = badak
    for part in filter(None, dotted.split(".")):
        found = getattr(found, part)
    return found


def public_names(module: ModuleType) -> list[str]:
    """The names that a namespace offers: not private, not its submodules."""
    names = getattr(module, "__all__", None) or [name for name in vars(module) if not name.startswith("_")]
    return sorted((n for n in names if not inspect.ismodule(getattr(module, n))), key=str.lower)


def summary(thing: object) -> str:
    """The first line of a docstring, "" for a plain value."""
    if not callable(thing):
        return ""
    line = (inspect.getdoc(thing) or "").strip().split("\n")[0]
    return re.sub(r"([|\[\]<>*_\\])", r"\\\1", line)  # none of them is Markdown here


def page() -> str:
    """The whole page."""
    parts = ["# Public names\n\nWritten by `tools/api.py` from the docstrings; a test keeps it true.\n"]
    for dotted in NAMESPACES:
        module = namespace(dotted)
        rows = [
            f"| `{name}` | {summary(getattr(module, name))} |".replace("|  |", "| |") for name in public_names(module)
        ]
        title = f"badak.{dotted}".rstrip(".")
        parts.append(f"## {title} ({len(rows)})\n\n| name | |\n| --- | --- |\n" + "\n".join(rows) + "\n")
    return "\n".join(parts)


if __name__ == "__main__":
    if "--check" in sys.argv:
        sys.exit(0 if PAGE.read_text(encoding="utf-8") == page() else "docs/api.md is out of date: python tools/api.py")
    PAGE.write_text(page(), encoding="utf-8")
