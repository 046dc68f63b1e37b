"""Everything that harms a server, for as long as one likes: `python -m tests.cli.serving.attack [--minutes 10] [--connections 10000]`.

A server of its own process is sent what is no HTTP, requests with bytes changed, any value in any field, prompts of megabytes, answers
that nobody reads or waits for, headers that do not end, and thousands of connections that stay open. All the while one client asks
known questions; each answer must have the text that it has alone. Printed are counts, wrong answers, and the memory of the server.
"""

import argparse
import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace

import httpx
import numpy as np

from tests.cli.serving.conftest import write_models
from tests.cli.serving.test_safety import BODIES, GOOD, post, sent

ENOUGH = 48  # known questions, each of them three times: an attack goes on until they are answered
AT_MOST = 6  # times as long as it was asked to
PROMPTS = ["to be or", "ein hund rennt durch das hohe gras und", "바닥부터", "that is the question " * 6]
PATHS = ("/v1/completions", "/v1/chat/completions", "/v1/embeddings", "/v1/classify", "/v1/translate", "/v1/fill-mask")
VALUES = [
    None,
    True,
    -1,
    0,
    1e308,
    10**30,
    "",
    "\0\u202e",
    "á" * 500,
    [],
    [[]],
    {},
    ["x", None],
    [{}],
    [[1]],
    "\ud800",
    "x" * 200_000,
]
NAMES = "model prompt messages input max_tokens temperature top_p n stop seed stream logprobs response_format grammar echo tools".split()


def resident(pid: int) -> int:
    """Bytes of memory that a process holds."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class Attack:
    """The attackers and the client that checks: so many seconds, and until ENOUGH is answered."""

    def __init__(self, server: SimpleNamespace, seconds: float, connections: int):
        self.server, self.connections = server, connections
        self.start, self.seconds = time.monotonic(), seconds
        self.sent: Counter[str] = Counter()
        self.wrong: list[str] = []
        self.answered = self.busy = 0
        self.memory: list[int] = []

    def goes_on(self) -> bool:
        """Whether it lasts: all that is compared is answered under attack, on a slow machine, too."""
        passed = time.monotonic() - self.start
        return passed < self.seconds or (self.answered < ENOUGH and passed < AT_MOST * self.seconds)

    def repeat(self, name: str, work: Callable[[np.random.Generator], None]) -> None:
        """One kind of attack again and again."""
        random = np.random.default_rng(sum(name.encode()))
        while self.goes_on():
            with suppress(OSError, httpx.HTTPError):  # the server may end any of these connections
                work(random)
            self.sent[name] += 1

    def no_http(self, random: np.random.Generator) -> None:
        """Random bytes, and a good request with bytes changed or an end too early."""
        data = bytearray(post(json.dumps(GOOD).encode()))
        for at in random.integers(0, len(data), int(random.integers(1, 6))):
            data[at] = random.integers(0, 256)
        data = bytes(data[: int(random.integers(1, len(data) + 1))]) if random.random() < 0.8 else random.bytes(500)
        if b"Traceback" in sent(self.server, data, 2.0):
            self.wrong.append(f"a traceback for {data!r}")

    def no_request(self, random: np.random.Generator) -> None:
        """Bodies that are no JSON or no request, and any value in any field."""
        path = PATHS[random.integers(len(PATHS))]
        body = BODIES[random.integers(len(BODIES))]
        if random.random() < 0.7:
            names = random.choice(NAMES, 3)
            body = json.dumps({**GOOD, "input": "to be", **{name: VALUES[random.integers(len(VALUES))] for name in names}}).encode()
        told = sent(self.server, post(body, path), 20.0)
        if told and (b"Traceback" in told or told.split(b" ")[1][:1] not in (b"2", b"4") and b" 503" not in told[:15]):
            self.wrong.append(f"{told[:80]!r} for {body[:200]!r}")

    def long_prompt(self, random: np.random.Generator) -> None:
        """A prompt of up to two megabytes."""
        sent(self.server, post(json.dumps({"prompt": "to be " * int(random.integers(1, 350_000))}).encode()), 20.0)

    def left(self, random: np.random.Generator) -> None:
        """Long answers that nobody waits for, streamed and not; some are left while the prompt is read."""
        body = {"prompt": "to be " * int(random.integers(1, 40)), "max_tokens": 100, "stream": bool(random.integers(2)), "n": 3}
        with socket.create_connection(("127.0.0.1", self.server.port), timeout=5) as to:
            to.sendall(post(json.dumps(body).encode()))
            time.sleep(float(random.random()) * 0.2)

    def slow(self, random: np.random.Generator) -> None:
        """Headers that come letter by letter, and an answer that is not read."""
        with socket.create_connection(("127.0.0.1", self.server.port), timeout=30) as to:
            if random.random() < 0.5:
                to.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1024)
                to.sendall(post(json.dumps({"prompt": "to be", "max_tokens": 200, "stream": True, "logprobs": 20}).encode()))
                time.sleep(2)
            else:
                for letter in b"GET /health HTTP/1.1\r\nhost: localhost":
                    to.sendall(bytes([letter]))
                    time.sleep(0.5)

    def flood(self, random: np.random.Generator) -> None:
        """Connections that stay open for some seconds."""
        many = []
        try:
            for _ in range(self.connections):
                with suppress(OSError):
                    many.append(socket.create_connection(("127.0.0.1", self.server.port), timeout=2))
            time.sleep(3)
            self.sent["most connections at once"] = max(self.sent["most connections at once"], len(many))
        finally:
            for one in many:
                one.close()
        time.sleep(5)

    def check(self) -> None:
        """Known questions, whose answers must be those of before the attack; a server that is busy may say so."""
        known: dict[int, str] = {}
        while self.goes_on():
            for kind in range(16):
                body = {"prompt": PROMPTS[kind % 4], "seed": kind, "max_tokens": 8 + kind, "temperature": 1.1, "top_k": 0}
                try:
                    told = httpx.post(f"{self.server.url}/v1/completions", json=body, timeout=60)
                except httpx.HTTPError:
                    self.busy += 1
                    continue
                if told.status_code in (429, 503):
                    self.busy += 1
                    continue
                text = told.json()["choices"][0]["text"] if told.status_code == 200 else told.text
                if told.status_code != 200 or text != known.setdefault(kind, text):
                    self.wrong.append(f"{told.status_code} {text!r}, before {known.get(kind)!r}")
                self.answered += 1

    def watch(self) -> None:
        """The memory of the server."""
        while self.goes_on():
            self.memory.append(resident(self.server.pid))
            time.sleep(1)

    def run(self) -> None:
        """All at once."""
        attacks = (self.no_http, self.no_request, self.long_prompt, self.left, self.left, self.slow, self.slow, self.flood)
        threads = [threading.Thread(target=self.repeat, args=(each.__name__, each)) for each in attacks]
        threads += [threading.Thread(target=self.check), threading.Thread(target=self.watch)]
        for one in threads:
            one.start()
        for one in threads:
            one.join()


def attacked(minutes: float, connections: int) -> tuple[Attack, int]:
    """What came of it, and the exit code of the server, which is ended by SIGTERM afterwards."""
    with tempfile.TemporaryDirectory() as place:
        folders = write_models(Path(place))
        line = [sys.executable, "-m", "badak", "serve", *folders.values(), "--port", "0", "--timeout", "30"]
        with subprocess.Popen(line, stdout=subprocess.PIPE, text=True) as process:
            try:
                url = ""
                while not url:
                    url = re.search(r"http://[\d.:]+|$", process.stdout.readline())[0]
                server = SimpleNamespace(url=url, port=int(url.rsplit(":", 1)[1]), pid=process.pid)
                attack = Attack(server, 60 * minutes, connections)
                attack.run()
                told = httpx.post(f"{url}/v1/completions", json=GOOD, timeout=60)
                if told.status_code != 200:
                    attack.wrong.append(f"after the attack: {told.status_code} {told.text}")
            finally:
                process.terminate()
            return attack, process.wait(60)


def main() -> int:
    """1 where an answer was wrong, or the server ended."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--connections", type=int, default=10_000)
    given = parser.parse_args()
    if given.minutes <= 0 or given.connections < 0:
        parser.error(f"--minutes {given.minutes} --connections {given.connections}: expected a time, and connections of at least 0")
    attack, code = attacked(given.minutes, given.connections)
    print(", ".join(f"{name} {count:,}" for name, count in attack.sent.items()))
    print(
        f"{attack.answered:,} known questions answered, {attack.busy:,} refused as busy, {len(attack.wrong):,} wrong; exit code {code}"
    )
    parts = np.array_split(np.array(attack.memory) / 2**20, 5)
    print("MiB of the server, the most in each fifth of the time: " + ", ".join(f"{part.max():.0f}" for part in parts))
    print("\n".join(attack.wrong[:10]))
    return int(bool(attack.wrong) or code not in (0, -15, 143))


if __name__ == "__main__":
    sys.exit(main())
