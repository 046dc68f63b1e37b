"""Many requests at once: the same seed, the same text, and memory that does not grow."""

import random
import re
import subprocess
import sys
import threading
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import httpx
import pytest

from tests.cli.serving.attack import ENOUGH, PROMPTS, attacked, resident
from tests.cli.serving.test_api import written
from tests.cli.serving.test_safety import goes_on

pytestmark = pytest.mark.slow


def asked_at_once(server, count, clients):
    """The texts of `count` requests of 16 kinds: (kind, text)."""
    found, kinds = [], list(range(count))
    random.Random(0).shuffle(kinds)

    def client():
        with httpx.Client(base_url=server.url, timeout=600) as http:
            while kinds:
                kind = kinds.pop() % 16
                body = {
                    "prompt": PROMPTS[kind % 4],
                    "seed": kind,
                    "max_tokens": 8 + kind,
                    "temperature": 1.1,
                    "top_k": 0,
                    "stream": kind % 3 == 0,
                }
                told = http.post("/v1/completions", json=body)
                assert told.status_code == 200, told.text
                if kind % 3:
                    text = told.json()["choices"][0]["text"]
                else:
                    lines = told.text.split("\n\n")
                    assert lines[-2] == "data: [DONE]"
                    text = "".join(httpx.Response(200, text=line[6:]).json()["choices"][0]["text"] for line in lines[:-2])
                found.append((kind, text))

    threads = [threading.Thread(target=client) for _ in range(clients)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    return found


@pytest.mark.parametrize("count", [pytest.param(100, marks=pytest.mark.slow), pytest.param(1000, marks=pytest.mark.nightly)])
def test_the_same_seed_gives_the_same_text_at_any_load(server, count):
    found = asked_at_once(server, count, 24)
    assert len(found) == count and len(set(found)) == 16
    for kind, text in set(found):
        expected = written(server, PROMPTS[kind % 4], seed=kind, max_new_tokens=8 + kind, temperature=1.1, top_k=0)
        assert text == expected, f"{kind}: {Counter(found)[kind, text]}"
    assert goes_on(server)


@pytest.mark.nightly
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="memory is read from /proc")
def test_memory_stays_flat(folders):
    line = [sys.executable, "-m", "badak", "serve", folders["writer"], "--port", "0"]
    with subprocess.Popen(line, stdout=subprocess.PIPE, text=True) as process:  # alone: clients hold memory, too
        try:
            server = SimpleNamespace(url=[re.search(r"http://[\d.:]+|$", process.stdout.readline())[0] for _ in range(2)][1])
            asked_at_once(server, 400, 24)
            before = resident(process.pid)
            for _ in range(5):
                asked_at_once(server, 400, 24)
            assert resident(process.pid) - before < 4 << 20
        finally:
            process.terminate()


@pytest.mark.nightly
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="memory is read from /proc")
def test_an_attack_changes_no_answer():
    attack, code = attacked(minutes=1, connections=3_000)
    assert not attack.wrong and code in (0, -15, 143) and attack.answered >= ENOUGH and min(attack.sent.values()) > 0
