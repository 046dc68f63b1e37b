"""What somebody may try: the server answers with two lines or ends the connection, keeps nothing, and goes on."""

import json
import logging
import os
import socket
import threading

import httpx
import numpy as np
import pytest

from badak.cli.serving import app
from badak.cli.serving import server as server_module
from tests.tiers import draws
from tests.waiting import HANGS, until

GOOD = {"prompt": "to be", "max_tokens": 3, "seed": 1}


def goes_on(server):
    """Whether the server answers as before, with all places free."""
    told = server.client.post("/v1/completions", json=GOOD)
    assert told.status_code == 200, told.text
    engine = server.models["writer"].engine
    until(lambda: engine.running == engine.waiting == 0)
    assert len(engine.pool.free) == engine.pool.pages
    return told.json()["choices"][0]["text"]


def sent(server, data, seconds=HANGS):
    """What comes back for bytes on a connection."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=seconds) as to:
        try:
            to.sendall(data)
            to.shutdown(socket.SHUT_WR)
            found = b""
            while part := to.recv(65_536):
                found += part
        except (ConnectionError, TimeoutError):
            return b""
    return found


@pytest.fixture
def logged():
    """What is logged meanwhile, at any level: a line or more of each record, behind the name of its logger."""
    lines, handler, root = [], logging.Handler(), logging.getLogger()
    handler.setFormatter(logging.Formatter("%(name)s: %(message)s"))
    handler.emit = lambda record: lines.append(handler.format(record))
    before = root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    yield lines
    root.setLevel(before)
    root.removeHandler(handler)


def post(body, path="/v1/completions", *headers):
    lines = [
        f"POST {path} HTTP/1.1",
        "host: localhost",
        "content-type: application/json",
        f"content-length: {len(body)}",
        "connection: close",
        *headers,
    ]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


BODIES = [
    b"", b"{", b"[]", b"null", b'"x"', b"5", b"{}" * 2, b"\xff\xfe{}", b'{"prompt": NaN}', b'{"prompt": "\xed\xa0\x80"}', b"[" * 100_000,
    b'{"a":' * 50_000, b'{"max_tokens": ' + b"9" * 10_000 + b"}", b'{"prompt": "\\ud800"}', b'{"prompt": "x", "temperature": 1e999}',
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("body", BODIES, ids=[repr(one[:20]) for one in BODIES])
def test_bodies_that_are_no_request(server, body):
    for path in ("/v1/completions", "/v1/chat/completions", "/v1/embeddings", "/v1/classify", "/v1/translate", "/v1/fill-mask"):
        told = server.client.post(path, content=body, headers={"content-type": "application/json"})
        error = told.json()["error"]
        assert told.status_code == 400 and error["message"].count("\nfix: ") == 1 and "Traceback" not in told.text
    assert goes_on(server)


@pytest.mark.slow
def test_bytes_that_are_no_http(server):
    random = np.random.default_rng(5)
    good = post(json.dumps(GOOD).encode())
    known = [
        b"", b"\r\n\r\n", b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"GET / HTTP/1.1\r\nhost: localhost\r\n" + b"a: b\r\n" * 20_000 + b"\r\n", b"GET /" + b"a" * 100_000 + b" HTTP/1.1\r\n\r\n",
        b"POST /v1/completions HTTP/1.1\r\nhost: localhost\r\ncontent-length: -1\r\n\r\n", good.replace(b"content-length", b"content-length: 5\r\ncontent-length"),
        b"POST /v1/completions HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
        good.replace(b"connection: close", b"connection: upgrade\r\nupgrade: websocket"), good + good, good[:-4],
    ]  # fmt: skip
    for data in known:
        sent(server, data)
    for _ in range(draws(60)):
        data = bytearray(good)
        for at in random.integers(0, len(data), int(random.integers(1, 6))):
            data[at] = random.integers(0, 256)
        found = sent(server, bytes(data[: int(random.integers(1, len(data) + 1))]))
        assert b"Traceback" not in found and b".py" not in found
    assert goes_on(server)


@pytest.mark.slow
def test_any_value_in_any_field(server, capfd):
    random = np.random.default_rng(6)
    values = [
        None,
        True,
        -1,
        0,
        1e308,
        -0.5,
        10**30,
        "",
        "x",
        "\0\u202e",
        "á" * 500,
        [],
        [[]],
        {},
        {"a": {}},
        ["x", None],
        [{}],
        [[1]],
        "\ud800",
    ]
    names = ["model", "prompt", "messages", "input", "max_tokens", "temperature", "top_p", "top_k", "min_p", "n", "stop", "seed", "stream", "logprobs",
             "top_logprobs", "stream_options", "response_format", "grammar", "echo", "user", "encoding_format", "dimensions", "truncate", "top", "num_beams",
             "length_penalty", "repetition_penalty", "no_repeat_ngram_size", "max_completion_tokens", "tools", "logit_bias", "__proto__"]  # fmt: skip
    bases = {
        "/v1/completions": GOOD, "/v1/chat/completions": {"messages": [{"role": "user", "content": "to be"}], "max_tokens": 3},
        "/v1/embeddings": {"input": "to be"}, "/v1/classify": {"input": "to be"}, "/v1/translate": {"input": "to be"},
        "/v1/fill-mask": {"input": "to [MASK]"},
    }  # fmt: skip
    for path, base in bases.items():
        for _ in range(draws(30)):
            chosen = random.integers(0, len(names), int(random.integers(1, 4)))
            body = {**base, **{names[i]: values[random.integers(0, len(values))] for i in chosen}}
            told = server.client.post(path, content=json.dumps(body), headers={"content-type": "application/json"})
            assert told.status_code in (200, 400, 404), (body, told.text)
            assert told.status_code == 200 or "\nfix: " in told.json()["error"]["message"], (body, told.text)
    assert goes_on(server) and "Traceback" not in capfd.readouterr().err


def test_a_body_that_is_too_large_or_too_slow(server, monkeypatch):
    told = server.client.post("/v1/completions", json={"prompt": "x" * (2 << 20)})
    assert told.status_code == 413 and told.json()["error"]["message"].startswith(
        "the body has more than 1,048,576 bytes\nfix: a smaller one"
    )
    told = server.client.post("/v1/completions", content=b"{}", headers={"content-type": "text/plain"})
    assert told.status_code == 415 and "expected application/json" in told.json()["error"]["message"]
    monkeypatch.setattr(app, "BODY_SECONDS", 0.2)
    with socket.create_connection(("127.0.0.1", server.port), timeout=HANGS) as to:
        to.sendall(post(b"{}").replace(b"content-length: 2", b"content-length: 20"))
        assert b"408" in to.recv(65_536).split(b"\r\n")[0]
    assert goes_on(server)


@pytest.mark.slow
def test_headers_that_do_not_come_end_the_connection(server, monkeypatch):
    monkeypatch.setattr(server_module, "HEADER_SECONDS", 0.2)
    for data in (b"", b"GET / HT", b"GET /health HTTP/1.1\r\nhost: localhost\r\n"):
        with socket.create_connection(("127.0.0.1", server.port), timeout=HANGS) as to:
            to.sendall(data)
            try:
                assert to.recv(100) == b""
            except ConnectionResetError:
                pass
    with socket.create_connection(("127.0.0.1", server.port), timeout=HANGS) as to:  # nor those of a second request
        to.sendall(b"GET /health HTTP/1.1\r\nhost: localhost\r\n\r\n")
        while b'{"status":"ok"}' not in to.recv(65_536):
            pass
        to.sendall(b"GET /hea")
        try:
            assert to.recv(100) == b""
        except ConnectionResetError:
            pass
    assert goes_on(server)


def test_long_prompts(server):
    told = server.client.post("/v1/completions", json={"prompt": "to be " * 10_000, "max_tokens": 2})
    assert told.status_code == 400 and told.json()["error"]["code"] == "context_length_exceeded"
    assert told.json()["error"]["message"].endswith("\nfix: a shorter prompt")


@pytest.mark.slow
def test_streams_that_are_left_free_their_places(server):
    engine, expected = server.models["writer"].engine, goes_on(server)
    for stream in (True, False):
        before = engine.tokens_written
        body = {"prompt": "to be", "max_tokens": 240, "stream": stream, "n": 4}
        for _ in range(draws(10)):
            with socket.create_connection(("127.0.0.1", server.port), timeout=HANGS) as to:
                to.sendall(post(json.dumps(body).encode()))
                if stream:
                    found = b""
                    while b"data: " not in found:
                        found += to.recv(65_536)
                until(lambda: engine.running)
        until(lambda: engine.running == engine.waiting == 0)
        assert engine.tokens_written - before < 0.9 * draws(10) * 4 * 240
    assert goes_on(server) == expected


@pytest.mark.slow
def test_a_stream_that_is_cut_leaves_no_lines_in_the_log(server, logged):
    """asyncio warns of each write to a connection that is gone, from the fifth on."""

    def cut(number):
        for count in (1, 3, 5) * 3:
            body = {"prompt": "to be", "max_tokens": 200, "stream": True, "n": 4, "seed": number}
            with socket.create_connection(("127.0.0.1", server.port), timeout=HANGS) as to:
                to.sendall(post(json.dumps(body).encode()))
                found = b""
                while found.count(b"data: ") < count + number % 3:
                    found += to.recv(300)

    threads = [threading.Thread(target=cut, args=(number,)) for number in range(16)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert goes_on(server) and not [line for line in logged if "socket.send" in line]


@pytest.mark.slow
def test_who_does_not_read_holds_nobody_up(server):
    engine = server.models["writer"].engine
    lazy = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(8)]
    try:
        for one in lazy:
            one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1024)
            one.sendall(post(json.dumps({"prompt": "to be", "max_tokens": 240, "stream": True, "logprobs": 20}).encode()))
        until(lambda: engine.running)
        assert goes_on(server)
    finally:
        for one in lazy:
            one.close()


@pytest.mark.slow
def test_a_thousand_connections(server):
    files = os.sysconf("SC_OPEN_MAX") if hasattr(os, "sysconf") else 1 << 16  # both ends of each are in this process
    count = min(draws(1_000), files // 2 - 300)
    many = []
    try:
        for _ in range(count):
            many.append(socket.create_connection(("127.0.0.1", server.port), timeout=HANGS))
        with httpx.Client(base_url=server.url, timeout=HANGS) as client:
            assert client.get("/health").status_code in (200, 503)
    finally:
        for one in many:
            one.close()
    until(lambda: server.client.get("/health").status_code == 200)
    assert goes_on(server)


@pytest.fixture(scope="module")
def locked(serving):
    return serving("writer", key="0123456789abcdef-key", host="0.0.0.0")


@pytest.mark.slow
def test_a_key_is_needed_where_there_is_one(locked):
    ask = lambda **headers: locked.client.post("/v1/completions", json=GOOD, headers=headers)
    for headers in ({}, {"authorization": "Bearer wrong"}, {"authorization": "0123456789abcdef-key"}, {"authorization": "Basic 0123456789abcdef-key"},
                    {"authorization": "Bearer 0123456789abcdef-ke"}, {"authorization": "Bearer 0123456789abcdef-key-"}):  # fmt: skip
        told = ask(**headers)
        assert (
            told.status_code == 401
            and told.json()["error"]["code"] == "invalid_api_key"
            and told.headers["www-authenticate"] == "Bearer"
        )
        assert "0123456789" not in told.text
    assert ask(authorization="Bearer 0123456789abcdef-key").status_code == 200
    assert ask(authorization="bearer 0123456789abcdef-key").status_code == 200
    assert locked.client.get("/v1/models").status_code == locked.client.get("/metrics").status_code == 401
    assert locked.client.get("/health").status_code == locked.client.get("/").status_code == 200
    assert locked.client.get("/health", headers={"host": "example.com"}).status_code == 200


@pytest.mark.slow
def test_names_of_other_machines_are_not_answered(server):
    for host in ("evil.example", "evil.example:8000", "localhost.evil.example", "[::2]", ""):
        told = server.client.get("/v1/models", headers={"host": host})
        assert told.status_code == 421 and "this server is for this machine alone" in told.json()["error"]["message"]
    for host in ("localhost", "LOCALHOST:80", "127.0.0.1:1", "[::1]:8000"):
        assert server.client.get("/v1/models", headers={"host": host}).status_code == 200


@pytest.mark.slow
def test_a_busy_server_says_when_to_ask_again(serving):
    busy = serving("writer", streams=1, queue=1)
    body = {"prompt": "to be", "max_tokens": 240, "temperature": 0}
    found = []

    def ask():
        with httpx.Client(base_url=busy.url, timeout=HANGS) as client:
            found.append(client.post("/v1/completions", json=body))

    threads = [threading.Thread(target=ask) for _ in range(6)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    refused = [one for one in found if one.status_code == 429]
    assert refused and {one.status_code for one in found} == {200, 429}
    assert refused[0].headers["retry-after"] == "1" and refused[0].json()["error"]["type"] == "rate_limit_error"
    assert len({one.json()["choices"][0]["text"] for one in found if one.status_code == 200}) == 1
    late = serving("writer", timeout=0.05)
    told = late.client.post("/v1/completions", json=body)
    assert told.status_code == 504 and "--timeout" in told.json()["error"]["message"]
    text = late.client.post("/v1/completions", json={**body, "stream": True}).text
    assert "[DONE]" not in text and '"error"' in text


@pytest.mark.slow
def test_nothing_of_a_request_is_in_the_log(serving, monkeypatch, logged):
    loud = serving("writer", log=True)
    loud.client.post("/v1/completions?token=secret", json={"prompt": "secret to be", "max_tokens": 2})
    assert any("POST /v1/completions 200 " in line for line in logged)
    monkeypatch.setattr(loud.models["writer"].engine.model, "forward", lambda *args, **kwargs: 1 / 0)
    told = loud.client.post("/v1/completions", json={"prompt": "secret to be", "max_tokens": 2})
    assert told.status_code == 500 and told.json()["error"]["message"] == (
        "the server failed on this request\nfix: look into its log, and report it"
    )
    told = "\n".join(line for line in logged if not line.startswith(("httpx", "httpcore")))
    assert "ZeroDivisionError in" in told and "division by zero" not in told and "secret" not in told
