"""A compiled model writes with a cache: one recording for all lengths, the text of the model as it is."""

import pytest

import badak
from badak import models, nn
from badak.core.errors import IndexOutOfRangeError, ShapeError
from badak.generation import GenerationConfig, generate

V, CONTEXT = 23, 40


def model_of(kind, context=CONTEXT):
    badak.manual_seed(0)
    sizes = {"vocab_size": V, "context": context, "d_model": 16, "heads": 4, "layers": 2}
    model = models.GPT(models.GPTConfig(**sizes)) if kind == "gpt" else models.Llama(
        models.LlamaConfig(**sizes, num_key_value_heads=2, feedforward=24))  # fmt: skip
    with badak.no_grad():
        for parameter in model.parameters():
            parameter.normal_(std=0.4)
    return model.eval()


def bits(x):
    return x.numpy().tobytes()


def config(tokens=12, **more):
    return GenerationConfig(**{"max_new_tokens": tokens, "temperature": 0.0, "top_k": 0, **more})


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["gpt", "llama"])
def test_one_recording_serves_every_length(kind):
    model = model_of(kind)
    step = badak.compile(lambda ids, cache: model(ids, cache), fullgraph=True)
    cache, twin = nn.KeyValueCache(2, CONTEXT), nn.KeyValueCache(2, CONTEXT)
    with badak.no_grad():
        for text in range(2):
            for place in range(CONTEXT):
                ids = badak.tensor([[(7 * place + text) % V]])
                assert bits(step(ids, cache)) == bits(model(ids, twin))
                assert cache.length == twin.length == place + 1
            cache.rewind(), twin.rewind()
    assert len(step.recordings) == 1 and step.recordings[0].replays >= 0 and step.fallback_reason == ""


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["gpt", "llama"])
@pytest.mark.parametrize("chunk", [1, 3])
def test_a_replay_stops_at_the_end_of_the_context_with_the_error_of_the_model(kind, chunk):
    model = model_of(kind, 13)
    step = badak.compile(lambda ids, cache: model(ids, cache))
    caches = nn.KeyValueCache(2, 20), nn.KeyValueCache(2, 20)
    ids = badak.tensor([[1, 5, 2][:chunk]])
    with badak.no_grad():
        for _ in range(13 // chunk):
            assert bits(step(ids, caches[0])) == bits(model(ids, caches[1]))
        said = []
        for cache, ask in zip(caches, (step, model)):
            with pytest.raises(IndexOutOfRangeError) as caught:
                ask(ids, cache)
            said.append((str(caught.value), cache.length))
    assert said[0] == said[1] and step.recordings


@pytest.mark.slow
def test_a_replay_stops_at_the_end_of_the_room():
    model = model_of("gpt")
    step = badak.compile(lambda ids, cache: model(ids, cache))
    cache, ids = nn.KeyValueCache(2, 9), badak.tensor([[3]])
    with badak.no_grad():
        for _ in range(9):
            step(ids, cache)
        with pytest.raises(IndexOutOfRangeError, match="length 9 [+] 1 new tokens > max_length 9"):
            step(ids, cache)
    assert step.recordings and cache.length == 9


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["gpt", "llama"])
def test_a_token_is_played_without_python_between_its_layers(kind):
    pytest.importorskip("numba", reason="the Numba kernels are an extra")
    model, cache = model_of(kind), nn.KeyValueCache(2, CONTEXT)
    step = badak.compile(lambda ids: model(ids, cache), fullgraph=True)
    with badak.no_grad():
        for place in range(4):
            step(badak.tensor([[place]]))
    assert len(step.recordings[0].steps) == 4  # whether there is room, the layers, the count of tokens, the logits


@pytest.mark.parametrize("strided", ["q", "k", "v", "qkv"])
def test_a_replay_keeps_keys_and_values_that_lie_scattered(strided):
    def step(x, cache):
        q, k, v = (turned(factor * x) if name in strided else factor * x for name, factor in zip("qkv", (1, 2, 3)))
        y = cache.attend(0, q, k, v)
        cache.advance(1)
        return y

    def turned(x):  # the same, its last axis with steps of two numbers
        return badak.cat([x, x], dim=2).transpose(2, 3).contiguous().transpose(2, 3)[:, :, :1]

    cache, twin = nn.KeyValueCache(1, 8), nn.KeyValueCache(1, 8)
    compiled = badak.compile(lambda x: step(x, cache), fullgraph=True)
    with badak.no_grad():
        for _ in range(8):
            x = badak.randn(1, 2, 1, 4)
            assert bits(compiled(x)) == bits(step(x, twin))


def test_a_recorded_token_is_cast_and_refused_as_any_other():
    model, cache, twin = model_of("llama"), nn.KeyValueCache(2, CONTEXT), nn.KeyValueCache(2, CONTEXT)
    step = badak.compile(lambda ids: model(ids, cache))
    with badak.no_grad(), badak.autocast("cpu", dtype=badak.bfloat16):
        for place in range(5):
            ids = badak.tensor([[place]])
            assert step(ids).tolist() == model(ids, twin).tolist()
    for wrong in ((1, 3, 1, 4), (1, 2, 1, 5), (2, 2, 1, 4)):
        cache = nn.KeyValueCache(1, CONTEXT)
        attend = badak.compile(lambda q, k, cache=cache: cache.attend(0, q, k, k))
        with badak.no_grad(), pytest.raises(ShapeError):
            attend(badak.ones(wrong), badak.ones(1, 2, 1, 4))


@pytest.mark.slow
def test_two_chunks_in_one_step_stand_behind_each_other():
    model = model_of("gpt")

    def twice(ids, cache):
        return badak.cat([model(ids, cache), model(ids, cache)], dim=1)

    step = badak.compile(twice, fullgraph=True)
    cache, twin = nn.KeyValueCache(2, CONTEXT), nn.KeyValueCache(2, CONTEXT)
    with badak.no_grad():
        for place in range(CONTEXT // 2):
            ids = badak.tensor([[place % V]])
            assert bits(step(ids, cache)) == bits(twice(ids, twin))
    assert len(step.recordings) == 1


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:compile")
@pytest.mark.parametrize("every", [3, 8])
def test_a_step_that_asks_for_the_length_decides_by_it(every):
    model = model_of("gpt")

    def step(ids, cache):
        logits = model(ids, cache)
        return logits * 2 if cache.length % every == 0 else logits

    compiled = badak.compile(step)
    cache, twin = nn.KeyValueCache(2, CONTEXT), nn.KeyValueCache(2, CONTEXT)
    with badak.no_grad():
        for _ in range(4):
            for place in range(12):
                ids = badak.tensor([[place]])
                assert bits(compiled(ids, cache)) == bits(step(ids, twin))
            cache.rewind(), twin.rewind()


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["gpt", "llama"])
def test_rows_that_begin_at_different_places(kind):
    model, starts = model_of(kind), badak.tensor([0, 2, 4])
    step = badak.compile(lambda ids, cache, starts: model(ids, cache, starts), fullgraph=True)
    cache, twin = nn.KeyValueCache(2, CONTEXT), nn.KeyValueCache(2, CONTEXT)
    with badak.no_grad():
        first = badak.tensor([[1, 2, 3, 4, 5], [0, 0, 6, 7, 8], [0, 0, 0, 0, 9]])
        assert bits(step(first, cache, starts)) == bits(model(first, twin, starts))
        for place in range(20):
            ids = badak.tensor([[place % V], [3], [5]])
            assert bits(step(ids, cache, starts)) == bits(model(ids, twin, starts))
    assert len(step.recordings) == 1


@pytest.mark.thin(1)
@pytest.mark.slow
@pytest.mark.parametrize("kind", ["gpt", "llama"])
def test_a_compiled_model_generates_what_it_generates_as_it_is(kind):
    model, twin = model_of(kind), model_of(kind)
    model.compile()
    assert model.takes_cache
    for number in range(4):  # other lengths, other batches, several at once, beams, beyond the context
        prompts = [[1 + number, 2, 3], [4, 5, 6]][: 1 + number % 2]
        for asked in (config(), config(num_beams=2), config(CONTEXT + 3), config(temperature=0.8, seed=number)):
            made = [one.tolist() for one in generate(model, prompts, asked, eos=0)]
            assert made == [one.tolist() for one in generate(twin, prompts, asked, eos=0)]
        both = [[one.tolist() for one in generate(each, [[1, 2, 3, 4], [5]], config())] for each in (model, twin)]
        assert both[0] == both[1]


@pytest.mark.slow
def test_the_next_text_of_a_compiled_model_is_replayed_from_its_first_token():
    model = model_of("gpt")
    model.compile()
    for _ in range(3):
        generate(model, badak.tensor([[1, 2, 3]]), config())
    before = {id(plan): plan.used for plan in model.forward.recordings}
    assert len(before) == 1  # one token: the length of a prompt seldom comes again
    generate(model, badak.tensor([[1, 2, 3]]), config())
    assert {id(plan) for plan in model.forward.recordings} == set(before)
    assert all(plan.used > before[id(plan)] for plan in model.forward.recordings)


@pytest.mark.slow
def test_two_texts_that_are_written_in_turns_do_not_meet():
    from badak.generation.sampling import stream

    model, twin = model_of("gpt"), model_of("gpt")
    model.compile()
    generate(model, badak.tensor([[1, 2, 3]]), config())
    both = [stream(model, badak.tensor([[1, 2, first]]), config()) for first in (3, 9)]
    made = [[int(token) for token in pair] for pair in zip(*both)]
    alone = [generate(twin, badak.tensor([[1, 2, first]]), config())[0, 3:].tolist() for first in (3, 9)]
    assert [list(one) for one in zip(*made)] == alone


def test_a_cache_begins_anew_with_another_batch():
    model, cache = model_of("gpt"), nn.KeyValueCache(2, CONTEXT)
    with badak.no_grad():
        model(badak.tensor([[1, 2]]), cache)
        cache.rewind()
        ids = badak.tensor([[1, 2], [3, 4], [5, 6]])
        assert badak.allclose(model(ids, cache), model(ids), atol=1e-5)
