"""The Korean catalogue: complete, with the same holes, and compiled as it is written."""

import re
from functools import cache

import click
import pytest

from badak.cli import commands
from badak.core.i18n.catalogue import Words
from tools import templates, words

OTHERS = {"--mpi", "--help"}  # options of srun, and of every command
ROOMS = sorted(path.stem for path in words.FOLDER.glob("*.po"))


@cache
def texts():
    return templates.read()


@pytest.mark.slow
def test_every_text_of_the_source_has_a_korean_translation():
    lacking = words.missing(texts(), words.said(), set())
    assert not [f"{text.room}: {text.template}" for text in lacking], "fill them in after: python tools/words.py"


@pytest.mark.slow
def test_translations_have_the_holes_of_their_texts():
    assert not list(words.faults(texts(), words.said()))


@pytest.mark.parametrize("room", ROOMS)
def test_what_is_read_is_what_is_written(room):
    path = words.FOLDER / f"{room}.po"
    with path.with_suffix(".mo").open("rb") as file:
        compiled = Words(file).entries
    assert len(compiled) > 1
    del compiled[""]
    written = {m.id: m.string for m in words.opened(path) if m.id and m.string}
    assert compiled == written, "python tools/words.py"


def test_what_a_file_says_is_read(tmp_path):
    """Messages, sums, conditions and constants; not what is code, or no text of ours."""
    (tmp_path / "nn").mkdir()
    (tmp_path / "nn" / "a.py").write_text(
        """
class OwnError(ArgumentError): pass
def f(n, kind):
    name = "no message of ours"
    cause = tr("{} of {!r} steps", n, tr("a list") if kind else tr("names")) + (", and a rest" if n > 2 else "")
    expect_kind(kind, str, "f: expected {} as text; got {}", "write it in quotes", n)
    if n:
        raise OwnError(cause, "use {} as it is" if kind else None)
    raise ArgumentError(tr("got {:,} row{}", n, "s" * (n != 1)), "x.float()")
"""
    )
    read = templates.read(tmp_path, errors={"ArgumentError"})
    said = {"{0} of {1} steps", "{0} of {1} steps, and a rest", "a list", "names", "use {{}} as it is", "got {0} row{1}"}
    assert {*read} == said | {"f: expected {0} as text; got {1}", "write it in quotes"}
    assert read["got {0} row{1}"].optional == {1} and read["a list"].room == "nn"


def test_a_compiled_catalogue_lists_its_entries():
    with (words.FOLDER / "cli.mo").open("rb") as file:
        assert "" in Words(file).entries


def options(command: click.Command) -> set[str]:
    """All that it and the commands below it take."""
    found = {name for one in command.params for name in (*one.opts, *one.secondary_opts)}
    if isinstance(command, click.Group):
        context = click.Context(command)
        found = found.union(*(options(command.get_command(context, name)) for name in command.list_commands(context)))
    return found


@pytest.mark.slow
def test_every_option_that_a_text_names_is_there():
    known = options(commands) | OTHERS
    named = {(option, text) for text in texts() for option in re.findall(r"(?<![\w-])--[a-z][a-z0-9-]*", text)}
    assert len(named) > 100
    assert not {(option, text) for option, text in named if option not in known}
