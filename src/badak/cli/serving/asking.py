"""What a request for text asks for: bodies of OpenAI's two ways to ask, as jobs of the engine."""

import secrets
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from badak.cli.serving.engine import LOGPROBS, Job, Piece
from badak.cli.serving.errors import RequestError, TooLongError
from badak.cli.serving.fields import Fields, is_text, is_tokens
from badak.cli.serving.limits import Limits
from badak.cli.serving.models import Writer
from badak.core.errors import ArgumentError, tr
from badak.generation.chat import conversation
from badak.generation.folder import Turn
from badak.generation.logit_filters import GenerationConfig
from badak.generation.text import prompt_ids

MANY = 128  # texts of one request
STOPS = 16
# Fields that are settings of how the model writes, by their names in GenerationConfig
SETTINGS = {
    "temperature": "number", "top_p": "number", "min_p": "number", "repetition_penalty": "number", "top_k": "whole",
    "no_repeat_ngram_size": "whole",
}  # fmt: skip
ROLES = {"system": "system", "developer": "system", "user": "user", "assistant": "assistant"}


@dataclass
class Asked:
    """Texts that are asked for.

    jobs          one for each answer, in the order of their index
    prompts       tokens of the prompts
    before        what stands before each answer where the prompt is told, too
    """

    chat: bool
    jobs: list[Job]
    prompts: int
    before: list[str]
    stream: bool = False
    usage: bool = False
    logprobs: bool = False


@dataclass
class _Prompt:
    ids: np.ndarray
    text: str
    after: Sequence[int] | np.ndarray
    stripped: bool = False


def ask(chat: bool, model: Writer, fields: Fields, limits: Limits) -> Asked:
    """The jobs of a body, which `deliver` to nobody yet. RequestError for what has no meaning or is not supported."""
    prompts = [_conversation(model, fields)] if chat else _prompts(model, fields, limits)
    longest, stop = _length(chat, fields), _stops(fields)
    stream, n = fields.flag("stream"), fields.whole("n", 1, 1, MANY)
    options = fields.table("stream_options")
    logprobs = _logprobs(chat, fields)
    echo = not chat and fields.flag("echo")
    config = _config(model, fields)
    form, grammar = fields.table("response_format"), fields.text("grammar")
    most_answers = min(MANY, limits.streams + limits.queue)  # more would never find room at once
    if n * len(prompts) > most_answers:
        cause = tr("{} answers are asked for; {} at most", n * len(prompts), most_answers)
        raise RequestError(cause, "fewer prompts, or a smaller n", param="n")
    usage = options is not None and options.flag("include_usage")
    if options is not None:
        options.close()
    fields.close()
    guide = model.grammars.guide(form, grammar)
    jobs = []
    for at, prompt in enumerate(prompts):
        room = model.engine.longest - len(prompt.ids)
        if room < 1 or (longest or 0) > room:
            raise TooLongError(len(prompt.ids), longest or 1, len(prompt.ids) + room)
        for i in range(n):
            seed = config.seed + at * n + i
            most = min(config.max_new_tokens, room) if longest is None else longest
            job = Job(
                prompt.ids, replace(config, seed=seed, max_new_tokens=most), _to_nobody, model.writer.ends, model.suppress_tokens,
                [*stop, "\n"] if prompt.stripped else stop, prompt.stripped, prompt.after, logprobs, echo,
                guide and guide.copy(),
                time.monotonic() + limits.timeout,
            )  # fmt: skip
            jobs.append(job)
    before = [prompt.text if echo else "" for prompt in prompts for _ in range(n)]
    return Asked(chat, jobs, sum(len(prompt.ids) for prompt in prompts), before, stream, usage, logprobs is not None)


def _to_nobody(piece: Piece) -> None:
    """Where the pieces of a job go before somebody waits for them."""


def _config(model: Writer, fields: Fields) -> GenerationConfig:
    """How the model writes: as its folder says, where the request says nothing else. Without a seed each request has its own."""
    seed = fields.whole("seed", None, 0, (1 << 63) - 1 - MANY)
    asked: dict[str, Any] = {"num_beams": 1, "seed": secrets.randbits(31) if seed is None else seed}
    for name, kind in SETTINGS.items():
        value = getattr(fields, kind)(name)
        if value is not None:
            asked[name] = value if kind == "whole" else float(value)
    try:
        return replace(model.writer.config, **asked)
    except ArgumentError as error:
        wrong = next((name for name in SETTINGS if name in error.cause), None)
        raise RequestError(error.cause, error.fix, param=wrong) from None


def _length(chat: bool, fields: Fields) -> int | None:
    """The most tokens of an answer, None where the request does not say."""
    names = ("max_completion_tokens", "max_tokens") if chat else ("max_tokens",)
    asked = [fields.whole(name, None, 1 if chat else 0) for name in names]
    told = [one for one in asked if one is not None]
    if len(set(told)) > 1:
        raise RequestError(tr("max_completion_tokens={} and max_tokens={}", told[0], told[1]), "one of them", param="max_tokens")
    return told[0] if told else None


def _logprobs(chat: bool, fields: Fields) -> int | None:
    """How many alternatives of each token are told; None for no probabilities at all."""
    if not chat:
        return fields.whole("logprobs", None, 0, LOGPROBS)
    told, top = fields.flag("logprobs"), fields.whole("top_logprobs", None, 0, LOGPROBS)
    if top is not None and not told:
        raise RequestError(tr("top_logprobs={} without logprobs", top), '"logprobs": true', param="top_logprobs")
    return (top or 0) if told else None


def _stops(fields: Fields) -> list[str]:
    kind = tr("a text, or a list of at most {} texts", STOPS)
    many: Callable[[Any], bool] = lambda x: isinstance(x, list) and len(x) <= STOPS and all(is_text(one) and one for one in x)
    found = fields.pick("stop", [], lambda x: (is_text(x) and bool(x)) or many(x), kind, tr('"stop": ["."]'))
    return [found] if isinstance(found, str) else found


def _conversation(model: Writer, fields: Fields) -> _Prompt:
    """The prompt that the messages of a chat make."""
    messages = fields.pick(
        "messages", None, lambda x: isinstance(x, list) and len(x) > 0 and all(isinstance(one, dict) for one in x),
        tr("a list of messages"), tr('"messages": [{"role": "user", "content": "Hello"}]'),
    )  # fmt: skip
    if messages is None:
        raise fields.misfit("messages", tr("a list of messages"), tr('"messages": [{"role": "user", "content": "Hello"}]'))
    turns = [_turn(Fields(message, f"messages[{at}].")) for at, message in enumerate(messages)]
    writer = model.writer
    text = conversation(writer, turns[-1:] if writer.alone else turns)
    lines = writer.template is None
    return _Prompt(prompt_ids(writer.vocabulary, text, None if lines else False), text, (), lines)


def _turn(message: Fields) -> Turn:
    roles = " or ".join(ROLES)
    role = message.pick("role", None, lambda x: isinstance(x, str) and x in ROLES, roles)
    content = message.pick(
        "content", None, lambda x: is_text(x) or isinstance(x, list), tr("a text, or parts of text"),
        tr('images and sounds are not read here'),
    )  # fmt: skip
    if role is None or content is None:
        raise message.misfit("role" if role is None else "content", roles if role is None else tr("a text"))
    message.text("name")
    message.close()
    if isinstance(content, str):
        return {"role": ROLES[role], "content": content}
    parts = []
    for at, part in enumerate(content):
        if not isinstance(part, dict):
            cause = tr("{}content[{}]: expected an object", message.where, at)
            raise RequestError(cause, '{"type": "text", "text": "Hello"}', param="messages")
        one = Fields(part, f"{message.where}content[{at}].")
        one.pick("type", None, lambda x: x == "text", "text", tr("images and sounds are not read here"))
        parts.append(one.text("text", ""))
        one.close()
    return {"role": ROLES[role], "content": "".join(parts)}


def _prompts(model: Writer, fields: Fields, limits: Limits) -> list[_Prompt]:
    """The prompts of a request: a text or several, or token numbers."""
    most, size = limits.max_inputs, len(model.writer.vocabulary)
    value = fields.values.get("prompt")
    if isinstance(value, list) and value and not isinstance(value[0], str):
        fields.values.pop("prompt")
        several = value if isinstance(value[0], list) else [value]
        if len(several) > most or not all(is_tokens(one, 1 << 20) and max(one) < size for one in several):
            cause = tr("prompt: expected texts, or lists of token numbers below {:,}", size)
            raise RequestError(cause, '"prompt": "a text"', param="prompt")
        rows = [np.array(one, np.int64) for one in several]
        return [_Prompt(ids, model.writer.vocabulary.decode(ids), ids) for ids in rows]
    texts = fields.texts("prompt", most)
    rows = [prompt_ids(model.writer.vocabulary, text) for text in texts]
    return [_Prompt(ids, text, ids) for ids, text in zip(rows, texts)]
