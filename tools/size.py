"""Lines per package and the ten longest functions: `python tools/size.py [--check]`.

With --check it fails where a function is longer than 60 lines or a file longer than 400, docstrings not counted: what does
not fit on a screen and a half is read by nobody.
"""

import ast
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FUNCTION_LIMIT, FILE_LIMIT = 60, 400


def docstring_lines(node: ast.AST) -> int:
    """Lines of the docstring of a function, class or module."""
    doc = node.body[0] if ast.get_docstring(node) is not None else None
    return doc.end_lineno - doc.lineno + 1 if doc else 0


def length(path: Path) -> int:
    """Lines of a file, docstrings left out."""
    text = path.read_text(encoding="utf-8")
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Module)
    return len(text.splitlines()) - sum(docstring_lines(node) for node in ast.walk(ast.parse(text)) if isinstance(node, kinds))


def functions(path: Path):
    """(lines, name) of every function of a file, decorators left out, docstrings left out."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.end_lineno - node.lineno + 1 - docstring_lines(node), f"{path.relative_to(ROOT)}:{node.lineno} {node.name}"


def code_lines(path: Path) -> int:
    """Lines of a file that are neither blank nor a comment."""
    lines = (line.strip() for line in path.read_text(encoding="utf-8").splitlines())
    return sum(1 for line in lines if line and not line.startswith("#"))


def main(check: bool) -> int:
    """Print the tables; the number of places over the limits where `check`."""
    package = ROOT / "src" / "badak"
    files = sorted(package.rglob("*.py"))
    rooms: Counter[str] = Counter()
    for path in files:
        rooms[path.relative_to(package).parts[0].removesuffix(".py")] += code_lines(path)
    longest = sorted((f for path in files for f in functions(path)), reverse=True)
    texts = [path for path in files if path.name != "__init__.py"]  # a table of contents is looked up, not read
    lengths = [(length(path), str(path.relative_to(ROOT))) for path in texts]
    over = [row for row in longest if row[0] > FUNCTION_LIMIT] + [row for row in lengths if row[0] > FILE_LIMIT]
    if not check:
        print("\n".join(f"{count:6} {room}" for room, count in rooms.most_common()), f"\n{rooms.total():6} in all\n")
        print("\n".join(f"{count:6} {name}" for count, name in longest[:10]))
    for count, name in over:
        print(f"{name}: {count} lines; the limit is {FUNCTION_LIMIT} a function, {FILE_LIMIT} a file")
    return len(over)


if __name__ == "__main__":
    over_limit = main("--check" in sys.argv)
    sys.exit(1 if "--check" in sys.argv and over_limit else 0)
