"""Fill docs/reference/errors.md with what badak really says, and write docs/ko from it: `python tools/errors_page.py`.

Each ```python block of the page is run, and the ```text block that follows it holds its complaint; a test compares the two.
"""

import ast
import linecache
import os
import re
import textwrap
import warnings
from pathlib import Path
from unittest.mock import patch

from tools import translations

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "reference" / "errors.md"
KOREAN_PAGE = ROOT / "docs" / "ko" / "reference" / "errors.md"
BLOCK = re.compile(
    r"## (?P<title>[^\n]+)\n(?P<between>(?:(?!\n## ).)*?)"
    r"```python\n(?P<code>.*?)```\n\n```text\n(?P<text>.*?)```"
    r"(?:\n\nFixed:\n\n```python\n(?P<fixed>.*?)```)?",
    re.DOTALL,
)
PRELUDE = "import badak\nfrom badak import nn, optim\nfrom badak.nn import functional as F\nbadak.manual_seed(0)\n"


def blocks() -> list[tuple[str, str, str, str | None]]:
    """(title, code, text, fixed code) of each situation on the page that a program shows."""
    page = PAGE.read_text(encoding="utf-8")
    return [(m["title"], m["code"], m["text"].rstrip("\n"), m["fixed"]) for m in BLOCK.finditer(page)]


def titles() -> list[str]:
    """The headings of the situations."""
    return re.findall(r"^## (.+)$", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)


def codes() -> set[int]:
    """The codes that calls in the source name."""
    source = ROOT / "src" / "badak"
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
    """The page with every text block written again."""

    def fill(found: re.Match) -> str:
        start, end = (place - found.start() for place in found.span("text"))
        return found[0][:start] + complaint(found["code"]) + "\n" + found[0][end:]

    return BLOCK.sub(fill, PAGE.read_text(encoding="utf-8"))


KOREAN = """# 문제가 생겼을 때 badak이 하는 말

원인 한 줄, 해결 한 줄입니다. `badak.core.errors`의 모든 클래스는 그 자리에서 PyTorch가 내는 예외에서도 파생됩니다
(`ShapeError`는 `ValueError`이자 `RuntimeError`입니다). 그래서 PyTorch용으로 쓴 `except`가 그대로 동작합니다.
실행은 되지만 아마 실수인 것은 `BadakWarning`이며 한 번만 말합니다.

절의 번호가 그 상황의 코드입니다. 11절의 `error.code`는 "BADAK-011"이고, 오류 메시지도 그렇게 끝납니다.
`badak explain BADAK-011`(또는 `badak explain label`)이 그 절을 보여 줍니다.
201부터의 코드는 [`badak doctor`](../how-to/doctor.md), 301부터는 [`badak audit`](../how-to/audit.md)의 것입니다.
"""


def korean() -> str:
    """The page in Korean: what `BADAK_LANG=ko badak explain` shows of each situation."""
    from badak.core import i18n
    from badak.inspect.introspection import error_codes

    with patch.dict(os.environ, BADAK_LANG="ko"):
        sections = []
        for one in error_codes.of_page(filled()):
            parts = [f"## {one.code}. {i18n.say(one.name)}"]
            for kind, text in one.parts:
                shown = error_codes.shown(kind, text)
                is_code = not re.search("[가-힣]", text)
                parts.append(f"```{'python' if is_code else 'text'}\n{textwrap.dedent(shown)}\n```" if kind else shown)
            sections.append("\n\n".join(parts))
    return "\n\n".join([KOREAN.rstrip("\n"), *sections]) + "\n"


if __name__ == "__main__":
    PAGE.write_text(filled(), encoding="utf-8")
    KOREAN_PAGE.write_text(korean(), encoding="utf-8")
    translations.note(KOREAN_PAGE)
