"""Fill docs/errors.md with what badak really says: `python tools/errors_page.py`.

Each ```python block of the page is run, and the ```text block that follows it holds its complaint; a test compares the two.
"""

import re
import warnings
from pathlib import Path

PAGE = Path(__file__).resolve().parent.parent / "docs" / "errors.md"
BLOCK = re.compile(
    r"## (?P<title>[^\n]+)\n(?P<between>.*?)```python\n(?P<code>.*?)```\n\n```text\n(?P<text>.*?)```", re.DOTALL
)
PRELUDE = "import badak\nfrom badak import nn, optim\nfrom badak.nn import functional as F\nbadak.manual_seed(0)\n"


def blocks() -> list[tuple[str, str, str]]:
    """(title, code, text) of each situation on the page."""
    page = PAGE.read_text(encoding="utf-8")
    return [(m["title"], m["code"], m["text"].rstrip("\n")) for m in BLOCK.finditer(page)]


def complaint(code: str) -> str:
    """What the code raises or warns of, "" where it says nothing."""
    import badak
    from badak import errors

    errors.forget_warnings()
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
        return found[0][: found.start("text") - found.start()] + complaint(found["code"]) + "\n```"

    return BLOCK.sub(fill, PAGE.read_text(encoding="utf-8"))


if __name__ == "__main__":
    PAGE.write_text(filled(), encoding="utf-8")
