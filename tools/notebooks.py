"""The chapters of the guide as notebooks: `python tools/notebooks.py FOLDER` writes them, in both languages (needs nbformat).

A page is the one source. Its ```python blocks become cells of code without their outputs; where it shows a picture of
docs/img/learn stands the code that draws it, taken from `learn_pictures.py` and `learn_looks.py`.
"""

import ast
import re
import sys
import textwrap
from pathlib import Path
from typing import Any

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from tools import learn

PICTURE = re.compile(r"^!\[[^\]]*\]\(\S*/img/learn/(?P<file>\d\d-\S+)\)$", re.MULTILINE)
RAISES = re.compile(r"^\w+Error: ", re.MULTILINE)
LINK = re.compile(r"(?<!!)\[([^\]]+)\]\((?!https?:|#)[^)]+\)")
TOOLS = {name: Path(__file__).with_name(f"{name}.py") for name in ("learn_pictures", "learn_looks")}
TABLES = {"learn_pictures": "PICTURES", "learn_looks": "LOOKS"}
KERNEL = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}


def notebook(cells: list, language: str) -> Any:
    """Cells as a notebook in a language, with the same ids whenever it is written."""
    if language == "ko":
        cells = [new_code_cell("%env BADAK_LANG=ko"), *cells]
    for number, cell in enumerate(cells):
        cell["id"] = f"cell-{number}"
    return new_notebook(cells=cells, metadata=KERNEL)


def chapter(page: Path) -> Any:
    """A chapter as a notebook."""
    text, cells, last = page.read_text(encoding="utf-8"), [], 0
    waiting: list[tuple[set, Any]] = []  # a picture may need what a later program defines
    known: set[str] = set()
    every = set().union(*(_defined(block.code) for block in learn.blocks(page)))
    found = sorted([*learn.BLOCK.finditer(text), *PICTURE.finditer(text)], key=lambda each: each.start())
    for each in found:
        cells += _prose(text[last : each.start()])
        last = each.end()
        if each.re is PICTURE:
            for cell in _drawn(page.stem, "learn_looks" if "-look." in each["file"] else "learn_pictures"):
                words = {
                    n.value
                    for n in ast.walk(ast.parse(cell.source.rstrip(";")))
                    if isinstance(n, ast.Constant) and isinstance(n.value, str)
                }
                waiting.append((words & every, cell))
        else:
            known |= _defined(each["code"])
            cells.append(new_code_cell(each["code"].rstrip()))
            if RAISES.search(each["text"] or ""):
                cells[-1]["metadata"]["tags"] = ["raises-exception"]
        cells += [cell for needs, cell in waiting if needs <= known]
        waiting = [(needs, cell) for needs, cell in waiting if not needs <= known]
    return notebook([*cells, *_prose(text[last:])], learn.language_of(page))


def _defined(code: str) -> set[str]:
    """The names that a program defines."""
    tree = ast.parse(code)
    stored = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    return stored | {n.name for n in tree.body if isinstance(n, ast.FunctionDef | ast.ClassDef)}


def _prose(text: str) -> list:
    """Text without what only a page has: links to other files, and the marks of an answer that is folded."""
    text = re.sub(r"<!--.*?-->|</?details>", "", text, flags=re.DOTALL)
    text = re.sub(r"<summary>(.*?)</summary>", r"**\1**", LINK.sub(r"\1", text)).strip()
    return [new_markdown_cell(text)] if text else []


def _drawn(name: str, tool: str) -> list:
    """The cell that draws a picture of a chapter; none where no function draws it."""
    tree = ast.parse(TOOLS[tool].read_text(encoding="utf-8"))
    table = next(n.value for n in ast.walk(tree) if isinstance(n, ast.Assign | ast.AnnAssign) and _target(n) == TABLES[tool])
    functions = {key.value: value for key, value in zip(table.keys, table.values)}  # type: ignore[union-attr]
    function = functions.get(name)
    if function is None:
        return []
    word = ast.unparse(function.elts[0] if isinstance(function, ast.Tuple) else function)
    body = "\n".join(_needed(word, tool))
    end = ";" if tool == "learn_pictures" else ""  # the figure shows itself once
    code = f"def draw(names):\n{textwrap.indent(body, '    ')}\n    return {word}(names)\n\n\ndraw(dict(globals())){end}"
    return [new_code_cell(code, metadata={"jupyter": {"source_hidden": True}})]


def _target(node: Any) -> str:
    where = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
    return getattr(where, "id", "")


def _needed(word: str, tool: str) -> list[str]:
    """The definitions that a function of a tool needs, in their order, and the imports."""
    defined: dict[str, Any] = {}
    for each in TOOLS if tool == "learn_pictures" else [tool]:
        for node in reversed(ast.parse(TOOLS[each].read_text(encoding="utf-8")).body):
            names = [getattr(node, "name", "") or _target(node)]
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Tuple):
                names = [getattr(part, "id", "") for part in node.targets[0].elts]
            if isinstance(node, ast.Import | ast.ImportFrom):
                names = [alias.asname or alias.name for alias in node.names]
            for name in names:
                if each == tool or name not in defined:
                    defined[name] = node
    order: list[Any] = []
    seen: set[str] = set()

    def visit(name: str) -> None:
        node = defined.get(name)
        if node is None or name in seen or getattr(node, "module", "") == "tools":
            return
        seen.add(name)
        for part in ast.walk(node):
            if part is not node and isinstance(part, ast.Name | ast.Attribute):
                visit(part.id if isinstance(part, ast.Name) else part.attr if ast.unparse(part.value) == "learn_looks" else "")
        if node not in order:
            order.append(node)

    visit(word)
    return [ast.unparse(node).replace("learn_looks.", "") for node in order]


def main(folder: Path) -> None:
    """Write all chapters."""
    for language in learn.LANGUAGES:
        (folder / language).mkdir(parents=True, exist_ok=True)
        for page in learn.pages(language):
            nbformat.write(chapter(page), folder / language / f"{page.stem}.ipynb")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("error: expected one folder\nfix: python tools/notebooks.py FOLDER")
    main(Path(sys.argv[1]))
