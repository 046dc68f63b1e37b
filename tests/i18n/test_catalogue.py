"""The Korean catalogue: complete, with the same holes, compiled as it is written, and read back right."""

import re
from functools import cache

import click
import pytest

from badak.cli import commands
from badak.core.i18n.catalogue import Catalogue, Words, fixed_parts
from tools import words
from tools.templates import Reader

OTHERS = {"--mpi", "--help"}  # options of srun, and of every command
ROOMS = sorted(path.stem for path in words.FOLDER.glob("*.po"))


@cache
def texts():
    return Reader().read()


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
    written = {(f"{m.context}\x04" if m.context else "") + m.id: m.string for m in words.opened(path) if m.id and m.string}
    assert compiled == written, "python tools/words.py"


@pytest.mark.slow
def test_every_template_is_found_in_what_it_makes():
    """Each text filled with values that hold no words of its own is recognised: as itself, or as one that says the same."""
    marked = {(part, template): f"<{'P' if part else 'M'}{i}>" for i, (part, template) in enumerate(texts())}
    entries = {("part\x04" if part else "") + template: marked[part, template] for part, template in marked}
    catalogue = Catalogue(entries)
    of_mark = {mark: template for (_, template), mark in marked.items()}
    wrong = []
    for (part, template), mark in marked.items():
        made = template.format(*(f"«{i}»" for i in range(len(fixed_parts(template)))))
        told = catalogue._found(made, (int(part),))
        if told != mark and "".join(fixed_parts(of_mark.get(told, ""))) != "".join(fixed_parts(template)):
            wrong.append((template, of_mark.get(told)))
    assert not wrong


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
    named = {(option, text) for _, text in texts() for option in re.findall(r"(?<![\w-])--[a-z][a-z0-9-]*", text)}
    assert len(named) > 100
    assert not {(option, text) for option, text in named if option not in known}
