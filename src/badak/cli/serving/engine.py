"""Many texts at once: requests join and leave between tokens, and each text has the bits that it has alone.

    engine = Engine(model, vocabulary, Limits())
    engine.submit(Job(ids, GenerationConfig(seed=3), deliver=print))        prints the Piece of each token
    engine.close()

One thread does all of it, in rounds. Texts that have ended, were cancelled or are late leave. Waiting ones join, in the order in
which they came, as soon as the shared cache has pages for their prompt and all that they may write. One piece of one prompt is
read; prompts take turns, so that a long one holds nobody up for longer than a piece takes. All other texts get one token each, in
one forward, which `badak.compile` records for each number of texts that comes often.
"""

import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from badak.cli.serving.errors import BusyError, Crash, EndingError, TooLongError
from badak.cli.serving.limits import Limits
from badak.compiler.compiled import Compiled
from badak.core.errors import ArgumentError, BadakError, NotSupportedError, tr
from badak.generation.logit_filters import GenerationConfig, filter_logits
from badak.generation.reader import answering, checked_logits, last_logits, widened
from badak.generation.sampling import drawn
from badak.generation.text import TextVocabulary, Until, text_stream
from badak.nn import Module
from badak.nn.paged_cache import PAGE, PagedCache, PagePool
from badak.tensor import Generator, Tensor, from_numpy, int64, zeros

LOGPROBS = 20  # alternatives of a token that are told at most
DEFAULTS = Limits()
OFTEN = 32  # tokens of so many texts after which their step is recorded: that takes as long as dozens of them
RAREST = -9999.0  # what OpenAI tells for log 0, which JSON has no word for


class Guide(Protocol):
    """What a text may go on with: a grammar."""

    def masked(self, logits: Tensor) -> Tensor:
        """logits (1, V) without the tokens that may not come next."""

    def take(self, token: int) -> bool:
        """Go on behind this token; whether the text is whole now and nothing may follow."""


@dataclass(frozen=True)
class Token:
    """A token. start: where its text begins in that of the prompt or the answer; logprob: of the model, before any filter.

    The first token of a prompt has no logprob: nothing stands before it.
    """

    id: int
    logprob: float | None
    start: int
    top: tuple[tuple[int, float], ...]


@dataclass(frozen=True)
class Piece:
    """What is new of an answer. finish: "" while more comes, then "stop", "length", "cancelled", "late" or "error".

    prompt: the tokens of the prompt, in the first piece of a job that asks for them.
    """

    text: str = ""
    tokens: tuple[Token, ...] = ()
    written: int = 0  # tokens of the whole answer so far, without its end mark
    finish: str = ""
    error: BadakError | None = None
    prompt: tuple[Token, ...] = ()


@dataclass(eq=False)
class Job:
    """A text that is asked for.

    ids         the prompt (T,), at least one token
    deliver     called with each Piece, by the engine's thread; it must return at once
    stop        texts before which the answer ends; stripped: the answer begins with its first letter
    after       tokens behind which the text is to be read, to which its first word may be joined
    logprobs    how many alternatives of each token are told, None for not even the token's own probability
    echo        whether the prompt's tokens are told like the answer's
    deadline    when the answer is cut off, by time.monotonic()
    """

    ids: np.ndarray
    config: GenerationConfig
    deliver: Callable[[Piece], None]
    ends: tuple[int, ...] = ()
    suppress_tokens: Sequence[int] = ()
    stop: Sequence[str] = ()
    stripped: bool = False
    after: Sequence[int] | np.ndarray = ()
    logprobs: int | None = None
    echo: bool = False
    guide: Guide | None = None
    deadline: float = float("inf")
    cancelled: bool = field(default=False, init=False)

    @property
    def tokens(self) -> int:
        """The most tokens that go through the model."""
        return len(self.ids) + self.config.max_new_tokens


class _Row:
    """A job that has its pages."""

    def __init__(self, job: Job, vocabulary: TextVocabulary, pages: np.ndarray):
        self.job, self.pages, self.read, self.written = job, pages, 0, 0
        self.ids = np.concatenate([job.ids, np.zeros(job.config.max_new_tokens, np.int64)])[None]
        self.generator = Generator().manual_seed(job.config.seed)
        self.stream, self.until = text_stream(vocabulary, job.after), Until(job.stop, job.stripped)
        self.tokens: deque[Token] = deque()  # told with the text that they begin in
        self.pushed = self.told = 0  # characters
        self.prompt: list[Token] = []  # told before the answer
        self.echo = text_stream(vocabulary) if job.echo and job.logprobs is not None else None
        self.echoed = 0  # characters
        if self.echo is not None:
            self.add_prompt(job.ids[:1], [(None, ())])

    @property
    def text(self) -> Tensor:
        """Prompt and answer so far (1, T)."""
        return from_numpy(self.ids[:, : len(self.job.ids) + self.written])

    def add_prompt(self, tokens: Sequence[int] | np.ndarray, chances: Sequence["_Chance"]) -> None:
        """Note tokens of the prompt, which are told with its last one."""
        assert self.echo is not None  # noqa: S101
        for token, (logprob, top) in zip(tokens, chances):
            self.prompt.append(Token(int(token), logprob, self.echoed, top))
            self.echoed += len(self.echo.push(int(token)))

    def hold(self, token: int, chance: "_Chance") -> None:
        """Keep a token until it is told."""
        self.tokens.append(Token(token, chance[0], self.pushed, chance[1]))

    def add(self, token: int, chance: "_Chance") -> str:
        """The text that is sure now."""
        self.ids[0, len(self.job.ids) + self.written] = token
        self.written += 1
        self.hold(token, chance)
        piece = self.stream.push(token)
        self.pushed += len(piece)
        return self.until.push(piece)

    def hand_out(self, text: str, finish: str = "", error: BadakError | None = None) -> None:
        """Deliver what is new, and the tokens that begin in it; what a stop text cut off is not told."""
        self.told += len(text)
        ready = []
        while self.tokens and (self.tokens[0].start < self.told or (finish and not self.until.ended)):
            ready.append(self.tokens.popleft())
        if text or ready or finish:
            self.job.deliver(Piece(text, tuple(ready), self.written, finish, error))

    def hand_out_prompt(self) -> None:
        """Deliver the tokens of the prompt."""
        if self.prompt:
            self.job.deliver(Piece(prompt=tuple(self.prompt)))


class Engine:
    """Writes the texts of a model that `takes_cache`. Its numbers: `running`, `waiting`, `tokens_read`, `tokens_written`."""

    def __init__(self, model: Module, vocabulary: TextVocabulary, limits: Limits = DEFAULTS):
        if not getattr(model, "takes_cache", False) or not getattr(model, "takes_starts", False):
            cause = tr("serve: a {} reads no text with a cache", type(model).__name__)
            raise NotSupportedError(cause, "a folder of GPT-2, Llama, Qwen or Mistral")
        self.model, self.vocabulary, self.limits = model, vocabulary, limits
        self.context: int = model.config.context
        self.longest = min(self.context, limits.cache_tokens or self.context)
        pages = -(-(limits.cache_tokens or limits.streams * min(self.context, limits.usual_tokens)) // PAGE)
        self.pool = PagePool(model.config.layers, max(pages, -(-self.longest // PAGE)))
        self.cache = PagedCache(self.pool, [np.zeros(1, np.int64)], [0], 1)
        self.answer, self.answer_all = _answers(model, self.cache, last_logits(model)), _answers(model, self.cache, {})
        self.step, self.steps = Compiled(self.answer, told=False), Counter[int]()  # by texts that get a token each
        self.queue: deque[Job] = deque()
        self.reading: deque[_Row] = deque()
        self.writing: list[_Row] = []
        self.tokens_read = self.tokens_written = 0
        self.closing = ""  # "drain": what was begun is finished; "now"
        self.changed = threading.Condition()
        self.thread = threading.Thread(target=self._run, name="badak-engine", daemon=True)
        self.thread.start()

    @property
    def running(self) -> int:
        """Texts that have joined."""
        return len(self.reading) + len(self.writing)

    @property
    def waiting(self) -> int:
        """Texts that have not."""
        return len(self.queue)

    def submit(self, *jobs: Job) -> None:
        """Let texts be written: all of them or, where they are too long or too many wait, none."""
        for job in jobs:
            if not len(job.ids):
                raise ArgumentError("serve: the prompt has no token", "a prompt with a word")
            if job.tokens > self.longest:
                raise TooLongError(len(job.ids), job.config.max_new_tokens, self.longest)
        with self.changed:
            if self.closing:
                raise EndingError()
            if len(self.queue) + len(jobs) > self.limits.queue + self.limits.streams - self.running:
                raise BusyError.of(self.waiting, self.limits.queue)
            self.queue += jobs
            self.changed.notify()

    def cancel(self, *jobs: Job) -> None:
        """Nobody waits for these any more: what they held is free from the next token on."""
        with self.changed:
            for job in jobs:
                job.cancelled = True
            self.changed.notify()

    def close(self, drain: bool = False, seconds: float | None = None) -> None:
        """End: at once, or when all that was asked for is written, `seconds` later at most."""
        with self.changed:
            self.closing = "drain" if drain else "now"
            self.changed.notify()
        self.thread.join(seconds)
        if self.thread.is_alive() and self.closing != "now":
            self.close()

    def _run(self) -> None:
        with answering(self.model):
            while self._wait():
                self._read_piece()
                self._write_tokens()
        for row in (*self.reading, *self.writing):
            self._leave(row, "cancelled")
        for job in self.queue:
            job.deliver(Piece(finish="cancelled"))

    def _wait(self) -> bool:
        """Sleep while there is nothing to do; then let texts leave and join. False at the end."""
        with self.changed:
            while not (self.queue or self.running or self.closing):
                self.changed.wait()
            if self.closing == "now" or (self.closing and not self.queue and not self.running):
                return False
            now = time.monotonic()
            for row in (*self.reading, *self.writing):
                if row.job.cancelled or now > row.job.deadline:
                    self._leave(row, "cancelled" if row.job.cancelled else "late")
            kept: deque[Job] = deque()
            for job in self.queue:
                if job.cancelled or now > job.deadline:
                    job.deliver(Piece(finish="cancelled" if job.cancelled else "late"))
                else:
                    kept.append(job)
            self.queue = kept
            while self.queue and self.running < self.limits.streams and self.pool.fits(self.queue[0].tokens):
                self._join(self.queue.popleft())
        return True

    def _join(self, job: Job) -> None:
        """Give a text its pages."""
        pages = self.pool.take(job.tokens)
        try:
            self.reading.append(_Row(job, self.vocabulary, pages))
        except Exception as error:
            self.pool.put_back(pages)
            job.deliver(Piece(finish="error", error=_told(error)))

    def _leave(self, row: _Row, finish: str, error: BadakError | None = None, text: str = "") -> None:
        """Take a text out, with its last word."""
        (self.reading if row in self.reading else self.writing).remove(row)
        self.pool.put_back(row.pages)
        row.hand_out(text, finish, error)

    def _logits(self, rows: Sequence[_Row], ids: np.ndarray) -> Tensor | None:
        """The logits (B, T, V) at ids (B, T), which follow what each row has read; the last alone, where no prompt is told.

        None where that failed: the rows have left.
        """
        self.cache.stand([row.pages for row in rows], [row.read for row in rows], ids.shape[1])
        try:
            logits = self._way(rows, ids.shape[1])(from_numpy(ids))
        except Exception as error:
            for row in rows:
                self._leave(row, "error", _told(error))
            return None
        for row in rows:
            row.read += ids.shape[1]
        return logits

    def _way(self, rows: Sequence[_Row], tokens: int) -> Callable[[Tensor], Tensor]:
        """What gives the logits of so many tokens of these rows."""
        if tokens > 1:
            return self.answer if rows[0].echo is None else self.answer_all
        self.steps[len(rows)] += 1
        return self.step if self.steps[len(rows)] > OFTEN else self.answer

    def _read_piece(self) -> None:
        """Read a piece of the prompt whose turn it is; behind its last one comes the first token."""
        if not self.reading:
            return
        row = self.reading[0]
        if not row.job.config.max_new_tokens and row.echo is None:
            self._leave(row, "length")
            return
        ids = row.job.ids[None, row.read : row.read + self.limits.prefill_tokens]
        logits = self._logits([row], ids)
        self.tokens_read += ids.shape[1]
        if logits is None:
            return
        self.reading.rotate(-1)
        if row.echo is not None:
            following = row.job.ids[row.read - ids.shape[1] + 1 : row.read + 1]
            row.add_prompt(following, _chances(logits[0, : len(following)], following, row.job.logprobs))
        if row.read < len(row.job.ids):
            return
        row.hand_out_prompt()
        if not row.job.config.max_new_tokens:
            self._leave(row, "length")
            return
        self.reading.remove(row)
        self.writing.append(row)
        self._choose(row, logits[:, -1])

    def _write_tokens(self) -> None:
        """One more token for each text."""
        rows = [row for row in self.writing if row.read < len(row.job.ids) + row.written]
        if not rows:
            return
        ids = np.array([row.ids[0, row.read : row.read + 1] for row in rows])
        logits = self._logits(rows, ids)
        if logits is not None:
            for b, row in enumerate(rows):
                self._choose(row, logits[b : b + 1, -1])

    def _choose(self, row: _Row, logits: Tensor) -> None:
        """Add the next token of a text, as `generate` chooses it, and tell it."""
        job = row.job
        try:
            allowed = checked_logits(self.model, logits, job.ends, job.suppress_tokens)
            if job.guide is not None:
                allowed = job.guide.masked(allowed)
            token = int(drawn(filter_logits(allowed, row.text, job.config), job.config, row.generator))
            whole = job.guide is not None and job.guide.take(token)
            chance = _chances(logits, [token], job.logprobs)[0]
            if token in job.ends:
                row.hold(token, chance)
                self._leave(row, "stop", text=self._rest(row))
                return
            text = row.add(token, chance)
        except Exception as error:
            self._leave(row, "error", _told(error))
            return
        self.tokens_written += 1
        if row.until.ended:
            self._leave(row, "stop", text=text)
        elif whole or row.written == job.config.max_new_tokens:
            self._leave(row, "stop" if whole else "length", text=text + self._rest(row))
        else:
            row.hand_out(text)

    @staticmethod
    def _rest(row: _Row) -> str:
        """What was held back, now that the text ends."""
        return row.until.push(row.stream.rest()) + row.until.rest()


def _answers(model: Module, cache: PagedCache, last: dict[str, int]) -> Callable[[Tensor], Tensor]:
    """The logits (B, T, V) at ids (B, T), of the texts that the cache stands at. Nothing else of the engine is within its reach."""

    def answer(ids: Tensor) -> Tensor:
        return model(ids, cache=cache, starts=zeros(len(ids), dtype=int64), **last)

    return answer


def _told(error: Exception) -> BadakError:
    """What is told of an error."""
    return error if isinstance(error, BadakError) else Crash(error)


_Chance = tuple[float | None, tuple[tuple[int, float], ...]]


def _chances(logits: Tensor, tokens: Sequence[int] | np.ndarray, top: int | None) -> list[_Chance]:
    """log P of each token by its row of logits (T, V), and the most likely ones with theirs."""
    if top is None:
        return [(0.0, ())] * len(tokens)
    logprobs: Any = widened(logits).log_softmax(dim=-1).clamp(min=RAREST)
    own = logprobs.gather(1, from_numpy(np.asarray(tokens, np.int64))[:, None])[:, 0].tolist()
    values, indices = logprobs.topk(min(top, logprobs.shape[1]))
    return [(one, tuple(zip(*row))) for one, *row in zip(own, indices.tolist(), values.tolist())]
