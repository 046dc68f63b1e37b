"""The loop that writes: greedy, seeded, ended by <eos>, within the context."""

import pytest

import badak
from badak import nn
from badak.errors import ArgumentError
from badak.generate import SampleConfig, fill_mask, generate, stream
from badak.models import GPT, GPTConfig

GREEDY = SampleConfig(new_tokens=6, temperature=0.0, top_k=0)


class Counting(nn.Module):
    """Says that after n comes n + 1 (mod V), and remembers what it was asked."""

    def __init__(self, V=7, context=4):
        super().__init__()
        self.config, self.V, self.asked = GPTConfig(vocab_size=V, context=context), V, []

    def forward(self, ids):
        self.asked.append((tuple(ids.shape), self.training, badak.is_grad_enabled()))
        return 9.0 * nn.functional.one_hot((ids + 1) % self.V, self.V).float()


def test_greedy_takes_the_likeliest():
    assert generate(Counting(), badak.tensor([[2], [5]]), GREEDY).tolist() == [
        [2, 3, 4, 5, 6, 0, 1],
        [5, 6, 0, 1, 2, 3, 4],
    ]


def test_the_model_sees_at_most_its_context():
    model = Counting()
    generate(model, badak.tensor([[0, 1, 2]]), GREEDY)
    assert [shape for shape, _, _ in model.asked] == [(1, 3), (1, 4), (1, 4), (1, 4), (1, 4), (1, 4)]


def test_writing_happens_without_dropout_and_graph_and_leaves_the_mode_as_it_was():
    model = Counting()
    generate(model, badak.tensor([[0]]), GREEDY)
    assert {(training, graph) for _, training, graph in model.asked} == {(False, False)}
    assert model.training and badak.is_grad_enabled()


def test_a_row_ends_with_eos_and_is_filled_up_with_it():
    assert generate(Counting(), badak.tensor([[2], [4]]), GREEDY, eos=5).tolist() == [[2, 3, 4, 5], [4, 5, 5, 5]]


def test_the_same_seed_writes_the_same_and_another_one_not():
    badak.manual_seed(0)
    model, prompt = GPT(GPTConfig(vocab_size=50, d_model=16, layers=1)), badak.tensor([[1, 2]])
    one, two, three = (generate(model, prompt, SampleConfig(new_tokens=30, seed=seed)).tolist() for seed in (1, 1, 2))
    assert one == two != three


def test_drawing_leaves_the_default_generator_alone():
    model, state = Counting(), badak.get_rng_state()
    generate(model, badak.tensor([[1]]), SampleConfig(new_tokens=3))
    assert (badak.get_rng_state() == state).all()


def test_stream_hands_out_each_token_at_once():
    tokens = stream(Counting(), badak.tensor([[0]]), GREEDY)
    assert next(tokens).tolist() == [[1]] and next(tokens).tolist() == [[2]]


def test_no_new_tokens_is_the_prompt():
    assert generate(Counting(), badak.tensor([[3, 4]]), SampleConfig(new_tokens=0)).tolist() == [[3, 4]]


@pytest.mark.parametrize("shape", [(1, 0), (4,)])
def test_an_empty_prompt_is_refused(shape):
    with pytest.raises(ArgumentError, match=r"expected a prompt ids \(B, T\) with at least one token"):
        generate(Counting(), badak.zeros(*shape, dtype=badak.int64), GREEDY)


def test_fill_mask_ranks_each_hole():
    rankings = fill_mask(Counting(), badak.tensor([6, 1, 6]), mask_id=6, top=2)
    assert [ranking[0][0] for ranking in rankings] == [0, 0]
    assert all(1 > ranking[0][1] > ranking[1][1] > 0 for ranking in rankings)


def test_fill_mask_needs_a_mask():
    with pytest.raises(ArgumentError, match=r"no \[MASK\]\nfix: "):
        fill_mask(Counting(), badak.tensor([1, 2]), mask_id=6)
