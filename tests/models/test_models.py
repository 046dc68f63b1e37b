"""The three models: shapes, causality, padding, and the settings that they refuse."""

import numpy as np
import pytest

import badak
from badak import kernels, nn
from badak.core.errors import ArgumentError, IndexOutOfRangeError, ShapeError
from badak.generation import GenerationConfig, generate
from badak.models import BERT, GPT, BERTConfig, ClassifierConfig, ClsClassifier, GPTConfig, Llama, LlamaConfig, build_classifier
from tests.tiers import looped

SMALL = GPTConfig(vocab_size=11, context=12, d_model=16, heads=4, layers=2)


def gpt(**changes) -> GPT:
    badak.manual_seed(0)
    return GPT(GPTConfig(**{**vars(SMALL), **changes})).eval()


def bits(tensor) -> bytes:
    return np.ascontiguousarray(tensor.detach().numpy()).tobytes()


@pytest.mark.parametrize("place", [0, 1, 5, 11])
def test_gpt_is_causal_to_the_last_bit(place):
    model = gpt()
    ids = badak.randint(11, (3, 12))
    changed = ids.clone()
    changed[:, place] = (changed[:, place] + 1) % 11
    before, after = model(ids), model(changed)
    assert bits(before[:, :place]) == bits(after[:, :place])
    assert all(bits(before[:, t]) != bits(after[:, t]) for t in range(place, 12))


def test_the_decoder_of_nn_with_a_causal_mask_is_causal_to_the_last_bit():
    badak.manual_seed(0)
    decoder = nn.TransformerDecoder(nn.TransformerDecoderLayer(16, 4, 32, batch_first=True), 2).eval()
    mask = nn.Transformer.generate_square_subsequent_mask(9)
    x, memory = badak.randn(2, 9, 16), badak.randn(2, 5, 16)
    changed = x.clone()
    changed[:, 6] += badak.randn(16)
    before, after = decoder(x, memory, tgt_mask=mask), decoder(changed, memory, tgt_mask=mask)
    assert bits(before[:, :6]) == bits(after[:, :6])
    assert bits(before[:, 6]) != bits(after[:, 6])


def test_gpt_shares_the_token_table_with_its_output():
    model = gpt()
    assert sum(p.numel() for p in model.parameters()) == 11 * 16 + 12 * 16 + 2 * (16 * 12 * 16 + 13 * 16) + 2 * 16
    model(badak.randint(11, (1, 4))).sum().backward()
    assert (model.token.weight.grad != 0).all()


def test_gpt_begins_without_a_preference():
    model = gpt(vocab_size=100, d_model=64, context=32)
    logits, ids = model(badak.randint(100, (8, 32))), badak.randint(100, (8, 32))
    loss = nn.functional.cross_entropy(logits.flatten(0, 1), ids.flatten())
    assert loss.item() == pytest.approx(np.log(100), abs=0.05)


def test_gpt_refuses_a_text_longer_than_its_context():
    with pytest.raises(IndexOutOfRangeError, match=r"GPT: length 13 > context 12\nfix: give the last 12 tokens"):
        gpt()(badak.zeros(1, 13, dtype=badak.int64))


def lively(dtype=badak.float32, **changes) -> GPT:
    """A GPT whose attention matters: with the weights that training begins with, it is almost an average."""
    model = gpt(**changes).to(dtype)
    with badak.no_grad():
        for parameter in model.parameters():
            parameter.normal_(std=0.4)
    return model


def rounding(model: GPT, logits) -> float:
    """How far two ways of summing the same terms may lead apart.

    A layer rounds two chains of products with at most 4 C terms each, a half eps each time; the terms of a sum are larger
    than it, and all passes through the layers that follow: 2 for both.
    """
    width, layers = model.config.d_model, model.config.layers
    return 2 * layers * 2 * 4 * width * badak.finfo(logits.dtype).eps / 2 * logits.abs().max().item()


@pytest.mark.parametrize("kernels_in_use", ["reference", "numba"])
@looped(dtype=[badak.float32, badak.float64])
@pytest.mark.parametrize(
    "chunks",
    [[12], [1] * 12, [5, 1, 6], [1, 11], [11, 1], [4, 4, 4], [0, 3, 0, 9]],
    ids=lambda c: "-".join(map(str, c)),
)
def test_gpt_gives_the_same_logits_in_chunks_with_a_cache(chunks, dtype, kernels_in_use):
    with kernels.use(kernels_in_use), badak.no_grad():
        model, ids, cache = lively(dtype), badak.randint(11, (2, 12)), nn.KeyValueCache(2, max_length=12)
        whole = model(ids)
        parts = badak.cat([model(part, cache) for part in ids.split(chunks, dim=1)], dim=1)
        assert cache.length == 12 and parts.shape == whole.shape == (2, 12, 11)
        np.testing.assert_allclose(parts.numpy(), whole.numpy(), rtol=0, atol=rounding(model, whole))


@badak.no_grad()
def test_a_cache_rewound_reads_another_ending():
    model, ids, cache = lively(), badak.randint(11, (1, 8)), nn.KeyValueCache(2, max_length=8)
    model(ids, cache)
    cache.rewind(5)
    ending = badak.randint(11, (1, 3))
    whole = model(badak.cat([ids[:, :5], ending], dim=1))
    np.testing.assert_allclose(model(ending, cache).numpy(), whole[:, 5:].numpy(), rtol=0, atol=rounding(model, whole))


@badak.no_grad()
def test_a_chunk_that_fails_midway_can_be_given_again():
    model, ids, cache = lively(), badak.randint(11, (1, 8)), nn.KeyValueCache(2, max_length=8)
    whole = model(ids)
    model(ids[:, :4], cache)
    broken = model.blocks[1].register_forward_pre_hook(lambda module, args: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        model(ids[:, 4:], cache)
    broken.remove()
    assert cache.length == 4
    np.testing.assert_allclose(model(ids[:, 4:], cache).numpy(), whole[:, 4:].numpy(), rtol=0, atol=rounding(model, whole))


@badak.no_grad()
def test_gpt_refuses_a_cache_beyond_its_context_and_one_of_other_layers():
    model, cache = gpt(), nn.KeyValueCache(2, max_length=20)
    model(badak.zeros(1, 12, dtype=badak.int64), cache)
    with pytest.raises(IndexOutOfRangeError, match=r"length 13 > context 12, 12 of them in the cache\nfix: .* and no cache"):
        model(badak.zeros(1, 1, dtype=badak.int64), cache)
    with pytest.raises(ArgumentError, match=r"GPT: a cache of 3 layers for a model of 2\nfix: nn.KeyValueCache\(2, max_length=5"):
        model(badak.zeros(1, 1, dtype=badak.int64), nn.KeyValueCache(3, max_length=5))


def test_a_gpt_with_parts_of_somebody_else_takes_no_cache():
    class Louder(GPT):
        def forward(self, ids):
            return 2 * super().forward(ids)

    class Averaging(nn.Module):
        def forward(self, x):
            return x.cumsum(dim=1)

    changed = [gpt(), gpt(), gpt(), gpt()]
    changed[0].blocks[1].attention = Averaging()
    changed[1].blocks[0] = Averaging()
    changed[2].forward = lambda ids: GPT.forward(changed[2], ids)
    del changed[3].blocks[1]
    assert gpt().takes_cache
    assert not any(model.takes_cache for model in [*changed, Louder(SMALL)])
    assert changed[0](badak.zeros(1, 3, dtype=badak.int64)).shape == (1, 3, 11)


def bert() -> BERT:
    badak.manual_seed(0)
    return BERT(BERTConfig(vocab_size=11, context=12, d_model=16, heads=4, layers=2)).eval()


def test_bert_does_not_see_padding():
    model = bert()
    ids = badak.randint(1, 11, (2, 7))
    padded = badak.cat([ids, badak.zeros(2, 5, dtype=badak.int64)], dim=1)
    np.testing.assert_allclose(model(ids).detach().numpy(), model(padded)[:, :7].detach().numpy(), atol=1e-6)


def test_bert_sees_both_sides():
    model = bert()
    ids = badak.randint(1, 11, (1, 7))
    for place in (0, 6):
        changed = ids.clone()
        changed[0, place] = changed[0, place] % 10 + 1
        assert not badak.allclose(model(ids)[0, 3], model(changed)[0, 3])


def test_bert_refuses_a_sentence_longer_than_its_context():
    with pytest.raises(IndexOutOfRangeError, match=r"BERT: length 13 > context 12\nfix: shorten the sentence to 10 words"):
        bert()(badak.ones(1, 13, dtype=badak.int64))


@pytest.mark.parametrize("pooling", ["flatten", "cls"])
@pytest.mark.parametrize("norm_first", [True, False])
def test_a_classifier_gives_ten_logits_and_trains_every_weight(pooling, norm_first):
    model = build_classifier(ClassifierConfig(d_model=16, pooling=pooling, norm_first=norm_first))
    logits = model(badak.rand(3, 28, 28))
    assert logits.shape == (3, 10)
    logits.square().sum().backward()
    assert [name for name, p in model.named_parameters() if p.grad is None or not p.grad.any()] == []


def test_the_class_token_has_no_row_of_pixels():
    model = build_classifier(ClassifierConfig(d_model=16, pooling="cls")).eval()
    assert isinstance(model, ClsClassifier)
    assert model.tokens(badak.zeros(2, 28, 16)).shape == (2, 29, 16)


def test_a_classifier_refuses_pictures_of_another_size():
    with pytest.raises(ShapeError, match=r"expected pictures \(B, rows=28, row_width=28\); got \(28, 28\)\nfix:"):
        build_classifier(ClassifierConfig(d_model=16))(badak.zeros(28, 28))


@pytest.mark.parametrize("kind", [GPTConfig, BERTConfig, ClassifierConfig])
def test_heads_that_do_not_divide_the_width_are_refused_with_those_that_do(kind):
    with pytest.raises(ArgumentError, match=r"d_model=10 is not divisible by heads=4\nfix: heads in \{1, 2, 5, 10\}"):
        kind(d_model=10, heads=4)


@pytest.mark.parametrize("kind", [GPTConfig, BERTConfig, ClassifierConfig])
@pytest.mark.parametrize("values", [{"dropout": 1.0}, {"d_model": 0}, {"heads": 2.5}, {"dropout": float("nan")}])
def test_a_config_refuses_values_outside_their_range(kind, values):
    (name,) = values
    with pytest.raises(ArgumentError, match=rf"{kind.__name__}: expected {name}"):
        kind(**values)


def test_a_config_cannot_be_changed():
    with pytest.raises(AttributeError):
        GPTConfig().d_model = 3


@pytest.mark.parametrize("cached", [False, True])
def test_logits_of_the_last_places_have_the_bits_of_all(cached):
    badak.manual_seed(0)
    llama = LlamaConfig(vocab_size=11, context=12, d_model=16, heads=4, num_key_value_heads=2, feedforward=24, layers=2)
    for model in (gpt(), Llama(llama).eval()):
        ids = badak.randint(11, (3, 9))
        cache = [nn.KeyValueCache(2, 12) for _ in range(5)] if cached else [None] * 5
        with badak.no_grad():
            whole = model(ids, cache=cache[0])
            for count in (1, 2, 9, 20):
                last = model(ids, cache=cache.pop(), logits_to_keep=count)
                assert last.shape == (3, min(count, 9), 11) and bits(last) == bits(whole[:, -count:])
            for wrong in (-1, True, 1.0):
                with pytest.raises(ArgumentError, match="logits_to_keep: expected an integer of at least 0"):
                    model(ids, logits_to_keep=wrong)


def test_a_prompt_is_read_without_the_logits_that_nobody_asks_for():
    model = gpt()
    shapes = []
    model.register_forward_hook(lambda module, given, made: shapes.append(tuple(made.shape)))
    generate(model, badak.randint(11, (2, 6)), GenerationConfig(max_new_tokens=3))
    assert shapes == [(2, 1, 11)] * 3
