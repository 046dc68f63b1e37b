"""--help in Korean: of every command, and of the commands within, without an English sentence left."""

import re
from collections.abc import Iterator

import click
import pytest

from badak import cli
from badak.cli.help import Context, described

ENGLISH = re.compile(r"(?:\b[a-z']{2,}[,;:]? ){3}[a-z']{2,}")  # four words in a row
HANGUL = re.compile("[가-힣]")


def paths(group: click.Group, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    with Context(group) as context:
        for name in group.list_commands(context):
            found = group.get_command(context, name)
            yield (*path, name)
            if isinstance(found, click.Group):
                yield from paths(found, (*path, name))


def help_of(path: tuple[str, ...]) -> tuple[click.Command, str]:
    command: click.Command = cli.commands
    context = Context(command, info_name="badak", terminal_width=10_000, max_content_width=10_000)
    for name in path:
        command = command.get_command(context, name)
        context = type(context)(command, parent=context, info_name=name, terminal_width=10_000)
    return command, command.get_help(context)


@pytest.mark.parametrize("path", list(paths(cli.commands)), ids=" ".join)
def test_help_has_no_english_sentence(path, monkeypatch):
    monkeypatch.setenv("BADAK_LANG", "ko")
    command, text = help_of(path)
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("badak ")]  # examples
    assert not [found[0] for line in lines if (found := ENGLISH.search(line))]
    for parameter in command.params:
        if getattr(parameter, "help", None):
            assert HANGUL.search(described(parameter.help)), parameter.help
