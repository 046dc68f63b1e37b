"""Answers of a schema or a grammar: each sampled one is valid, at any temperature, for tokenizers and vocabularies of letters."""

import json
import re

import jsonschema
import numpy as np
import pytest

from badak.cli.serving.errors import RequestError
from badak.cli.serving.fields import Fields
from badak.cli.serving.guide import Grammars
from badak.data.text import CharVocabulary, WordVocabulary
from badak.tensor import from_numpy
from tests.cli.serving.test_api import TURNS, events
from tests.tiers import draws

SCHEMAS = [
    {"type": "object", "properties": {"name": {"type": "string", "maxLength": 8}, "age": {"type": "integer", "minimum": 0, "maximum": 120}}, "required": ["name", "age"], "additionalProperties": False},
    {"type": "array", "items": {"enum": ["a", "b", None, True]}, "minItems": 1, "maxItems": 4},
    {"anyOf": [{"type": "boolean"}, {"type": "object", "properties": {"x": {"const": 5}}, "required": ["x"], "additionalProperties": False}]},
]  # fmt: skip


@pytest.mark.thin(2)
@pytest.mark.slow
@pytest.mark.parametrize("schema", SCHEMAS, ids=["object", "array", "either"])
def test_what_is_written_to_its_end_follows_the_schema(server, schema):
    form = {"type": "json_schema", "json_schema": {"name": "answer", "strict": True, "schema": schema}}
    whole = 0
    for seed in range(draws(8)):
        body = {
            "messages": TURNS,
            "response_format": form,
            "max_tokens": 120,
            "temperature": [0.0, 1.0, 3.0][seed % 3],
            "top_k": 0,
            "seed": seed,
        }
        told = server.client.post("/v1/chat/completions", json=body).json()["choices"][0]
        if told["finish_reason"] == "stop":
            jsonschema.validate(json.loads(told["message"]["content"]), schema)
            whole += 1
        pieces, _ = events(server.client.post("/v1/chat/completions", json={**body, "stream": True}))
        assert "".join(one["choices"][0]["delta"].get("content", "") for one in pieces) == told["message"]["content"]
    assert whole > 0.5 * draws(8)


@pytest.mark.slow
def test_any_object_and_a_lark_grammar(server):
    for seed in range(draws(10)):
        body = {"messages": TURNS, "max_tokens": 100, "seed": seed}
        told = server.client.post("/v1/chat/completions", json={**body, "response_format": {"type": "json_object"}}).json()[
            "choices"
        ][0]
        text = told["message"]["content"]
        assert text.startswith("{") and (told["finish_reason"] == "length" or isinstance(json.loads(text), dict))
        told = server.client.post(
            "/v1/completions", json={"prompt": "to", "seed": seed, "grammar": 'start: ("to be" | "or " /[0-9]{2}/) "!"'}
        )
        assert (
            re.fullmatch(r"(to be|or \d\d)!", told.json()["choices"][0]["text"])
            and told.json()["choices"][0]["finish_reason"] == "stop"
        )


def drawn(grammars, random, size, **asked):
    """Tokens that a grammar allows, drawn one by one, as long as it goes on."""
    form = asked.pop("form", None)
    guide, tokens = grammars.guide(form and Fields(form), asked.get("grammar")), []
    while True:
        logits = guide.masked(from_numpy(random.standard_normal((1, size)).astype(np.float32))).numpy()[0]
        tokens.append(int(logits.argmax()))
        if guide.take(tokens[-1]):
            return tokens


@pytest.mark.slow
def test_vocabularies_of_letters_and_of_words():
    random = np.random.default_rng(0)
    letters = CharVocabulary('\n !"0123456789:abcdefghijklmnopqrstuvwxyz{}바닥,[]')
    grammars = Grammars(letters, (), len(letters))
    form = {"type": "json_schema", "json_schema": {"schema": {"type": "object", "properties": {"바": {"enum": ["a", "닥"]}, "n": {"type": "boolean"}}, "required": ["바", "n"], "additionalProperties": False}}}  # fmt: skip
    for _ in range(20):
        value = json.loads(letters.decode(drawn(grammars, random, len(letters), form=form)))
        assert set(value) == {"바", "n"} and value["바"] in ("a", "닥")
    words = WordVocabulary.from_texts(["yes no maybe so"])
    for _ in range(10):
        text = words.decode(
            drawn(Grammars(words, (words.eos,), len(words)), random, len(words), grammar='start: " yes" | " no" " maybe"?'),
            skip_special=True,
        )
        assert text in ("yes", "no", "no maybe")


def test_a_grammar_that_no_token_goes_on_with_is_told():
    letters = CharVocabulary("abc")
    guide = Grammars(letters, (), 3).guide(None, 'start: "xyz"')
    with pytest.raises(RequestError, match="the grammar goes on with what no token of the model is"):
        guide.masked(from_numpy(np.zeros((1, 3), np.float32)))
    with pytest.raises(RequestError, match="response_format and grammar are given both"):
        Grammars(letters, (), 3).guide(Fields({"type": "json_object"}), "start: /a/")
