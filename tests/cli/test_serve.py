"""badak serve: what it refuses to begin with, and how it ends."""

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time

import httpx
import pytest

from badak.cli import main
from tests.serving.conftest import write_models


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    return write_models(tmp_path_factory.mktemp("models"))


@pytest.fixture
def started(folders):
    """A process that serves, and its address."""
    processes = []

    def start(*words, **environment):
        line = [sys.executable, "-m", "badak", "serve", folders["writer"], "--port", "0", *words]
        about = os.environ | {"OMP_NUM_THREADS": "1", "BADAK_LANG": "en"} | environment
        process = subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=about)
        processes.append(process)
        said = [process.stdout.readline() for _ in range(2)]
        assert said[0] == "writer: /v1/chat/completions\n", (said, process.stderr.read())
        return process, re.fullmatch(r"badak serves at (http://127\.0\.0\.1:\d+)/ \(Ctrl-C ends it\)\n", said[1])[1]

    yield start
    for process in processes:
        process.kill()
        process.communicate()


def in_background(url, body, found):
    """Ask for a stream in a thread: its lines, as they come."""

    def ask():
        try:
            with httpx.stream("POST", f"{url}/v1/completions", json=body, timeout=60) as told:
                found.extend(line for line in told.iter_lines() if line)
        except httpx.HTTPError as error:
            found.append(f"broken: {type(error).__name__}")

    thread = threading.Thread(target=ask)
    thread.start()
    while not found:
        time.sleep(0.005)
    return thread


@pytest.mark.slow
def test_the_first_signal_lets_answers_end_and_the_second_does_not(started):
    process, url = started()
    found = []
    thread = in_background(url, {"prompt": "to be", "max_tokens": 200, "stream": True, "temperature": 0}, found)
    process.send_signal(signal.SIGTERM)
    thread.join(60)
    assert found[-1] == "data: [DONE]" and json.loads(found[-2][6:])["choices"][0]["finish_reason"] == "length"
    assert process.wait(30) == 0 and process.stderr.read() == ""
    process, url = started()
    found, body = [], {"prompt": ["to be"] * 60, "n": 2, "max_tokens": 240, "stream": True}
    body["prompt"] = body["prompt"][:40]
    thread = in_background(url, body, found)
    for _ in range(2):
        process.send_signal(signal.SIGTERM)
        time.sleep(0.3)
    assert process.wait(30) == 0
    thread.join(60)
    assert "data: [DONE]" not in found


@pytest.mark.slow
def test_ctrl_c_ends_with_130(started):
    process, url = started()
    assert httpx.get(f"{url}/health").json() == {"status": "ok"}
    process.send_signal(signal.SIGINT)
    assert process.wait(30) == 130 and process.stderr.read() == "\nerror: stopped\n"


@pytest.mark.slow
def test_answers_that_do_not_end_in_time_are_cut_off(started):
    process, url = started("--drain", "0.2", "--streams", "2")
    found = []
    thread = in_background(url, {"prompt": ["to be"] * 60, "max_tokens": 240, "stream": True}, found)
    process.send_signal(signal.SIGTERM)
    assert process.wait(30) == 0
    thread.join(60)
    assert "data: [DONE]" not in found


@pytest.mark.slow
def test_a_key_of_the_environment(started):
    _, url = started(BADAK_API_KEY="0123456789abcdef")
    assert httpx.get(f"{url}/v1/models").status_code == 401
    assert httpx.get(f"{url}/v1/models", headers={"authorization": "Bearer 0123456789abcdef"}).status_code == 200


@pytest.mark.parametrize("words, said", [
    ([], "error: Missing argument 'MODEL...'."),
    (["nowhere/model"], "error: nowhere/model"),
    (["{writer}", "{writer}"], "error: two models are called writer\nfix: folders of different names\n"),
    (["{writer}", "--host", "0.0.0.0"], "error: --host 0.0.0.0 lets other machines ask, and there is no key\nfix: BADAK_API_KEY="),
    (["{writer}", "--host", "no.such.host.example"], "error: no.such.host.example"),
    (["{writer}", "--api-key-file", "absent.txt"], "error: absent.txt"),
    (["{writer}", "--api-key-file", "short.txt"], "error: short.txt: a key has 16 or more letters and digits, and no spaces"),
    (["{writer}", "--streams", "0"], "error: Invalid value for '--streams'"),
    (["{writer}", "--port", "70000"], "error: Invalid value for '--port'"),
    (["{writer}", "--port", "{taken}"], "fix: another --port, or --port 0 for a free one\n"),
])  # fmt: skip
def test_what_cannot_be_served_is_said_in_two_lines(folders, tmp_path, monkeypatch, capsys, words, said):
    from badak.serving.server import listen

    monkeypatch.chdir(tmp_path)
    (tmp_path / "short.txt").write_text("123\n")
    taken = listen("127.0.0.1", 0)
    words = [one.format(**folders, taken=taken.getsockname()[1]) for one in words]
    port = [] if "--port" in words else ["--port", "0"]
    assert main(["serve", "--no-api-key" if "no.such.host.example" in words else "--log-requests", *port, *words]) == 2
    taken.close()
    found = capsys.readouterr().err
    assert said in found and found.startswith("error: ") and len(found.splitlines()) == 2
