"""The floor under a kind of box: its formulas, the lines of badak that compute it, and its derivation, read from the code."""

import inspect
import re
from html import escape
from typing import Any

from badak.inspect.introspection.source import PACKAGE, Place
from badak.inspect.introspection.sources import IS_SOURCE_TREE, source_of
from badak.ops.activation import ACTIVATIONS
from badak.ops.op import Op

LINES = 60  # of code that are shown of one place
PAGES = {  # of docs/explanation/derivations
    "Attention": "attention", "Softmax": "softmax", "LogSoftmax": "softmax", "CrossEntropy": "cross_entropy", "GELU": "gelu",
    "LayerNorm": "layer_norm",
}  # fmt: skip
FOLDER = (
    PACKAGE.parents[1] / "docs" / "explanation" / "derivations"
    if IS_SOURCE_TREE
    else PACKAGE / "inspect" / "introspection" / "derivations"
)
ROLES = {
    "norm": ("LayerNorm", "RMSNorm"),
    "linear": ("Linear", "AddMM", "LinearInt8", "LinearBFloat16", "MixedAddMM", "Conv"),
    "attention": ("Attention",),
    "activation": (*(op.__name__ for op in ACTIVATIONS), "Clamp", "Erf"),
    "embedding": ("Embedding",),
    "softmax": ("Softmax", "LogSoftmax"),
    "loss": ("CrossEntropy", "CrossEntropySoft", "NLL", "MSE", "Huber", "SmoothL1", "KLDiv", "BCEWithLogits"),
    "product": ("MatMul", "Contract"),
    "add": ("Add", "Sub", "Shift"),
}


def role_of(op: type[Op]) -> str:
    """What a kind of operation is for, in one word."""
    return next((role for role, names in ROLES.items() if op.__name__ in names), "other")


def kind_of(op: type[Op]) -> dict[str, Any]:
    """What the page says of every box of this kind."""
    forward, backward, shapes = formulas(op)
    floor = source_of(op)
    places = [
        _code(level.layer, level.name, level.place)
        for level in floor.levels
        if level.place is not None and level.layer in ("op", "forward", "backward", "reference", "numba")
    ]
    inside = [each for each in places if each["floor"] not in ("forward", "backward")]  # they stand in the op, which is shown
    return {
        "title": op.name.replace("_", " "),
        "formula": forward,
        "backward": backward,
        "shapes": shapes,
        "derivation": PAGES.get(op.__name__),
        "places": inside,
    }


def formulas(op: type[Op]) -> tuple[list[str], list[str], str]:
    """(forward, backward, shapes) as the docstring of the operation has them, which says all three."""
    text = (inspect.getdoc(op) or "").strip()
    head, _, rest = text.partition("\n\n")
    lines = [part.strip() for line in head.splitlines() for part in re.split(r";\s{2,}|\s{3,}", line) if part.strip()]
    indented = [
        part.strip() for block in rest.split("\n\n") for line in block.splitlines() if line.startswith("    ")
        for part in re.split(r"\s{3,}", line.strip()) if part.strip()
    ]  # fmt: skip
    tail = [part.strip() for line in rest.splitlines() if " dx = " in f" {line}" and not line.startswith("    ")
            for part in re.split(r";?,?\s{3,}", line)]  # fmt: skip
    every = [line.rstrip(".,") for line in [*lines, *indented, *tail] if not line.startswith("(")]
    back = [line for line in every if re.match(r"(With .*|d[A-Za-z]+(\[[^\]]*\])?) =|d[a-z]+(\[[^\]]*\])? ", line)]
    shapes = next((line for line in rest.splitlines() if "->" in line), "")
    return [line for line in every if line not in back], back, shapes.strip().partition(". ")[0].rstrip(".")


def _code(floor: str, name: str, place: Place) -> dict[str, Any]:
    lines = place.code().splitlines()
    if len(lines) > LINES:
        lines = [*lines[: LINES - 1], "..."]
    file = place.path.relative_to(PACKAGE.parent).as_posix() if place.path.is_relative_to(PACKAGE.parent) else place.path.name
    return {"floor": floor, "name": name, "file": file, "line": place.first, "code": "\n".join(lines)}


def derivations(names: set[str]) -> dict[str, Any]:
    """The pages of docs/explanation/derivations of these names, as HTML."""
    found = {}
    for name in sorted(names):
        text = (FOLDER / f"{name}.md").read_text(encoding="utf-8")
        found[name] = {"title": text.partition("\n")[0].removeprefix("# "), "html": as_html(text), "text": text}
    return found


def as_html(text: str) -> str:
    """The Markdown of the derivations: paragraphs, blocks of formulas and of code, words in bold or code."""
    parts = []
    for number, block in enumerate(re.split(r"```\w*\n(.*?)```", re.sub(r"\A# .*\n", "", text), flags=re.DOTALL)):
        if number % 2:
            parts.append(f"<pre><code>{escape(block.rstrip())}</code></pre>")
            continue
        for each in filter(str.strip, re.split(r"\n[ \t]*\n", block.strip("\n"))):
            if each.startswith("    "):
                inner = "\n".join(line.removeprefix("    ") for line in each.rstrip().splitlines())
                parts.append(f"<pre>{escape(inner)}</pre>")
            else:
                parts.append(f"<p>{_inline(each)}</p>")
    return "\n".join(parts)


def _inline(text: str) -> str:
    words = re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text))
    words = re.sub(r"\*\*([^*]+)\*\*", r"<strong>\1</strong>", words)
    return re.sub(r"\[([^\]]+)\]\([^)]*\)", r"\1", words)
