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
from tests.cli.serving.conftest import write_models


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
        assert process.stdout.readline() == "writer: /v1/chat/completions\n"
        while (said := process.stdout.readline()).endswith("/v1/chat/completions\n"):
            pass
        return process, re.fullmatch(r"badak serves at (http://127\.0\.0\.1:\d+)/ \(Ctrl-C ends it\)\n", said)[1]

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
    said = [line for line in process.stderr if not line.startswith("badak: compil")]  # kernels that nobody has compiled yet
    assert process.wait(30) == 0 and said == []
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
    from badak.cli.serving.server import listen

    monkeypatch.chdir(tmp_path)
    (tmp_path / "short.txt").write_text("123\n")
    taken = listen("127.0.0.1", 0)
    words = [one.format(**folders, taken=taken.getsockname()[1]) for one in words]
    port = [] if "--port" in words else ["--port", "0"]
    assert main(["serve", "--no-api-key" if "no.such.host.example" in words else "--log-requests", *port, *words]) == 2
    taken.close()
    found = capsys.readouterr().err
    assert said in found and found.startswith("error: ") and len(found.splitlines()) == 2


@pytest.mark.slow
def test_a_run_writes_over_http_what_it_writes_at_the_command_line(tmp_path, monkeypatch, capsys, started):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "text.txt").write_text("to be or not to be that is the question\n" * 20)
    sizes = ["--context", "64", "--d-model", "16", "--heads", "2", "--layers", "1", "--batch-size", "4"]
    assert main(["train", "gpt", "--data", "text.txt", "--tokens", "characters", "--steps", "2", "--run", "r", *sizes]) == 0
    capsys.readouterr()
    assert main(["generate", "r", "to be", "--max-new-tokens", "30", "--seed", "7"]) == 0
    expected = capsys.readouterr().out.removesuffix("\n")
    _, url = started("r")
    assert [one["id"] for one in httpx.get(f"{url}/v1/models").json()["data"]] == ["writer", "r"]
    body = {"model": "r", "prompt": "to be", "max_tokens": 30, "seed": 7, "echo": True}
    assert httpx.post(f"{url}/v1/completions", json=body).json()["choices"][0]["text"] == expected
    told = httpx.post(f"{url}/v1/chat/completions", json={"model": "r", "messages": [{"role": "user", "content": "to be"}]}).json()
    assert "\n" not in told["choices"][0]["message"]["content"]  # turns are lines: an answer ends with its line
    told = httpx.post(f"{url}/v1/completions", json={**body, "prompt": "to ᚠ"})
    assert told.status_code == 400 and "is not among the " in told.json()["error"]["message"]


@pytest.mark.slow
def test_bench_serve_measures_and_compares(folders, capsys):
    assert main(["bench", "serve", folders["writer"], "--streams", "1,3", "--prompt-tokens", "5", "--tokens", "6"]) == 0
    head, *rows = capsys.readouterr().out.splitlines()[1:]
    assert head.split() == ["clients", "tokens/s", "first", "token,", "median", "worst", "MiB", "same", "texts"]
    assert [row.split()[0] for row in rows] == ["1", "3"] and all(row.endswith("  yes") for row in rows)
    assert main(["bench", "serve", folders["writer"], "--streams", "1,x"]) == 2
    assert "error: bench serve: expected numbers of clients; got --streams 1,x\nfix: --streams 1,4,16\n" in capsys.readouterr().err
    assert main(["bench", "serve", folders["writer"], "--streams", "1", "--prompt-tokens", "300"]) == 2
    assert "fix: fewer --tokens, or a shorter --prompt-tokens\n" in capsys.readouterr().err
    assert main(["bench", "serve", "no/such/model"]) == 2
    assert "error: no/such/model: badak serve ended with 2\n" in capsys.readouterr().err
