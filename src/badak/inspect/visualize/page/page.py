"""The record of a look as one HTML file that needs no server and no network: `page(record)`.

The file holds template.html, the style sheets, the modules of JavaScript one after the other, words.json (what the page says,
in English and Korean) and the record itself as JSON. Nothing of the record is ever read as HTML: `_inert` lets no `<` into the
file, and the modules make text nodes only.
"""

import json
import re
from functools import cache
from html import escape
from pathlib import Path
from string import Template
from typing import Any

from badak.core.errors import ArgumentError, expect
from badak.core.i18n import LANGUAGES
from badak.core.i18n import language as spoken
from badak.inspect.introspection.formula import mathml, tree

HERE = Path(__file__).parent
STYLES = ("style.css", "pictures.css", "floor.css", "narrow.css")
HALVES = re.compile("[\ud800-\udfff]")  # halves of a letter, which no file can hold: a token may end in one
IMPORT = re.compile(r'^import \{[^}]*\} from "\./(\w+)\.js";\n', re.MULTILINE)


def page(record: dict[str, Any], language: str | None = None) -> str:
    """One look as the text of an HTML file.

    record     what `badak.look` knows of a run
    language   "en" or "ko"; the record's own, or the person's, where it is None
    """
    language = language or record.get("language") or spoken()
    expect(language in LANGUAGES, "look", 'language "en" or "ko"', 'language="en"', ArgumentError, language=language)
    return Template((HERE / "template.html").read_text(encoding="utf-8")).substitute(
        language=language,
        title=HALVES.sub("\ufffd", escape(record.get("title") or "badak look")),
        style="\n".join((HERE / name).read_text(encoding="utf-8") for name in STYLES),
        script=_script(),
        words=_inert(words()),
        record=_inert({**record, "kinds": {name: _coloured(kind) for name, kind in record.get("kinds", {}).items()}}),
        math=_inert(_math(record)),
    )


@cache
def words() -> dict[str, dict[str, str]]:
    """What the page says: {key: {"en": ..., "ko": ...}}."""
    return json.loads((HERE / "words.json").read_text(encoding="utf-8"))


def _inert(value: Any) -> str:
    """JSON in which no tag of HTML can end or begin."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for letter in "<>&":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return HALVES.sub(lambda half: f"\\u{ord(half[0]):04x}", text)


def _math(record: dict[str, Any]) -> dict[str, Any]:
    """Every formula of the page as MathML: {its text: [element, *children]}."""
    texts = {"dy"}
    for kind in record.get("kinds", {}).values():
        texts |= {*(kind["formula"] or []), *(kind["backward"] or []), kind["shapes"] or ""}
    texts |= {text[language] for text in map(words().get, texts) if text for language in LANGUAGES}
    for box in record.get("boxes", []):
        back = box["back"] or {"steps": [], "goes": []}
        for step in (*box["steps"], *back["steps"]):
            texts.add(" = ".join(filter(None, (step["name"], step["formula"]))))
        texts |= {f"d{one['to']}" for one in back["goes"]}
    for derivation in record.get("derivations", {}).values():
        lines = [line for line in derivation["text"].splitlines() if line.startswith("    ")]
        texts |= {piece for line in lines for piece in pieces(line)}
    return {text: mathml(tree(text)) for text in sorted(texts - {""})}


def pieces(line: str) -> list[str]:
    """Formulas that stand side by side in a line, three blanks or more apart."""
    return [piece for piece in re.split(" {3,}", line.strip()) if piece]


@cache
def _script() -> str:
    """All modules as one, those that are imported first; names are unique over all of them."""
    parts: dict[str, str] = {}

    def add(name: str) -> None:
        if name in parts:
            return
        text = (HERE / f"{name}.js").read_text(encoding="utf-8")
        parts[name] = ""  # modules may import each other: what they call is there when they run
        below = IMPORT.findall(text)
        for other in below:
            add(other)
        del parts[name]
        parts[name] = re.sub(r"^export ", "", IMPORT.sub("", text), flags=re.MULTILINE)

    add("main")
    return "\n".join(parts.values())


def _coloured(kind: dict[str, Any]) -> dict[str, Any]:
    """The same kind, its code as [[class, text], ...] where the package pygments is installed."""
    places = [{**place, "code": _pieces(place["code"], place["file"])} for place in kind.get("places") or []]
    return {**kind, "places": places}


def _pieces(code: str, file: str) -> str | list[list[str]]:
    """Code in the pieces that have colours of their own, each with the class that floor.css paints."""
    try:
        from pygments.lexers import PythonLexer
        from pygments.token import Comment, Keyword, Name, Number, Operator, String
    except ImportError:
        return code
    if not file.endswith(".py"):
        return code
    paints = [(Keyword, "k"), (Operator.Word, "k"), (String, "s"), (Comment, "c"), (Number, "m"), (Name.Function, "f"),
              (Name.Class, "f"), (Name.Decorator, "c")]  # fmt: skip
    pieces: list[list[str]] = []
    for token, text in PythonLexer(stripnl=False).get_tokens(code):
        paint = next((letter for of, letter in paints if token in of), "")
        if pieces and pieces[-1][0] == paint:
            pieces[-1][1] += text
        else:
            pieces.append([paint, text])
    return pieces
