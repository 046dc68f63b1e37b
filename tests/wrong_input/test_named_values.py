"""A layer or a model that is given a text where a tensor belongs names that text and its argument, and nothing of its own."""

import warnings

import pytest

import badak
from badak import models, nn
from badak.core.errors import ArgumentTypeError
from tests.wrong_input import calls

# PyTorch's samples take seconds to import: `make check` has the rows of tests/samples.
pytestmark = pytest.mark.slow

SIZES = {"vocab_size": 9, "d_model": 8, "heads": 2, "context": 8}
MODELS = {
    "GPT": lambda: models.GPT(models.GPTConfig(**SIZES, layers=1)),
    "Llama": lambda: models.Llama(models.LlamaConfig(**SIZES, num_key_value_heads=1, layers=1)),
    "BERT": lambda: models.BERT(models.BERTConfig(**SIZES, layers=1)),
    "BERTClassifier": lambda: models.BERTClassifier(models.TextConfig(**SIZES, layers=1, classes=3)),
}


def said(model, args, named) -> str:
    with warnings.catch_warnings(), badak.kernels.use("reference"):
        warnings.simplefilter("ignore")
        with pytest.raises(ArgumentTypeError) as caught:
            model(*args, **named)
    return str(caught.value)


def names_the_text(text: str) -> bool:
    return ("'hello'" in text or "got str" in text or "not str" in text) and "'self'" not in text and text.count("\nfix: ") == 1


@pytest.mark.parametrize("name", sorted(calls.layers()))
def test_a_layer_names_the_text_that_it_was_given(name):
    for kind, built, options, used, named in calls.layer_calls(calls.layers()[name]):
        for place, value in enumerate(used):
            if isinstance(value, badak.Tensor):
                layer = kind(*built, **options)
                text = said(layer, [*used[:place], "hello", *used[place + 1 :]], named)
                assert names_the_text(text), (place, text)


@pytest.mark.parametrize("name", MODELS)
def test_a_model_names_the_text_that_it_was_given(name):
    text = said(MODELS[name](), ["hello"], {})
    assert names_the_text(text) and "argument 'ids' must be Tensor" in text, text


def test_a_layer_of_the_program_names_it_too():
    class Own(nn.Module):
        def __init__(self):
            super().__init__()
            self.table, self.out = nn.Embedding(9, 4), nn.Linear(4, 9)

        def forward(self, ids):
            return self.out(self.table(ids))

    assert names_the_text(said(Own(), ["hello"], {}))
