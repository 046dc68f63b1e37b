"""Answers in the form of OpenAI's API: whole, or in pieces as they come."""

import asyncio
import json
import secrets
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from functools import partial
from typing import Any

from badak.cli.serving.asking import Asked
from badak.cli.serving.engine import Piece
from badak.cli.serving.errors import EndingError, RequestError
from badak.cli.serving.models import Writer
from badak.cli.serving.responses import error_of
from badak.generation.text import TextVocabulary


class Answer:
    """The answers of one request, while they come: `start()`, then `whole()` or `events(...)`, and in any case `leave()`."""

    def __init__(self, model: Writer, asked: Asked):
        self.model, self.engine, self.asked, self.left = model, model.engine, asked, len(asked.jobs)
        self.pieces: asyncio.Queue[tuple[int, Piece]] = asyncio.Queue()
        self.written = [0] * len(asked.jobs)
        self.kind, prefix = ("chat.completion", "chatcmpl") if asked.chat else ("text_completion", "cmpl")
        self.head = {"id": f"{prefix}-{secrets.token_hex(12)}", "created": int(time.time()), "model": model.name}

    def start(self) -> None:
        """Let the answers be written. RequestError where the engine takes no more."""
        loop = asyncio.get_running_loop()
        for at, job in enumerate(self.asked.jobs):
            job.deliver = partial(_put, loop, self.pieces, at)
        self.engine.submit(*self.asked.jobs)

    def leave(self) -> None:
        """Nobody waits any more: free the places of what is not whole."""
        if self.left:
            self.engine.cancel(*self.asked.jobs)

    async def next(self) -> tuple[int, Piece]:
        """What comes next, and of which answer. RequestError where one of them cannot be finished."""
        at, piece = await self.pieces.get()
        self.written[at] = piece.written
        self.left -= bool(piece.finish)
        if piece.error is not None:
            raise piece.error
        if piece.finish == "late":
            raise RequestError(
                "the answer took longer than the server's --timeout", "a smaller max_tokens", status=504, code="timeout"
            )
        if piece.finish == "cancelled":
            raise EndingError("the server ends, and the answer is not whole")
        return at, piece

    @property
    def usage(self) -> dict[str, int]:
        """Tokens read and written."""
        prompt, written = self.asked.prompts, sum(self.written)
        return {"prompt_tokens": prompt, "completion_tokens": written, "total_tokens": prompt + written}

    async def whole(self) -> dict[str, Any]:
        """All answers at their ends."""
        parts: list[list[Piece]] = [[] for _ in self.asked.jobs]
        while self.left:
            at, piece = await self.next()
            parts[at].append(piece)
        choices = [
            self._choice(at, self.asked.before[at] + "".join(piece.text for piece in some), some, some[-1].finish)
            for at, some in enumerate(parts)
        ]
        return {**self.head, "object": self.kind, "choices": choices, "usage": self.usage}

    def _choice(self, at: int, text: str, pieces: Sequence[Piece], finish: str | None) -> dict[str, Any]:
        own: dict[str, Any] = (
            {"message": {"role": "assistant", "content": text, "refusal": None}} if self.asked.chat else {"text": text}
        )
        return {"index": at, **own, "logprobs": self._logprobs(at, pieces), "finish_reason": finish}

    def _logprobs(self, at: int, pieces: Sequence[Piece]) -> dict[str, Any] | None:
        if not self.asked.logprobs:
            return None
        name = partial(_text_of, self.model.writer.vocabulary)
        tokens = [token for piece in pieces for token in piece.tokens]
        if self.asked.chat:
            return {
                "content": [
                    {**_token_of(name, one.id, one.logprob), "top_logprobs": [_token_of(name, *other) for other in one.top]}
                    for one in tokens
                    if one.id not in self.asked.jobs[at].ends
                ],
                "refusal": None,
            }
        before = [token for piece in pieces for token in piece.prompt]
        both = [*before, *tokens]
        return {
            "tokens": [name(one.id) for one in both],
            "token_logprobs": [one.logprob for one in both],
            "top_logprobs": [None if one.logprob is None else {name(token): logprob for token, logprob in one.top} for one in both],
            "text_offset": [one.start for one in before] + [len(self.asked.before[at]) + one.start for one in tokens],
        }

    async def events(self, first: tuple[int, Piece]) -> AsyncGenerator[bytes, None]:
        """Server-sent events, the first piece being known. Only a stream whose answers are whole ends with [DONE]."""
        try:
            for at in range(len(self.asked.jobs)):
                if self.asked.chat or (self.asked.before[at] and not self.asked.logprobs):
                    yield self._event(at, self.asked.before[at], Piece(), role=True)
            at, piece = first
            while True:
                if piece.prompt:
                    yield self._event(at, self.asked.before[at], piece)
                elif piece.text or piece.tokens:
                    yield self._event(at, piece.text, piece)
                if piece.finish:
                    yield self._event(at, "", Piece(), piece.finish)
                if not self.left:
                    break
                at, piece = await self.next()
            if self.asked.usage:
                yield _event({**self.head, "object": self._chunk, "choices": [], "usage": self.usage})
            yield b"data: [DONE]\n\n"
        except Exception as error:
            yield _event(error_of(error))

    @property
    def _chunk(self) -> str:
        return "chat.completion.chunk" if self.asked.chat else self.kind

    def _event(self, at: int, text: str, piece: Piece, finish: str | None = None, role: bool = False) -> bytes:
        delta: dict[str, Any] = {"text": text}
        if self.asked.chat:
            delta = {"delta": {} if finish else {"role": "assistant", "content": ""} if role else {"content": text}}
        logprobs = self._logprobs(at, [piece]) if piece.tokens or piece.prompt else None
        choice = {"index": at, **delta, "logprobs": logprobs, "finish_reason": finish}
        more = {"usage": None} if self.asked.usage else {}
        return _event({**self.head, "object": self._chunk, "choices": [choice], **more})


def _put(loop: asyncio.AbstractEventLoop, pieces: asyncio.Queue, at: int, piece: Piece) -> None:
    """Hand a piece from the engine's thread to the loop; the loop of a server that has ended takes none."""
    try:
        loop.call_soon_threadsafe(pieces.put_nowait, (at, piece))
    except RuntimeError:
        return


def _text_of(vocabulary: TextVocabulary, token: int) -> str:
    return vocabulary.decode([token]) if token < len(vocabulary) else ""


def _token_of(name: Callable[[int], str], token: int, logprob: float | None) -> dict[str, Any]:
    text = name(token)
    return {"token": text, "logprob": logprob, "bytes": None if "\ufffd" in text else list(text.encode())}


def _event(value: dict[str, Any]) -> bytes:
    return b"data: " + json.dumps(value, ensure_ascii=False, allow_nan=False).encode() + b"\n\n"
