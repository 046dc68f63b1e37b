"""The clients that people have, as they come from PyPI: openai, langchain-openai and litellm."""

import asyncio
import json
from typing import Literal

import numpy as np
import pytest

from tests.cli.serving.test_api import TURNS, written

# Theirs: litellm and its dependencies warn at their import, and leave sockets to the garbage collector
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


@pytest.fixture(scope="module")
def client(server):
    import openai

    return openai.OpenAI(base_url=f"{server.url}/v1", api_key="none", max_retries=0)


def test_openai_completes_chats_and_streams(server, client):
    expected = written(server, "to be or", max_new_tokens=9, seed=4)
    assert client.completions.create(model="writer", prompt="to be or", max_tokens=9, seed=4).choices[0].text == expected
    stream = client.completions.create(model="writer", prompt="to be or", max_tokens=9, seed=4, stream=True)
    assert "".join(one.choices[0].text for one in stream) == expected
    chat = {"model": "writer", "messages": TURNS, "max_completion_tokens": 9, "seed": 4}
    told = client.chat.completions.create(**chat, logprobs=True, top_logprobs=2, n=2)
    assert len(told.choices) == 2 and told.usage.completion_tokens == 18 and len(told.choices[0].logprobs.content) == 9
    chunks = list(client.chat.completions.create(**chat, stream=True, stream_options={"include_usage": True}))
    assert "".join(one.choices[0].delta.content or "" for one in chunks if one.choices) == told.choices[0].message.content
    assert chunks[-1].usage.completion_tokens == 9
    told = client.chat.completions.create(**chat, extra_body={"top_k": 1})
    assert told.choices[0].message.content


def test_openai_embeds_lists_and_raises_its_own_errors(server, client):
    import openai

    encoder = server.models["encoder"].encoder
    told = client.embeddings.create(model="encoder", input=["to be", "or not"])
    assert np.array_equal([one.embedding for one in told.data], encoder.encode(["to be", "or not"]))
    assert [one.id for one in client.models.list()] == list(server.models)
    with pytest.raises(openai.NotFoundError, match="there is no model 'gpt-4' here"):
        client.completions.create(model="gpt-4", prompt="x")
    with pytest.raises(openai.BadRequestError, match="presence_penalty") as error:
        client.completions.create(model="writer", prompt="x", presence_penalty=1)
    assert error.value.param == "presence_penalty" and error.value.code == "unsupported_parameter"


def test_openai_parses_answers_of_a_schema(client):
    from pydantic import BaseModel

    class Answer(BaseModel):
        yes: bool
        word: Literal["a", "바닥"]

    asked = {"model": "writer", "messages": TURNS, "response_format": Answer, "max_tokens": 60, "temperature": 1}
    told = [client.chat.completions.parse(**asked, seed=seed).choices[0].message.parsed for seed in range(4)]
    assert all(isinstance(one, Answer) for one in told)


def test_many_of_openai_at_once(server):
    import openai

    async def ask():
        async with openai.AsyncOpenAI(base_url=f"{server.url}/v1", api_key="none", max_retries=5) as client:
            asked = [client.completions.create(model="writer", prompt="to be or", max_tokens=9, seed=i % 4) for i in range(24)]
            return [one.choices[0].text for one in await asyncio.gather(*asked)]

    expected = [written(server, "to be or", max_new_tokens=9, seed=i) for i in range(4)]
    assert asyncio.run(ask()) == expected * 6


def test_langchain(server):
    from langchain_openai import ChatOpenAI, OpenAIEmbeddings

    about = {"base_url": f"{server.url}/v1", "api_key": "none"}
    chat = ChatOpenAI(model="writer", temperature=0, max_tokens=8, **about)
    told = chat.invoke("to be or")
    assert told.content and told.usage_metadata["output_tokens"] == 8
    assert "".join(one.content for one in chat.stream("to be or")) == told.content
    vectors = OpenAIEmbeddings(model="encoder", check_embedding_ctx_length=False, **about).embed_documents(["to be", "or not"])
    assert np.allclose(vectors, server.models["encoder"].encoder.encode(["to be", "or not"]))


def test_litellm(server):
    import litellm

    about = {"api_base": f"{server.url}/v1", "api_key": "none"}
    told = litellm.completion(model="openai/writer", messages=TURNS, max_tokens=8, temperature=0, **about)
    text = told.choices[0].message.content
    chunks = litellm.completion(model="openai/writer", messages=TURNS, max_tokens=8, temperature=0, stream=True, **about)
    assert "".join(one.choices[0].delta.content or "" for one in chunks) == text
    told = litellm.embedding(model="openai/encoder", input=["to be"], encoding_format="float", **about)
    assert told.data[0]["embedding"] == server.models["encoder"].encoder.encode(["to be"])[0].tolist()
    plan = {"type": "json_schema", "json_schema": {"name": "x", "schema": {"type": "object", "properties": {"a": {"enum": [1, 2]}}, "required": ["a"], "additionalProperties": False}}}  # fmt: skip
    told = litellm.completion(model="openai/writer", messages=TURNS, max_tokens=100, response_format=plan, **about)
    assert json.loads(told.choices[0].message.content)["a"] in (1, 2)
