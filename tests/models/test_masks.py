"""A badak.Mask given to a model: what it hides changes nothing, next to a cache, padding and starts too."""

import pytest

import badak
from badak import Mask, models, nn
from badak.core.errors import ArgumentTypeError

V, T = 19, 9
SIZES = {"vocab_size": V, "context": 16, "d_model": 16, "heads": 2, "layers": 2}


def model_of(kind):
    badak.manual_seed(1)
    model = {
        "gpt": lambda: models.GPT(models.GPTConfig(**SIZES)),
        "llama": lambda: models.Llama(models.LlamaConfig(**SIZES, feedforward=24)),
        "bert": lambda: models.BERT(models.BERTConfig(**SIZES)),
        "classifier": lambda: models.BERTClassifier(models.TextConfig(**SIZES)),
        "sentences": lambda: models.SentenceEncoder(models.SentenceConfig(**SIZES, pooling="cls")),
    }[kind]()
    with badak.no_grad():
        for parameter in model.parameters():
            parameter.normal_(std=0.4)
    return model.eval()


def ids_of(batch=2):
    return badak.randint(1, V, (batch, T), generator=badak.Generator().manual_seed(2))


@pytest.mark.parametrize("kind", ["gpt", "llama", "bert", "classifier", "sentences"])
def test_what_a_mask_hides_changes_nothing(kind):
    model, ids = model_of(kind), ids_of()
    keep = badak.ones(T, T, dtype=badak.bool)
    keep[:, 3] = False  # nobody but itself
    keep[3, 3] = True
    others = ids.clone()
    others[:, 3] = (others[:, 3] + 5) % (V - 1) + 1
    with badak.no_grad():
        one, two = (model(x, mask=Mask.of(keep=keep)) for x in (ids, others))
        assert not badak.allclose(model(ids), model(others), atol=1e-3)
    if one.dim() == 3:
        rows = [t for t in range(T) if t != 3]
        one, two = one[:, rows], two[:, rows]
    assert badak.allclose(one, two, atol=1e-6)


@pytest.mark.parametrize("kind", ["gpt", "llama"])
def test_a_mask_stays_causal_and_is_that_of_the_whole_text_beside_a_cache(kind):
    model, ids = model_of(kind), ids_of()
    starts = badak.tensor([0, 2])
    with badak.no_grad():
        assert badak.allclose(model(ids, mask=Mask.prefix(T)), model(ids), atol=1e-5)  # which hides nothing
        for mask in (Mask.window(3), Mask.prefix(2) | Mask.window(2)):
            for more in ({}, {"starts": starts}):
                whole, cache = model(ids, mask=mask, **more), nn.KeyValueCache(2, T)
                parts = [model(ids[:, begin:end], cache, mask=mask, **more) for begin, end in ((0, 4), (4, 5), (5, T))]
                assert badak.allclose(badak.cat(parts, dim=1)[:, 2:], whole[:, 2:], atol=1e-5)
                assert not badak.allclose(whole[:, 2:], model(ids, **more)[:, 2:], atol=1e-2)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:compile")  # recorded for one length alone: masks ask for it
@pytest.mark.parametrize("kind", ["gpt", "llama"])
def test_compiled_steps_with_a_mask_are_right_at_every_length(kind):
    model = model_of(kind)
    step = badak.compile(lambda ids, cache, mask: model(ids, cache, mask=mask))
    cache, twin, mask = nn.KeyValueCache(2, 12), nn.KeyValueCache(2, 12), Mask.window(3)
    with badak.no_grad():
        for _ in range(4):
            for place in range(8):
                ids = badak.tensor([[place]])
                assert step(ids, cache, mask).tolist() == model(ids, twin, mask=mask).tolist()
            cache.rewind(), twin.rewind()


@pytest.mark.parametrize("kind", ["gpt", "llama", "bert", "classifier"])
def test_a_tensor_is_no_mask(kind):
    with pytest.raises(ArgumentTypeError, match="mask: expected a badak.Mask; got Tensor\nfix: badak.Mask.of[(]keep=x[)]"):
        model_of(kind)(ids_of(), mask=badak.ones(T, T, dtype=badak.bool))
