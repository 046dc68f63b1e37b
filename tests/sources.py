"""The source of badak, for tests of how it is written."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent.parent / "src" / "badak"


def nodes(pattern: str) -> Iterator[tuple[str, list[ast.AST]]]:
    """(its path in the package, all that is written in it) of each file in which a line matches the pattern."""
    for path in sorted(PACKAGE.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if re.search(pattern, text, flags=re.MULTILINE):
            yield path.relative_to(PACKAGE).as_posix(), list(ast.walk(ast.parse(text)))
