"""How fast a server of a model answers: a process that serves, and as many clients at once as are asked for."""

import http.client
import json
import re
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from badak.core.errors import FileError, tr


@dataclass(frozen=True)
class Load:
    """What was measured with `streams` clients: tokens a second of all, and seconds from a request to its first token."""

    streams: int
    tokens_per_second: float
    first_median: float
    first_worst: float
    texts: tuple[str, ...]


@contextmanager
def served(model: str, *options: str, env: Mapping[str, str] | None = None) -> Iterator[tuple[int, int]]:
    """(port, id) of a process that serves a model for the length of the block. FileError where it does not begin."""
    line = [sys.executable, "-m", "badak", "serve", model, "--port", "0", *options]
    with subprocess.Popen(line, stdout=subprocess.PIPE, text=True, env=env) as process:
        assert process.stdout is not None
        try:
            found = next((match for text in process.stdout if (match := re.search(r"http://127\.0\.0\.1:(\d+)/", text))), None)
            if found is None:
                raise FileError(tr("{}: badak serve ended with {}", model, process.wait()), tr("badak serve {} says why", model))
            yield int(found[1]), process.pid
        finally:
            process.terminate()


def ask(port: int, body: dict[str, Any]) -> tuple[str, list[float]]:
    """The text of a completion, and when its pieces came."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=3_600)
    try:
        connection.request("POST", "/v1/completions", json.dumps({**body, "stream": True}), {"content-type": "application/json"})
        answer, text, times = connection.getresponse(), "", list[float]()
        while line := answer.readline():
            if line.startswith(b"data: {"):
                said = json.loads(line[6:])
                if "error" in said:
                    raise FileError(said["error"]["message"].split("\n")[0], "fewer --tokens, or a shorter --prompt-tokens")
                text += said["choices"][0]["text"]
                times.append(time.perf_counter())
            elif line.startswith(b"{"):
                raise FileError(json.loads(line)["error"]["message"].split("\n")[0], "fewer --tokens, or a shorter --prompt-tokens")
        return text, times
    finally:
        connection.close()


def measure(port: int, streams: int, prompt: int, tokens: int, **more: Any) -> Load:
    """Texts of `tokens` tokens behind prompts of `prompt`, all asked for at once, each with a prompt and a seed of its own.

    more: what else stands in each request
    """
    answers: list[Any] = [None] * streams
    gate = threading.Barrier(streams + 1)

    def client(at: int) -> None:
        ids = [(7 * i + at) % 90 + 10 for i in range(prompt)]
        body = {"prompt": ids, "max_tokens": tokens, "temperature": 1.0, "seed": at, **more}
        gate.wait()
        start = time.perf_counter()
        try:
            text, times = ask(port, body)
            answers[at] = text, times[0] - start, times[-1]
        except Exception as error:
            answers[at] = error

    threads = [threading.Thread(target=client, args=(at,)) for at in range(streams)]
    for thread in threads:
        thread.start()
    gate.wait()
    start = time.perf_counter()
    for thread in threads:
        thread.join()
    failed = next((one for one in answers if isinstance(one, Exception)), None)
    if failed is not None:
        raise failed
    firsts = [first for _, first, _ in answers]
    rate = streams * tokens / (max(end for _, _, end in answers) - start)
    return Load(streams, rate, statistics.median(firsts), max(firsts), tuple(text for text, _, _ in answers))
