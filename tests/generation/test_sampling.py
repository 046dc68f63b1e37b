"""The loop that writes: greedy, seeded, ended by <eos>, within the context."""

import pytest

import badak
from badak import nn
from badak.core.errors import ArgumentError
from badak.generation import GenerationConfig, fill_mask, generate, reader, stream
from badak.models import GPT, GPTConfig

GREEDY = GenerationConfig(max_new_tokens=6, temperature=0.0, top_k=0)


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
    one, two, three = (generate(model, prompt, GenerationConfig(max_new_tokens=30, seed=seed)).tolist() for seed in (1, 1, 2))
    assert one == two != three


def test_drawing_leaves_the_default_generator_alone():
    model, state = Counting(), badak.get_rng_state()
    generate(model, badak.tensor([[1]]), GenerationConfig(max_new_tokens=3))
    assert (badak.get_rng_state() == state).all()


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_logits_of_sixteen_bits_are_drawn_from_as_those_of_float32(dtype):
    class Halved(Counting):
        def forward(self, ids):
            return (super().forward(ids) / 7).to(getattr(badak, dtype))

    class Widened(Halved):
        def forward(self, ids):
            return super().forward(ids).float()

    config, prompt = GenerationConfig(max_new_tokens=40, top_p=0.9), badak.tensor([[1, 2]])
    assert generate(Halved(), prompt, config).tolist() == generate(Widened(), prompt, config).tolist()


class Uncached(nn.Module):
    """A GPT of which the whole context is asked each time."""

    def __init__(self, model):
        super().__init__()
        self.model, self.config = model, model.config

    def forward(self, ids):
        return self.model(ids)


def lively(**changes) -> GPT:
    """A GPT whose attention matters, with a context of 12."""
    badak.manual_seed(0)
    sizes = {"vocab_size": 50, "context": 12, "d_model": 16, "layers": 2, **changes}
    model = GPT(GPTConfig(**sizes))
    with badak.no_grad():
        for parameter in model.parameters():
            parameter.normal_(std=0.4)
    return model


@pytest.mark.parametrize("prompt", [1, 5, 12, 20])
@pytest.mark.parametrize("new_tokens", [1, 7, 30])
@pytest.mark.parametrize("greedy", [True, False])
def test_a_cache_changes_no_token(prompt, new_tokens, greedy):
    model, ids = lively(), badak.randint(50, (2, prompt))
    choice = {"temperature": 0.0} if greedy else {"top_p": 0.9, "repetition_penalty": 1.2, "seed": 3}
    config = GenerationConfig(max_new_tokens=new_tokens, **choice)
    cached = generate(model, ids, config)
    assert cached.shape == (2, prompt + new_tokens)
    assert cached.tolist() == generate(Uncached(model), ids, config).tolist()


def lengths_read(model) -> list[int]:
    """A list that will hold the number of tokens of each call of the model."""
    lengths: list[int] = []
    model.register_forward_pre_hook(lambda module, args: lengths.append(args[0].shape[1]))
    return lengths


def test_with_a_cache_only_the_last_token_is_read_until_the_context_is_full():
    model = lively()
    lengths = lengths_read(model)
    generate(model, badak.randint(50, (1, 9)), GenerationConfig(max_new_tokens=7))
    assert lengths == [9, 1, 1, 1, 12, 12, 12]


def test_the_cache_has_no_more_room_than_the_text_needs(monkeypatch):
    lengths = []
    monkeypatch.setattr(
        reader, "KeyValueCache", lambda layers, max_length: lengths.append(max_length) or nn.KeyValueCache(layers, max_length)
    )
    for prompt, new_tokens in [(1, 1), (3, 4), (9, 7), (20, 2)]:
        generate(lively(), badak.randint(50, (1, prompt)), GenerationConfig(max_new_tokens=new_tokens))
    assert lengths == [1, 6, 12, 12]


def test_the_mode_is_switched_once_for_a_text(monkeypatch):
    model, switched = lively(), []
    monkeypatch.setattr(GPT, "train", lambda self, mode=True: switched.append(mode) or nn.Module.train(self, mode))
    generate(model, badak.tensor([[1]]), GenerationConfig(max_new_tokens=20))
    assert switched == [False, True] and model.training
    model.eval()
    switched.clear()
    generate(model, badak.tensor([[1]]), GenerationConfig(max_new_tokens=20))
    assert switched == [] and not model.training


def test_an_abandoned_stream_leaves_the_modes_as_they_were_part_by_part():
    model = lively()
    model.blocks[0].eval()
    before = [module.training for module in model.modules()]
    tokens = stream(model, badak.tensor([[1]]), GenerationConfig())
    next(tokens)
    assert not any(module.training for module in model.modules()) and badak.is_grad_enabled()
    tokens.close()
    assert [module.training for module in model.modules()] == before and True in before and False in before


def test_a_stream_that_fails_leaves_the_mode_as_it_was():
    model = lively()
    model.register_forward_hook(lambda module, args, out: 1 / 0 if args[0].shape[1] == 12 else None)
    with pytest.raises(ZeroDivisionError):
        generate(model, badak.randint(50, (1, 9)), GenerationConfig())
    assert model.training and badak.is_grad_enabled()


def test_training_between_two_tokens_is_seen_by_the_next():
    model = lively(dropout=0.5)
    lengths, tokens = lengths_read(model), stream(model, badak.tensor([[1, 2]]), GREEDY)
    written = [next(tokens), next(tokens)]
    model.train()
    with badak.no_grad():
        model.token.weight.neg_()
    written.append(next(tokens))
    assert model.training and lengths == [2, 1, 4]
    ids = badak.cat([badak.tensor([[1, 2]]), *written[:2]], dim=1)
    assert model.eval()(ids)[:, -1].argmax().item() == written[2].item()


def test_stream_hands_out_each_token_at_once():
    tokens = stream(Counting(), badak.tensor([[0]]), GREEDY)
    assert next(tokens).tolist() == [[1]] and next(tokens).tolist() == [[2]]


def test_no_new_tokens_is_the_prompt():
    assert generate(Counting(), badak.tensor([[3, 4]]), GenerationConfig(max_new_tokens=0)).tolist() == [[3, 4]]


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
