"""badak chat RUN"""

import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any

import click

from badak.cli import complain
from badak.cli.options import PLACE, SectionedCommand, given, options_of, precision_option
from badak.cli.output import echo
from badak.core.errors import BadakError, tr
from badak.generation.chat import Chat
from badak.generation.logit_filters import GenerationConfig
from badak.training.load import load_generator

DEFAULTS = GenerationConfig()
HELP = tr("/reset clears the history, /quit or Ctrl-D exits, Ctrl-C stops an answer")


def run_chat(run: str, precision: str, plain: bool, system: str, you: str, answer: str, **values: Any) -> None:
    """Ask and answer interleaved, until the input ends."""
    writer = load_generator(run, precision)
    asked = {"num_beams": 1, **given(DEFAULTS, values)}  # a folder may say beams, and a talk has none
    config = replace(writer.config, **asked)
    if plain:
        writer = replace(writer, template=None)
    writer.model.compile()  # token after token is the same step
    chat = Chat(writer, config, system, you, answer, tell=lambda sentence: echo(f"({sentence})", err=True))
    typed = sys.stdin.isatty()
    if typed:
        with suppress(ImportError):
            import readline  # noqa: F401  (lines can be edited, and the arrows bring old ones back)
        echo(tr("({})", HELP), err=True)
    for line in _lines("> " if typed else ""):
        if line in ("/quit", "/exit"):
            return
        if line == "/reset":
            chat.reset()
        elif line.startswith("/") and " " not in line:
            echo(tr("({} is no command: {})", line, HELP), err=True)
        elif line:
            _answer(chat, line)


def _lines(prompt: str) -> Iterator[str]:
    """What is typed, line by line; Ctrl-C leaves a line, Ctrl-D ends all."""
    while True:
        try:
            yield input(prompt).strip()
        except KeyboardInterrupt:
            click.echo()
        except EOFError:
            click.echo(nl=bool(prompt))
            return


def _answer(chat: Chat, line: str) -> None:
    """Write the answer as it comes; a question that cannot be read ends nothing."""
    try:
        pieces = chat.ask(line)
        try:
            for piece in pieces:
                click.echo(piece, nl=False)
        except KeyboardInterrupt:
            pieces.close()  # type: ignore[attr-defined]
        click.echo()
    except BadakError as error:
        complain(error.cause, error.fix)


command = SectionedCommand(
    "chat",
    params=[
        click.Argument(["run"], type=PLACE),
        click.Option(["--system"], default="", metavar="TEXT", help="system prompt"),
        click.Option(["--plain"], is_flag=True, help="format turns as lines, even if the folder has a chat template"),
        click.Option(["--user-prefix", "you"], default="", metavar="TEXT", help='prefix of your turns in line format, e.g. "Q: "'),
        click.Option(
            ["--assistant-prefix", "answer"], default="", metavar="TEXT", help='prefix of answers in line format, e.g. "A: "'
        ),
        precision_option(),
        *options_of(DEFAULTS, "Sampling"),
    ],
    callback=run_chat,
    help="Chat with the model in RUN: a run of badak train gpt, a Hugging Face folder, or a Hub name. "
    "/reset clears the history, /quit or Ctrl-D exits, Ctrl-C stops an answer.",
)
