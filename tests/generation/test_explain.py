"""Why a token was written: probabilities, ranks, what filters took, where the model looked; and texts that loop."""

import numpy as np
import pytest

import badak
from badak import nn
from badak.core.errors import BadakWarning
from badak.data.text import CharVocabulary, WordVocabulary
from badak.generation import GenerationConfig, generate
from badak.generation.explain import explain, loop_in
from badak.generation.text import generate_text, until, warn_of_a_loop
from tests.generation.test_sampling import Counting, Uncached, lively


@pytest.mark.parametrize("config", [
    GenerationConfig(max_new_tokens=9, temperature=0.0, top_k=0), GenerationConfig(max_new_tokens=9, top_k=5, seed=3),
    GenerationConfig(max_new_tokens=9, top_k=0, top_p=0.8, min_p=0.02, repetition_penalty=1.3, no_repeat_ngram_size=2, seed=1),
])  # fmt: skip
def test_the_tokens_are_those_of_generate(config):
    model, ids = lively(context=32), badak.tensor([[3, 1, 4]])
    steps = list(explain(model, ids, config))
    assert [3, 1, 4, *(step.token for step in steps)] == generate(model, ids, config)[0].tolist()
    again = list(explain(Uncached(model), ids, config))
    assert [step.token for step in again] == [step.token for step in steps]
    for one, other in zip(steps, again):
        assert np.isclose(one.chance, other.chance, rtol=1e-4) and one.removed == other.removed


def test_each_number_is_the_models():
    model, ids, config = lively(context=32), badak.tensor([[3, 1, 4, 1]]), GenerationConfig(max_new_tokens=4, top_k=7, seed=2)
    text = ids
    for step in explain(model, ids, config):
        with badak.no_grad():
            chances = model.eval()(text)[0, -1].softmax(-1)
        assert np.isclose(step.chance, chances[step.token].item(), rtol=1e-4)
        assert step.rank == int((chances > chances[step.token]).sum()) < 7 and step.removed == {"top_k": 43}
        assert step.most_likely[0] == (int(chances.argmax()), pytest.approx(chances.max().item(), rel=1e-4))
        assert len(step.sources) == 3 and all(0 <= place < text.shape[1] for place, _ in step.sources)
        text = badak.cat([text, badak.tensor([[step.token]])], dim=1)


def test_where_the_model_looked_is_the_mean_of_its_weights():
    model, ids = lively(context=32, layers=1).eval(), badak.tensor([[3, 1, 4, 1, 5, 9]])
    step = next(explain(model, ids, GenerationConfig(max_new_tokens=1), top=6))
    with badak.no_grad():
        x = model.blocks[0].norm1(model.token(ids) + model.position.weight[:6])
        q, k, _ = model.blocks[0].attention.qkv(x).view(1, 6, 3, 4, 4).permute(2, 0, 3, 1, 4)
        weights = (q[0, :, -1:] @ k[0].transpose(1, 2) / 2).softmax(-1).mean(0)[0]
    for place, share in step.sources:
        assert np.isclose(share, weights[place].item(), rtol=1e-4)
    assert np.isclose(sum(share for _, share in step.sources), 1)


def test_a_window_counts_places_from_the_texts_beginning():
    steps = list(
        explain(lively(context=4), badak.tensor([[1, 2, 3, 4, 5, 6]]), GenerationConfig(max_new_tokens=2, temperature=0.0), top=4)
    )
    assert sorted(place for place, _ in steps[0].sources) == [2, 3, 4, 5]
    assert sorted(place for place, _ in steps[1].sources) == [3, 4, 5, 6]


def test_a_model_without_attention_has_no_sources_and_ends_with_eos():
    steps = list(explain(Counting(), badak.tensor([[1]]), GenerationConfig(max_new_tokens=9, temperature=0.0), eos=4))
    assert [(step.token, step.rank, step.sources) for step in steps] == [(2, 0, []), (3, 0, []), (4, 0, [])]


@pytest.mark.parametrize(
    "text, found",
    [
        ("abcabcabcabc", (3, 4)), ("xxxxxxxx", (1, 8)), ("abababab", (2, 4)), ("abcdefgh", None), ("xxx", None), ("", None),
        ("abab" + "c" * 8, (1, 8)), ("c" * 8 + "ab", None),
    ],
)  # fmt: skip
def test_a_loop_is_the_shortest_run_that_repeats(text, found):
    assert loop_in(text) == found


def test_a_text_that_loops_is_said_with_what_would_stop_it():
    class Over(Counting):
        def forward(self, ids):
            return 9.0 * nn.functional.one_hot(badak.full_like(ids, 5), self.V).float()

    words = WordVocabulary.from_texts(["over and out"])
    written: list[int] = []
    text = "".join(generate_text(Over(V=8), words, "and", GenerationConfig(max_new_tokens=12, temperature=0.0), written=written))
    with pytest.warns(BadakWarning) as caught:
        warn_of_a_loop(words, written)
    assert text == "and" + 12 * " over"
    assert str(caught[0].message) == (
        "the model repeats itself: 12 times 'over' at the end\n"
        "fix: --no-repeat-ngram-size 3 forbids it, --repetition-penalty 1.2 makes it unlikely; a greedy text loops most"
    )
    config = GenerationConfig(max_new_tokens=12, temperature=0.0, no_repeat_ngram_size=3)
    assert 4 * " over" not in "".join(generate_text(Over(V=8), words, "and", config))


@pytest.mark.parametrize(
    "pieces, stop, expected",
    [
        (["ab", "cd", "ef"], ["d"], "abc"), (["ab", "cd", "ef"], ["bc", "x"], "a"), (["a", "b", "a", "b", "c"], ["abc"], "ab"),
        (["ab", "cd"], ["cdx"], "abcd"), (["ab", "cd"], [], "abcd"), (["ab"], ["", "b"], "a"), (["xend"], ["end", "xe"], ""),
    ],
)  # fmt: skip
def test_a_text_ends_before_what_is_to_stop_it(pieces, stop, expected):
    assert "".join(until(pieces, stop)) == expected


def test_beams_and_stops_write_texts_too():
    vocabulary = CharVocabulary("\nabcd")
    config = GenerationConfig(max_new_tokens=6, num_beams=2)
    assert "".join(generate_text(Counting(V=5), vocabulary, "a", config)) == "abcd\nab"
    assert (
        "".join(generate_text(Counting(V=5), vocabulary, "a", GenerationConfig(max_new_tokens=6, temperature=0.0), stop=["\n"]))
        == "abcd"
    )
