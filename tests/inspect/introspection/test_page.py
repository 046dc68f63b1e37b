"""docs/how-to/introspection.md: every block is run, and its output is what the page shows, but for the numbers of lines."""

import doctest
import re
from pathlib import Path

import pytest

import badak
from badak.cli import main

PAGE = Path(__file__).resolve().parents[3] / "docs" / "how-to" / "introspection.md"
TEXT = PAGE.read_text(encoding="utf-8")


def numberless(text: str) -> str:
    return re.sub(r"(\.(?:py|md)):\d+", r"\1:N", text).strip()


COMMANDS = re.findall(r"```console\n\$ badak (.*?)```", TEXT, re.DOTALL)


@pytest.mark.slow
@pytest.mark.parametrize("block", COMMANDS, ids=lambda block: block.split("\n")[0])
def test_a_command_prints_what_the_page_shows(block, capsys, monkeypatch):
    monkeypatch.chdir(PAGE.parents[2])
    command, _, shown = block.partition("\n")
    main(command.split())
    printed = capsys.readouterr()
    assert numberless(printed.out + printed.err) == numberless(shown)


def test_the_blocks_of_python_give_what_the_page_shows():
    badak.manual_seed(0)
    blocks = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
    test = doctest.DocTestParser().get_doctest("\n".join(blocks), {}, PAGE.name, str(PAGE), 0)
    told: list[str] = []
    doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS).run(test, out=told.append)
    assert len(test.examples) > 8 and not told, "".join(told)
