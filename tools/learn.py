"""Fill the pages of the guide with what their programs print: `python tools/learn.py [PAGE ...]`.

The ```python blocks of a page are run in their order, as one program; the ```text block after one holds what it printed, and what
badak said of it: an error, or a warning. A test compares the two, and the pages of the two languages with each other.
"""

import ast
import contextlib
import io
import linecache
import os
import re
import sys
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
GUIDE = {"en": ROOT / "docs" / "tutorials" / "guide", "ko": ROOT / "docs" / "ko" / "tutorials" / "guide"}
LANGUAGES = tuple(GUIDE)
BLOCK = re.compile(r"```python\n(?P<code>.*?)```(?P<between>\n\n```text\n(?P<text>.*?)```)?", re.DOTALL)
NUMBER = re.compile(r"-?\d+\.\d+")
TIMES = re.compile(r"\d+\.\d+ m?s\b")


@dataclass(frozen=True)
class Block:
    """A program of a page, and what the page shows beneath it."""

    code: str
    text: str

    def meaning(self) -> str:
        """The code without its comments, which speak the page's language."""
        return ast.dump(ast.parse(self.code))


def pages(language: str) -> list[Path]:
    """The chapters in their order."""
    return sorted(GUIDE[language].glob("[0-9]*.md"))


def language_of(page: Path) -> str:
    """Of a chapter."""
    return next(language for language, folder in GUIDE.items() if folder == page.parent)


def blocks(page: Path) -> list[Block]:
    """The programs of a page."""
    return [Block(m["code"], m["text"] or "") for m in BLOCK.finditer(page.read_text(encoding="utf-8"))]


def printed(page: Path, names: dict | None = None) -> list[str]:
    """What the programs of a page print now, each; `names` is given what they define."""
    names = {} if names is None else names
    names["__name__"] = "__main__"
    with _fresh(language_of(page)):
        return [_run(block.code, f"block{number}.py", names) for number, block in enumerate(blocks(page), 1)]


def same(shown: str, now: str) -> bool:
    """Whether two outputs are equal, but for times, and for the last digit of fractions, which CPUs round differently."""
    shown, now = TIMES.sub("T", shown), TIMES.sub("T", now)
    if NUMBER.sub("#", shown).split() != NUMBER.sub("#", now).split():
        return False
    pairs = zip(NUMBER.findall(shown), NUMBER.findall(now), strict=True)
    return all(abs(float(a) - float(b)) < 1.5 * 10.0 ** -len(a.partition(".")[2]) for a, b in pairs)


@contextlib.contextmanager
def _fresh(language: str) -> Iterator[None]:
    """As a newly started Python in the checkout, with badak in `language`; everything is as it was afterwards."""
    import numpy as np

    import badak

    here, before, options = Path.cwd(), os.environ.get("BADAK_LANG"), np.get_printoptions()
    dtype, state = badak.get_default_dtype(), badak.get_rng_state()
    os.chdir(ROOT)
    os.environ["BADAK_LANG"] = language
    try:
        yield
    finally:
        os.chdir(here)
        np.set_printoptions(**options)
        badak.set_default_dtype(dtype)
        badak.set_rng_state(state)
        os.environ.pop("BADAK_LANG")
        if before is not None:
            os.environ["BADAK_LANG"] = before


def _run(code: str, name: str, names: dict) -> str:
    from badak.core.errors import BadakError, forget_warnings

    out = io.StringIO()
    linecache.cache[name] = (len(code), None, code.splitlines(keepends=True), name)  # as a notebook's cell has its lines
    forget_warnings()  # what is said once is said to who reads only this block, too

    def say(message, category, *_place) -> None:
        print(f"{category.__name__}: {message}", file=out)

    with contextlib.redirect_stdout(out), warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = say
        try:
            exec(compile(code, name, "exec"), names)
        except Exception as error:
            if not isinstance(error, BadakError) and "\nfix: " not in str(error):  # not badak's: the page is wrong
                raise
            print(f"{type(error).__name__}: {error}")
    return "".join(f"{line.rstrip()}\n" for line in out.getvalue().splitlines())


def filled(page: Path) -> str:
    """The page with every text block written again, one added where a program prints and none stood."""
    outputs = iter(printed(page))

    def fill(found: re.Match) -> str:
        now = next(outputs)
        if found["text"] is not None and same(found["text"], now):
            return found[0]
        return f"```python\n{found['code']}```" + (f"\n\n```text\n{now}```" if now else "")

    return BLOCK.sub(fill, page.read_text(encoding="utf-8"))


if __name__ == "__main__":
    everything = [page for language in LANGUAGES for page in pages(language)]
    for path in [Path(name).resolve() for name in sys.argv[1:]] or everything:
        path.write_text(filled(path), encoding="utf-8")
