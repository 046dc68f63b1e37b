"""badak serve MODEL..."""

import importlib.util
import logging
import os
import sys
from pathlib import Path
from typing import Any

import click

from badak.cli.options import PLACE, SectionedCommand, given, options_of, precision_option
from badak.cli.output import echo
from badak.cli.serving.limits import Limits
from badak.core.errors import ArgumentError, FileError, NotSupportedError, tr
from badak.data.files import read_text

DEFAULTS = Limits()
KEY, SHORTEST = "BADAK_API_KEY", 16  # characters of a key


def run_serve(
    models: tuple[str, ...], host: str, port: int, api_key_file: str | None, no_api_key: bool, log_requests: bool, precision: str,
    **values: Any,
) -> None:  # fmt: skip
    """Open the models, and answer until a signal comes."""
    if any(importlib.util.find_spec(name) is None for name in ("starlette", "uvicorn", "prometheus_client")):
        raise NotSupportedError("serve: starlette, uvicorn or prometheus_client is not installed", 'pip install "badak[serve]"')
    from badak.cli.serving.app import WAYS, Service
    from badak.cli.serving.models import open_all
    from badak.cli.serving.server import LOCAL, listen, serve

    limits = Limits(**given(DEFAULTS, values))
    key = key_of(api_key_file)
    if key is None and host not in LOCAL and not no_api_key:
        cause = tr("--host {} lets other machines ask, and there is no key", host)
        raise ArgumentError(cause, tr("{}=... in the environment, or --api-key-file FILE; --no-api-key lets everybody ask", KEY))
    if key is not None and no_api_key:
        cause = tr("a key is given, and --no-api-key")
        raise ArgumentError(cause, tr("leave out the one or the other; the key is {} or --api-key-file", KEY))
    logging.basicConfig(stream=sys.stderr, format="%(asctime)s %(message)s")
    logging.getLogger("badak.serve").setLevel(logging.INFO)
    with listen(host, port) as at:
        served = open_all(models, precision, limits)
        for model in served.values():
            echo(f"{model.name}: {WAYS[model.task]}")
        address, number = at.getsockname()[:2]
        shown = f"[{address}]" if ":" in address else address
        echo(tr("badak serves at http://{}:{}/ (Ctrl-C ends it)", shown, number))  # the socket listens: who asks now waits a moment
        sys.stdout.flush()
        serve(Service(served, limits, log_requests), at, key, host)


def key_of(file: str | None) -> str | None:
    """The key that requests need: of a file, or of the environment."""
    key = os.environ.get(KEY) if file is None else read_text(Path(file)).strip()
    if key is None:
        return None
    where = KEY if file is None else file
    if len(key) < SHORTEST or not key.isascii() or not key.isprintable() or " " in key:
        cause = tr("{}: a key has {} or more letters and digits, and no spaces", where, SHORTEST)
        raise FileError(cause, "openssl rand -hex 32 makes one")
    return key


command = SectionedCommand(
    "serve",
    params=[
        click.Argument(["models"], type=PLACE, nargs=-1, required=True, metavar="MODEL..."),
        click.Option(["--host"], default="127.0.0.1", show_default=True, metavar="ADDRESS",
                     help="address to listen at; another one needs a key"),
        click.Option(["--port"], default=8000, show_default=True, type=click.IntRange(0, 65_535),
                     help="port to listen at (0 = a free one)"),
        click.Option(["--api-key-file"], type=PLACE, metavar="FILE",
                     help="file with the key that requests must send; or set BADAK_API_KEY"),
        click.Option(["--no-api-key"], is_flag=True, help="let everybody who reaches --host ask without a key"),
        click.Option(["--log-requests"], is_flag=True, help="log one line per request: path, status and time, never its contents"),
        precision_option(),
        *options_of(DEFAULTS, "Limits"),
    ],
    callback=run_serve,
    help="Serve each MODEL over HTTP with the API of OpenAI, and a page to try it: a run of badak train gpt, bert, text or "
    "translate, a Hugging Face folder, or a Hub name.",
)  # fmt: skip
