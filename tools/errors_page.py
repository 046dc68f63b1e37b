"""Fill docs/reference/errors.md with what badak really says: `python tools/errors_page.py`.

Each ```python block of the page is run, and the ```text block that follows it holds its complaint; a test compares the two.
"""

import ast
import linecache
import re
import warnings
from pathlib import Path

PAGE = Path(__file__).resolve().parent.parent / "docs" / "reference" / "errors.md"
BLOCK = re.compile(
    r"## (?P<title>[^\n]+)\n(?P<between>(?:(?!\n## ).)*?)"
    r"```python\n(?P<code>.*?)```\n\n```text\n(?P<text>.*?)```"
    r"(?:\n\nMended:\n\n```python\n(?P<mended>.*?)```)?",
    re.DOTALL,
)
PRELUDE = "import badak\nfrom badak import nn, optim\nfrom badak.nn import functional as F\nbadak.manual_seed(0)\n"


def blocks() -> list[tuple[str, str, str, str | None]]:
    """(title, code, text, mended code) of each situation on the page that a program shows."""
    page = PAGE.read_text(encoding="utf-8")
    return [(m["title"], m["code"], m["text"].rstrip("\n"), m["mended"]) for m in BLOCK.finditer(page)]


def titles() -> list[str]:
    """The headings of the situations."""
    return re.findall(r"^## (.+)$", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)


def codes() -> set[int]:
    """The codes that calls in the source name."""
    source = PAGE.parent.parent.parent / "src" / "badak"
    texts = (text for path in source.rglob("*.py") if "code=" in (text := path.read_text(encoding="utf-8")))
    calls = (node for text in texts for node in ast.walk(ast.parse(text)))
    calls = (call for call in calls if isinstance(call, ast.Call) and re.search("Error$|warn_once$", ast.unparse(call.func)))
    words = (word for call in calls for word in call.keywords if word.arg == "code")
    found = (value for word in words for value in ast.walk(word.value) if isinstance(value, ast.Constant))
    return {value.value for value in found if isinstance(value.value, int)}


def complaint(code: str) -> str:
    """What the code raises or warns of, "" where it says nothing."""
    import badak
    from badak.core import errors

    errors.forget_warnings()
    lines = (PRELUDE + code).splitlines(keepends=True)
    linecache.cache["example.py"] = (len(PRELUDE + code), None, lines, "example.py")  # as a program in a file has them
    with warnings.catch_warnings(record=True) as caught, badak.enable_grad():
        warnings.simplefilter("always")
        try:
            exec(compile(PRELUDE + code, "example.py", "exec"), {"__name__": "example"})
        except errors.BadakError as error:
            return str(error)
    return "\n".join(str(w.message) for w in caught if issubclass(w.category, errors.BadakWarning))


def filled() -> str:
    """The page with every text block written anew."""

    def fill(found: re.Match) -> str:
        start, end = (place - found.start() for place in found.span("text"))
        return found[0][:start] + complaint(found["code"]) + "\n" + found[0][end:]

    return BLOCK.sub(fill, PAGE.read_text(encoding="utf-8"))


if __name__ == "__main__":
    PAGE.write_text(filled(), encoding="utf-8")
