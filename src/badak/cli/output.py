"""What is printed, on any terminal: no text that somebody trained on or typed ends a command, or is one to the terminal."""

import codecs
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any

import click

from badak.core.errors import visible
from badak.core.i18n import columns, padded, say, tr
from badak.io.atomic import write_file

_UP = "\x1b[A"


def bar(share: float, width: int = 40) -> str:
    """A bar of `share` of the width, of what this terminal can show."""
    try:
        "█".encode(getattr(sys.stdout, "encoding", None) or "ascii")
    except (UnicodeEncodeError, LookupError):
        return "#" * round(width * share)
    return "█" * round(width * share)


def echo(text: str, err: bool = False) -> None:
    """Print words of ours, in the person's language; click.echo prints what others wrote."""
    click.echo(say(text), err=err)


def show_facts(facts: Mapping[str, Any]) -> None:
    """Print what things are, by their names."""
    rows = [(say(name), value) for name, value in facts.items()]
    width = max(columns(name) for name, _ in rows)
    for name, value in rows:
        click.echo(tr("{}  {}", padded(name, width), say(str(value))))


def show_report(report: Any, html: str | None) -> None:
    """Print a report, and write it as a page where one is asked for."""
    click.echo(str(report))
    if html is not None:
        page = report.to_html().encode()
        write_file(html, lambda file: file.write(page))


@contextmanager
def any_text() -> Iterator[None]:
    """Within the block stdout and stderr show a question mark for what their encoding lacks, and paths as they are.

    Whatever is printed there goes through `visible`: a vocabulary, a file or a name may hold what commands a terminal.
    """
    changed = []
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            changed.append((stream, stream.errors))
            stream.reconfigure(errors="badak")
            stream.write = partial(_write, stream.write, stream is sys.stderr)  # type: ignore[method-assign]
    try:
        yield
    finally:
        for stream, errors in changed:
            vars(stream).pop("write", None)
            if not stream.closed:
                stream.reconfigure(errors=errors)


def _write(write: Callable[[str], int], bars: bool, text: str) -> int:
    """Print `text` as it may be shown. bars: tqdm may go back to the beginning of its line, and up to the line of another bar."""
    ours = "\r" if bars and text.startswith("\r") else ""
    is_move = bars and not text.replace(_UP, "").strip("\n")
    write(text if is_move else ours + visible(text[len(ours) :]))
    return len(text)


def _approximate(error: UnicodeError) -> tuple[bytes | str, int]:
    """Bytes of a path that were no text (surrogates, as os.fsdecode makes them) come out again; "?" stands for the rest."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    found = bytes(ord(one) - 0xDC00 if 0xDC80 <= ord(one) <= 0xDCFF else ord("?") for one in error.object[error.start : error.end])
    return found, error.end


codecs.register_error("badak", _approximate)
