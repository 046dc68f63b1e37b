"""A request gives the same bits alone and in any company: batches, padding, caches, pieces of a prompt, threads, compiled."""

import contextlib

import numpy as np
import pytest

import badak
from badak import models, nn
from badak.data.padding import pad
from badak.generation import GenerationConfig, generate
from tests.tiers import draws

pytestmark = pytest.mark.slow

V, CONTEXT = 131, 480  # more keys than a product sums in one piece
ROOM = CONTEXT + 100  # of a context, for what stands before a text
ALL = "all bfloat16"  # every number of the model, multiplied by the best way of this CPU, or by one that is named behind it
WEIGHTS = ["float32", "int8", "bfloat16", "q8_0", "q4_0", ALL]
WEIGHTS += [pytest.param(f"{ALL} {way}", marks=pytest.mark.nightly) for way in ("avx512_bf16", "float32")]


def made(kind, weights):
    badak.manual_seed(0)
    heads = 2 if weights.startswith(ALL) else 4  # of 40: in bfloat16 scores of heads from 32 on are multiplied in tiles
    sizes = {"vocab_size": V, "context": ROOM, "d_model": 80, "heads": heads}
    if kind == "gpt":
        model = models.GPT(models.GPTConfig(**sizes, layers=2))
    elif kind == "seq2seq":
        model = models.Seq2Seq(models.Seq2SeqConfig(**sizes, encoder_layers=2, decoder_layers=2, feedforward=104))
    else:
        window = 30 if kind == "window" else 0
        more = {"num_key_value_heads": heads // 2, "feedforward": 424, "layers": 2, "tied": False, "sliding_window": window}
        model = models.Llama(models.LlamaConfig(**sizes, **more))
    with badak.no_grad():
        for parameter in model.parameters():
            if parameter.dim() > 1:
                parameter.normal_(std=0.2)
    model.eval()
    if weights in ("int8", "bfloat16", "q8_0", "q4_0"):
        badak.quantize(model, weights)
    return model.to(badak.bfloat16) if weights.startswith(ALL) else model


@contextlib.contextmanager
def by(weights):
    """Without gradients and, where the weights name one after `ALL`, by this way to multiply bfloat16."""
    ways = pytest.importorskip("badak.kernels.numba.bf16_gemm", reason="the Numba kernels are an extra").WAYS
    way = weights.removeprefix(ALL).strip() if weights.startswith(ALL) else ""
    if way and (lacking := ways.why_not(way)):
        pytest.skip(lacking)
    with ways.use(way or ways.chosen()), badak.no_grad():
        yield


def bits(x):
    return np.ascontiguousarray(x.float().numpy()).tobytes()


def pieces(random, length, cut):
    """How many tokens are read at a time: cut into few parts, or token by token at the end."""
    if not cut or length == 1:
        return [length]
    places = sorted({int(place) for place in random.integers(1, length, 3)} | set(range(max(length - 4, 1), length + 1)))
    return [end - start for start, end in zip([0, *places], places)]


def read(random, model, ids, starts, cached, cut):
    """Logits (B, T, V) of a whole forward, or of one that a cache goes through in pieces."""
    more = {} if starts is None else {"starts": badak.tensor(starts)}
    if not cached:
        return model(ids, **more)
    cache, found, at = nn.KeyValueCache(2, ids.shape[1] + int(random.integers(0, 30))), [], 0
    for count in pieces(random, ids.shape[1], cut):
        found.append(model(ids[:, at : at + count], cache=cache, **more))
        at += count
    return badak.cat(found, dim=1)


@pytest.mark.thin(9)
@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("kind", ["gpt", "llama", "window"])
def test_logits_are_those_of_the_request_alone(kind, weights, threads):
    random = np.random.default_rng(1)
    model = made(kind, weights)
    with by(weights):
        lengths = [1, 2, 3, 17, 33, 100, CONTEXT]
        texts = [badak.tensor(random.integers(0, V, length)) for length in lengths]
        with threads(1):
            alone = [bits(model(text[None])[0]) for text in texts]
        for round in range(draws(30)):
            chosen = random.integers(0, len(texts), int(random.integers(1, 10)))
            left, cached, cut = (bool(random.integers(0, 2)) for _ in range(3))
            extra = int(random.integers(0, 90)) if left and random.integers(0, 2) else 0
            group = [texts[i] for i in chosen]
            ids = pad(group, int(random.integers(0, V)), left=left)
            if extra:
                ids = badak.cat([badak.full((len(group), extra), 5, dtype=badak.int64), ids], dim=1)
            gaps = [ids.shape[1] - len(text) if left else 0 for text in group]
            with threads(1 + round % 2):
                logits = read(random, model, ids, gaps if left else None, cached, cut)
            for i, row, gap in zip(chosen, logits, gaps):
                here = row[gap : gap + lengths[i]]
                assert bits(here) == alone[i], f"{lengths[i]} of {list(chosen)}, left {left}, cached {cached}, cut {cut}, {extra}"


@pytest.mark.thin(3)
@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("kind", ["gpt", "llama"])
def test_texts_are_those_that_each_prompt_gives_alone_also_compiled(kind, weights, threads):
    random = np.random.default_rng(2)
    model, config = made(kind, weights), GenerationConfig(max_new_tokens=12, temperature=0.0, top_k=0)
    prompts = [badak.tensor(random.integers(0, V, int(length))) for length in (1, 4, 9, 9, 40, 7, 2, 21)]
    with by(weights), threads(1):
        alone = [generate(model, one[None], config)[0].tolist() for one in prompts]
    with by(weights), threads(2):
        assert [one.tolist() for one in generate(model, prompts, config)] == alone
        assert [one.tolist() for one in generate(model, prompts[2:5], config)] == alone[2:5]
        model.compile()
        assert [one.tolist() for one in generate(model, prompts, config)] == alone
        assert [generate(model, one[None], config)[0].tolist() for one in prompts[3:6]] == alone[3:6]


@pytest.mark.thin(3)
@pytest.mark.parametrize("weights", WEIGHTS)
def test_a_translator_decodes_the_same_bits_in_any_company(weights, threads):
    random = np.random.default_rng(3)
    model = made("seq2seq", weights)
    sources = [badak.tensor(random.integers(3, V, length)) for length in (2, 5, 30, 31, 64, CONTEXT)]
    target = badak.tensor(random.integers(3, V, 20))[None]
    with by(weights):
        with threads(1):
            alone = [bits(model.decode(target, model.encode(one[None]), one[None])[0]) for one in sources]
        for round in range(draws(20)):
            chosen = random.integers(0, len(sources), int(random.integers(1, 10)))
            source = pad([sources[i] for i in chosen], model.config.pad_id)
            targets = target.expand(len(chosen), -1)
            with threads(1 + round % 2):
                memory, cache, found, at = model.encode(source), nn.KeyValueCache(2, 30), [], 0
                for count in pieces(random, 20, round % 3 > 0):
                    found.append(model.decode(targets[:, at : at + count], memory, source, cache))
                    at += count
            logits = badak.cat(found, dim=1)
            assert [bits(row) for row in logits] == [alone[i] for i in chosen]


@pytest.mark.parametrize("inputs", [32, 40, 80, 320])
def test_few_rows_times_bfloat16_have_the_bits_of_many(inputs):
    """In float32, where no rounding to bfloat16 hides the last bit; inputs that fill a tile, and that do not."""
    random = np.random.default_rng(4)
    w = badak.tensor(random.standard_normal((131, inputs)).astype(np.float32)).to(badak.bfloat16)._array
    x, b = (random.standard_normal(shape).astype(np.float32) for shape in ((64, inputs), 131))
    linear = pytest.importorskip("badak.kernels.numba.linear", reason="the Numba kernels are an extra").linear
    for bias in (None, b):
        many = linear(x, w, bias)
        for count in (1, 2, 3, 4):
            assert (linear(x[:count], w, bias) == many[:count]).all()
