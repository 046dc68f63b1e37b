"""What is printed, on any terminal: no text that somebody trained on or typed ends a command."""

import codecs
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import click

from badak.language import say


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


@contextmanager
def any_text() -> Iterator[None]:
    """Within the block stdout and stderr show a question mark for what their encoding lacks, and paths as they are."""
    changed = []
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            changed.append((stream, stream.errors))
            stream.reconfigure(errors="badak")
    try:
        yield
    finally:
        for stream, errors in changed:
            if not stream.closed:
                stream.reconfigure(errors=errors)


def _approximate(error: UnicodeError) -> tuple[bytes | str, int]:
    """Bytes of a path that were no text (surrogates, as os.fsdecode makes them) come out again; "?" stands for the rest."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    found = bytes(
        ord(one) - 0xDC00 if 0xDC80 <= ord(one) <= 0xDCFF else ord("?") for one in error.object[error.start : error.end]
    )
    return found, error.end


codecs.register_error("badak", _approximate)
