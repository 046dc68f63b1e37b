"""The engine: each text has the bits that it has alone, at any load; places are shared fairly and given back."""

import queue
import time
from dataclasses import replace

import numpy as np
import pytest

import badak
from badak import nn
from badak.cli.serving.engine import Engine, Job
from badak.cli.serving.errors import BusyError, Crash, TooLongError
from badak.cli.serving.limits import Limits
from badak.core.errors import BadakError
from badak.data.text import CharVocabulary
from badak.generation import GenerationConfig
from badak.generation.sampling import stream
from badak.nn.paged_cache import PAGE, PagedCache, PagePool
from tests.generation.test_any_load import ROOM, V, by, made
from tests.tiers import draws
from tests.waiting import HANGS, until

LETTERS = CharVocabulary(chr(0x4E00 + i) for i in range(V))


class Asked:
    """A job and what came of it."""

    def __init__(self, ids, config=None, **more):
        self.pieces, self.times, self.ended = [], [], queue.Queue()
        self.job = Job(np.asarray(ids), config or GenerationConfig(max_new_tokens=4), self.take, **more)

    def take(self, piece):
        self.pieces.append(piece)
        self.times.append(time.monotonic())
        if piece.finish:
            self.ended.put(piece)

    def wait(self):
        self.ended.get(timeout=HANGS)
        return self

    @property
    def ids(self):
        return [token.id for piece in self.pieces for token in piece.tokens]

    @property
    def text(self):
        return "".join(piece.text for piece in self.pieces)


@pytest.fixture
def engine():
    engines = []

    def start(model, vocabulary=LETTERS, **limits):
        engines.append(Engine(model, vocabulary, Limits(**limits)))
        return engines[-1]

    yield start
    for one in engines:
        one.close()
        assert not one.thread.is_alive()


def configs(random):
    """How a request might want its text."""
    return GenerationConfig(
        max_new_tokens=int(random.integers(1, 40)),
        temperature=float(random.choice([0.0, 0.7, 1.3])),
        top_k=int(random.choice([0, 5, 40])),
        top_p=float(random.choice([1.0, 0.9])),
        repetition_penalty=float(random.choice([1.0, 1.2])),
        seed=int(random.integers(0, 1000)),
    )


def alone(model, ids, config):
    return [int(one) for one in stream(model, badak.tensor(ids)[None], config)]


@pytest.mark.thin(3)
@pytest.mark.slow
@pytest.mark.parametrize("weights", ["float32", "int8", "bfloat16", "all bfloat16"])
@pytest.mark.parametrize("kind", ["gpt", "llama", "window"])
def test_a_text_is_the_one_that_it_is_alone_at_any_load(kind, weights, engine, threads):
    random = np.random.default_rng(4)
    model = made(kind, weights)
    with by(weights):
        asked = [Asked(random.integers(0, V, int(random.choice([1, 2, 20, 90, 200]))), configs(random)) for _ in range(draws(8))]
        with threads(1):
            expected = [alone(model, one.job.ids, one.job.config) for one in asked]
        with threads(2):
            server = engine(model, streams=5, queue=len(asked), cache_tokens=700, prefill_tokens=int(random.choice([1, 7, 64])))
            for one in asked:
                server.submit(one.job)
                time.sleep(float(random.choice([0.0, 0.01])))
            assert [one.wait().ids for one in asked] == expected
    assert [one.text for one in asked] == [LETTERS.decode(ids) for ids in expected]
    assert sorted(server.pool.free) == list(range(server.pool.pages)) and server.running == server.waiting == 0
    assert server.tokens_written == sum(map(len, expected)) and server.tokens_read == sum(len(one.job.ids) for one in asked)


@pytest.mark.thin(3)
@pytest.mark.slow
@pytest.mark.parametrize("weights", ["float32", "q4_0"])
@pytest.mark.parametrize("kind", ["gpt", "llama", "window"])
def test_recorded_steps_write_what_the_model_writes_at_any_load(kind, weights, engine, monkeypatch):
    monkeypatch.setattr("badak.cli.serving.engine.OFTEN", 2)
    random, model = np.random.default_rng(5), made(kind, weights)
    with by(weights):
        asked = [Asked(random.integers(0, V, length), replace(configs(random), max_new_tokens=30)) for length in (3, 70, 20, 1, 64)]
        expected = [alone(model, one.job.ids, one.job.config) for one in asked]
        server = engine(model, streams=4)
        for several in (asked[:1], asked[1:3], asked[1:], asked):  # texts of any pages, whichever others there are
            again = [Asked(one.job.ids, one.job.config) for one in several]
            server.submit(*(one.job for one in again))
            assert [one.wait().ids for one in again] == [expected[asked.index(one)] for one in several]
    assert len(server.step.recordings) >= 2 and not server.step.fallback_reason


@pytest.mark.parametrize("backend", ["reference", "numba"])
@pytest.mark.parametrize("window", [0, 30])
def test_attention_in_pages_is_that_of_each_text(backend, window):
    if backend == "numba":
        pytest.importorskip("numba", reason="the Numba kernels are an extra")
    random = np.random.default_rng(0)
    pool, lengths = PagePool(1, 12), [0, 63, 64, 200]
    tables = [pool.take(length + 1) for length in lengths[::-1]][::-1]
    with badak.kernels.use(backend), badak.no_grad():
        caches, q, k, v = [], *(badak.tensor(random.standard_normal((4, heads, 1, 8)).astype(np.float32)) for heads in (6, 3, 3))
        for row, length in enumerate(lengths):
            caches.append(nn.KeyValueCache(1, 300))
            if length:
                texts = [badak.tensor(random.standard_normal((1, heads, length, 8)).astype(np.float32)) for heads in (6, 3, 3)]
                one = PagedCache(pool, [tables[row]], [0], length).attend(0, *texts, window=window)
                assert one.tolist() == caches[row].attend(0, *texts, window=window).tolist()
                caches[row].advance(length)
        together = PagedCache(pool, tables, lengths, 1).attend(0, q, k, v, window=window)
        for row, cache in enumerate(caches):
            mine = (x[row : row + 1] for x in (q, k, v))
            assert cache.attend(0, *mine, window=window).tolist() == together[row : row + 1].tolist()


def test_pages_are_taken_and_put_back():
    pool = PagePool(2, 5)
    first, second = pool.take(PAGE + 1), pool.take(3 * PAGE)
    assert first.tolist() == [0, 1] and second.tolist() == [2, 3, 4] and not pool.fits(1)
    with pytest.raises(BadakError) as error:
        pool.take(1)
    assert str(error.value) == (
        "PagePool: 1 token take 1 page of 64, 0 of 5 are free\nfix: put_back(pages) of a text that has ended, or a larger pool"
    )
    pool.put_back(first)
    assert pool.take(2 * PAGE).tolist() == [0, 1]
    with pytest.raises(BadakError, match="expected layers and pages of at least 1; got 0 and 3"):
        PagePool(0, 3)


@pytest.fixture(scope="module")
def model():
    return made("gpt", "float32")


@pytest.mark.slow
def test_a_long_prompt_lets_others_go_on(model, engine):
    server = engine(model, prefill_tokens=8, streams=3)
    first = Asked([1, 2, 3], GenerationConfig(max_new_tokens=120, temperature=0.0))
    server.submit(first.job)
    while not first.pieces:
        time.sleep(0.001)
    long, short = Asked(list(range(100)) * 4), Asked([5])
    server.submit(long.job, short.job)
    for one in (first, long, short):
        one.wait()
    within = [at for at in first.times if at < long.times[0]]
    assert len(within) > 20 and short.times[-1] < long.times[0]  # the short one overtakes it, the one before goes on


def test_the_first_that_came_is_the_first_that_joins(model, engine):
    server = engine(model, streams=1)
    asked = [Asked([i], GenerationConfig(max_new_tokens=3)) for i in range(8)]
    for one in asked:
        server.submit(one.job)
    ends = [one.wait().times[-1] for one in asked]
    assert ends == sorted(ends)


def test_a_full_queue_refuses_and_the_next_one_is_taken_again(model, engine):
    server = engine(model, streams=1, queue=2)
    busy = [Asked([1], GenerationConfig(max_new_tokens=300)) for _ in range(3)]
    server.submit(busy[0].job)
    while not server.running:
        time.sleep(0.001)
    server.submit(busy[1].job, busy[2].job)
    with pytest.raises(BusyError) as error:
        server.submit(Asked([1]).job)
    assert str(error.value) == "2 requests wait already\nfix: ask again later, or serve with --queue 4"
    assert (error.value.status, error.value.retry) == (429, 1)
    server.cancel(*(one.job for one in busy))
    assert [one.wait().pieces[-1].finish for one in busy] == ["cancelled"] * 3
    assert len(busy[0].ids) < 300 and Asked([1]).job.cancelled is False
    after = Asked([1])
    server.submit(after.job)
    assert after.wait().pieces[-1].finish == "length"


@pytest.mark.slow
def test_who_is_late_is_cut_off_also_while_it_waits(model, engine):
    server = engine(model, streams=1)
    long, waits = Asked([1], GenerationConfig(max_new_tokens=400)), Asked([1])
    server.submit(long.job, waits.job)
    until(lambda: long.ids)
    waits.job.deadline = time.monotonic()
    until(lambda: waits.pieces)
    long.job.deadline = time.monotonic()
    assert long.wait().pieces[-1].finish == waits.wait().pieces[-1].finish == "late"
    assert 0 < len(long.ids) < 400 and not waits.ids and waits.times[-1] < long.times[-1]


def test_a_text_that_does_not_fit_is_refused_with_what_would(model, engine):
    server = engine(model, cache_tokens=128)
    with pytest.raises(TooLongError) as error:
        server.submit(Asked([1] * 100, GenerationConfig(max_new_tokens=29)).job)
    assert str(error.value) == (
        "the prompt has 100 tokens and the answer may have 29; together at most 128 are read\nfix: max_tokens of at most 28"
    )
    server = engine(model)
    with pytest.raises(TooLongError, match="fix: a shorter prompt"):
        server.submit(Asked([1] * (ROOM + 1)).job)
    with pytest.raises(BadakError, match="the prompt has no token"):
        server.submit(Asked(np.zeros(0, np.int64)).job)


def test_ends_stops_and_lengths(model, engine):
    server = engine(model)
    config = GenerationConfig(max_new_tokens=30, temperature=1.5, top_k=0)
    written = alone(model, [7, 8], config)
    end = next(token for token in written[8:] if token not in written[:8])
    at, text = written.index(end), LETTERS.decode(written)
    stop = text[6:8]
    for asked, finish, count in (
        (Asked([7, 8], config, ends=(end,)), "stop", at),
        (Asked([7, 8], config, stop=[stop]), "stop", text.index(stop)),
        (Asked([7, 8], replace(config, max_new_tokens=6)), "length", 6),
        (Asked([7, 8], GenerationConfig(max_new_tokens=0)), "length", 0),
    ):
        server.submit(asked.job)
        assert asked.wait().pieces[-1].finish == finish
        told = [end] if asked.job.ends else []  # the end mark is a token without text
        assert asked.text == LETTERS.decode(written[:count]) and asked.ids == written[:count] + told


def test_probabilities_are_those_of_the_model(model, engine):
    server = engine(model)
    asked = Asked([7, 8], GenerationConfig(max_new_tokens=5, temperature=2.0, top_k=3), logprobs=4)
    server.submit(asked.job)
    asked.wait()
    with badak.no_grad():
        logprobs = model(badak.tensor([[7, 8, *asked.ids]]))[0].log_softmax(-1)
    for at, token in enumerate(token for piece in asked.pieces for token in piece.tokens):
        row = logprobs[1 + at]
        assert token.logprob == float(row[token.id])
        values, indices = row.topk(4)
        assert token.top == tuple(zip(indices.tolist(), values.tolist()))


@pytest.mark.slow
def test_an_answer_that_fails_ends_alone(model, engine):
    server = engine(model)
    runs_out = Asked([1, 1, 2], GenerationConfig(max_new_tokens=400, no_repeat_ngram_size=1))
    good = Asked([1, 2], GenerationConfig(max_new_tokens=50))
    server.submit(runs_out.job, good.job)
    assert "the filters leave none of the 131 tokens" in str(runs_out.wait().pieces[-1].error)
    assert good.wait().pieces[-1].finish == "length" and len(good.ids) == 50


def test_a_crash_of_the_model_is_told_to_those_whom_it_hit(engine):
    model = made("gpt", "float32")
    server, forward = engine(model), model.blocks[1].feed_forward.forward

    def broken(x):
        raise ZeroDivisionError("secret")

    model.blocks[1].feed_forward.forward = broken
    asked = Asked([1])
    server.submit(asked.job)
    error = asked.wait().pieces[-1].error
    assert isinstance(error, Crash) and "secret" not in str(error) and error.status == 500
    model.blocks[1].feed_forward.forward = forward
    asked = Asked([1])
    server.submit(asked.job)
    assert asked.wait().pieces[-1].finish == "length" and len(server.pool.free) == server.pool.pages


def test_the_end_drains_or_cuts_off(model, engine):
    server = engine(model, streams=2)
    asked = [Asked([i], GenerationConfig(max_new_tokens=20)) for i in range(4)]
    server.submit(*(one.job for one in asked))
    server.close(drain=True, seconds=60)
    assert [one.wait().pieces[-1].finish for one in asked] == ["length"] * 4
    with pytest.raises(BusyError, match="the server is about to end"):
        server.submit(Asked([1]).job)
    server = engine(model, streams=1)
    asked = [Asked([i], GenerationConfig(max_new_tokens=400)) for i in range(2)]
    server.submit(*(one.job for one in asked))
    server.close()
    assert [one.wait().pieces[-1].finish for one in asked] == ["cancelled"] * 2


def test_a_text_that_cannot_begin_leaves_the_engine_at_work(model, engine):
    server = engine(model)
    broken = Asked([1], stop=[5])  # refused where it joins
    server.submit(broken.job)
    assert broken.wait().pieces[-1].finish == "error" and len(server.pool.free) == server.pool.pages
    good = Asked([1])
    server.submit(good.job)
    assert good.wait().pieces[-1].finish == "length"
