"""The page as a text: complete in both languages, harmless whatever a token says, small, and alone."""

import ast
import inspect
import json
import re
from pathlib import Path

import pytest

from badak.core.errors import ArgumentError
from badak.inspect.introspection.formula import tree
from badak.inspect.visualize import steps
from badak.inspect.visualize.floors import formulas
from badak.inspect.visualize.page import page
from badak.inspect.visualize.page.page import HERE, IMPORT, words
from badak.inspect.visualize.steps.table import TOLD
from badak.ops import pointwise
from badak.ops.op import Op
from tests.inspect.visualize.made import record

MODULES = {path.stem: path.read_text(encoding="utf-8") for path in sorted(HERE.glob("*.js"))}
HOSTILE = [
    "</script><script>document.title='owned'</script>",
    "<img src=x onerror=alert(1)>",
    *("<!--", "]]>", "&lt;", "\u2028", "\ud83d", '"', "\\", "${view}", "$title"),
]


SAME = {"to_language", "looks_at", "matrix_one", "op_GELU", "op_ReLU", "op_SiLU", "op_Tanh"}  # in both languages


def asked() -> tuple[set[str], set[str]]:
    """The keys of words.json that the modules name, and the beginnings of keys that they put together."""
    text = "\n".join(MODULES.values())
    whole = set(re.findall(r'(?:say|known)\("([\w-]+)"', text)) | set(re.findall(r'"(key_\w+)"', text))
    for call in re.findall(r"say\(([^`;]*?)[,)]", text):  # say(a ? "one" : "other")
        whole |= set(re.findall(r'[?:] "([\w-]+)"', call))
    return whole, set(re.findall(r"(?:say|known)\(`([\w-]+_)\$", text))


def reasons() -> set[str]:
    """The sentences of visualize/steps/ that say why a step is made: texts of some words that are no formula and no docstring."""
    found = set()
    for path in sorted(Path(inspect.getfile(steps)).parent.glob("*.py")):
        tree_ = ast.parse(path.read_text(encoding="utf-8"))
        explained = {id(node.value) for node in ast.walk(tree_) if isinstance(node, ast.Expr)}
        constants = [node for node in ast.walk(tree_) if isinstance(node, ast.Constant) and id(node) not in explained]
        found |= {x for node in constants if isinstance(x := node.value, str) and re.search("[a-z]{2,} [a-z]{2,}", x)}
    for op in pointwise.DECLARED.values():  # each says its own
        formula = pointwise.formula_of(op, {})
        found |= {why for *_, why in (*formula.parts, *formula.parts_of_slope)}
    return {text for text in found if '"word"' in json.dumps(tree(text))}


def lines() -> set[str]:
    """What formulas say with words, of all operations that have steps."""
    known = {op.__name__: op for op in operations(Op) if op.__module__.startswith("badak.ops")}
    every = {line for name in TOLD for part in formulas(known[name])[:2] for line in part}
    return {line for line in every if '"word"' in json.dumps(tree(line)) and "int_0" not in line}  # an integral has no words


def operations(op):
    for each in op.__subclasses__():
        yield each
        yield from operations(each)


def test_every_reason_of_a_step_is_said_in_korean_too():
    assert len(reasons()) > 20
    for reason in reasons():
        assert words()[reason]["en"] == reason


def test_the_words_of_formulas_are_said_in_korean_too():
    assert len(lines()) > 12
    assert [line for line in sorted(lines()) if words().get(line, {}).get("en") != line] == []


def test_every_word_about_what_was_cut_or_is_missing_is_said_in_korean_too():
    files = list(HERE.parent.glob("*.py"))
    text = "\n".join(path.read_text(encoding="utf-8") for path in files)
    codes = set(re.findall(r'\.remark\(\s*"(\w+)"', text))
    notes = {key.removeprefix("note_") for key in words() if key.startswith("note_")}
    assert codes == notes


def test_every_word_is_said_in_both_languages():
    for key, texts in words().items():
        assert set(texts) == {"en", "ko"}, key
        assert all(text.strip() for text in texts.values()), key
        assert re.search("[가-힣]", texts["ko"]) or key in SAME, key
        assert set(re.findall(r"{(\w+)}", texts["en"])) == set(re.findall(r"{(\w+)}", texts["ko"])), key


def test_the_table_of_words_has_what_the_modules_ask_for_and_nothing_else():
    whole, beginnings = asked()
    text = "\n".join(MODULES.values())
    assert whole <= set(words())
    assert {"does_", "sequence_", "part_", "note_", "floor_", "kind_", "title_", "lead_", "loss_"} <= beginnings
    built = {"encoder", "decoder"}  # the name of a stack
    built |= reasons() | {line for line in words() if re.search("[=,(]", line) and '"word"' in json.dumps(tree(line))}
    built |= {key for key in words() if key.endswith("_long") and f'"{key.removesuffix("_long")}"' in text}
    assert [key for key in words() if f'"{key}"' not in text and not key.startswith(tuple(beginnings)) and key not in built] == []


@pytest.mark.parametrize("token", HOSTILE)
def test_what_a_token_says_never_becomes_markup(token):
    made = record([token, "b"]) | {"title": token}
    made["words"] = [{"code": "unheard", "text": token, "values": {}}]
    text = page(made)
    assert text.count("<script") == 4 and text.count("</script") == 4 and "<img" not in text and "<!--" not in text
    inside = re.search(r'<script type="application/json" id="record">(.*?)</script>', text, re.DOTALL)[1]
    assert not set(inside) & set("<>&")
    assert json.loads(inside)["sequences"][0]["tokens"][0] == token
    text.encode("utf-8")


def test_the_file_asks_the_network_for_nothing():
    text = page(record(["a", "b"]))
    assert "default-src 'none'" in text
    addresses = set(re.findall(r"https?://[^\"'\s)]+", text))
    assert addresses == {"http://www.w3.org/2000/svg", "http://www.w3.org/1998/Math/MathML"}  # names, which nobody fetches


def test_twelve_layers_of_twelve_heads_on_64_tokens_stay_below_two_megabytes():
    assert len(page(record([f" word{i}" for i in range(64)], layers=12, heads=12)).encode()) < 2_000_000


def test_the_page_opens_in_the_language_that_is_asked_for_or_of_the_record_or_of_the_person(monkeypatch):
    monkeypatch.setenv("BADAK_LANG", "ko")
    assert '<html lang="ko">' in page(record(["a"]))
    monkeypatch.setenv("BADAK_LANG", "en")
    made = record(["a"])
    assert '<html lang="en">' in page(made)
    assert '<html lang="ko">' in page(made | {"language": "ko"})
    assert '<html lang="en">' in page(made | {"language": "ko"}, language="en")
    with pytest.raises(ArgumentError, match='look: expected language "en" or "ko"; got'):
        page(made, language="fr")


@pytest.mark.slow
def test_names_of_the_modules_are_unique_and_each_imports_what_it_uses():
    names: dict[str, str] = {}
    exported: dict[str, set[str]] = {}
    for module, text in MODULES.items():
        found = re.findall(r"^(export )?(?:const|let|function) (\[?[\w, ]+)", text, flags=re.MULTILINE)
        exported[module] = {name.split("(")[0].strip() for export, name in found if export}
        for name in (one.strip(" [=") for _, many in found for one in many.split(",")):
            assert name not in names, f"{name} stands in {names.get(name)}.js and {module}.js"
            names[name] = module
    for module, text in MODULES.items():
        lines = re.findall(r'^import \{([^}]*)\} from "\./(\w+)\.js";', text, flags=re.MULTILINE)
        taken = {name.strip(): other for many, other in lines for name in many.split(",")}
        body = re.sub(r"//.*|/\*\*.*?\*/|\"[^\"]*\"", "", IMPORT.sub("", text))
        for name, other in taken.items():
            assert name in exported[other] and re.search(rf"\b{name}\b", body), f"{module}.js: {name} from {other}.js"
        own = {name for name, home in names.items() if home == module}
        used = {name for name in names if re.search(rf"(?<![\w.]){name}\(", body)} - own - set(taken)
        local = {
            name
            for name in used
            if re.search(r"(?:const|let|function) \[?" + name + r"\b|[{,(\[] ?" + name + r"(?:[,:)}\]]| =)", body)
        }
        assert used <= local, f"{module}.js uses {used - local} without an import"


def test_files_of_the_page_fit_on_a_few_screens_and_are_in_the_package():
    for path in HERE.iterdir():
        if path.suffix in {".js", ".css"}:
            assert len(path.read_text(encoding="utf-8").splitlines()) <= 400, path.name
    assert {path.suffix for path in Path(HERE).iterdir() if path.is_file()} <= {".py", ".js", ".css", ".html", ".json"}
