"""What the tasks feed to the loop: windows and lines, hidden words, counted scores, the schedule of the rate."""

import math

import numpy as np
import pytest

import badak
from badak.core.errors import ArgumentError
from badak.data.text import WordVocabulary
from badak.data.tokens import TokenWindows
from badak.io.config import from_dict, to_dict
from badak.training.build import build
from badak.training.causal_lm import Lines
from badak.training.config import TrainConfig
from badak.training.curves import draw_curves
from badak.training.experiment import judge
from badak.training.image_classification import shifted
from badak.training.masked_lm import each_word_hidden, frame_all
from badak.training.metrics import Row
from badak.training.presets import PRESETS, SETUPS, change
from badak.training.score import Score
from badak.training.train_state import build_optimizer

ALL_PRESETS = [(kind, name) for kind, named in PRESETS.items() for name in named]
BERT = change(PRESETS["bert"]["proverbs"], "model", {"d_model": 16, "layers": 1})
WRITER = change(PRESETS["gpt"]["characters"], "model", {"d_model": 16, "layers": 1, "context": 16})
WRITER = change(WRITER, "data", {"corpus": "sentences", "val_split": 0.25})


# ---------------------------------------------------------------------- batches


def test_a_window_predicts_the_token_after_each_of_its_tokens():
    windows = TokenWindows(np.arange(10), 4)
    ids, labels = windows.gather([0, 5])
    assert ids.tolist() == [[0, 1, 2, 3], [5, 6, 7, 8]] and labels.tolist() == [[1, 2, 3, 4], [6, 7, 8, 9]]
    assert len(windows) == 6 and windows[5][0].tolist() == [5, 6, 7, 8]


def test_a_line_ends_with_eos_and_its_padding_has_no_label():
    lines = Lines([np.array([5, 6, 7]), np.array([8])], eos=2)
    assert [t.tolist() for t in lines[0]] == [[5, 6, 7], [6, 7, 2]]
    assert [t.tolist() for t in lines[1]] == [[8, 0, 0], [2, -100, -100]]


def test_held_out_text_is_never_learned_from_and_tested_once():
    experiment = build(WRITER)
    ids = experiment.vocabulary.encode(experiment.corpus.text)
    cut = len(ids) - int(len(ids) * 0.25)
    assert (experiment.loader.dataset.ids == ids[:cut]).all()
    tested = badak.cat([labels.flatten() for _, labels in experiment.validation]).tolist()
    assert tested == ids[cut + 1 : cut + 1 + len(tested)].tolist() and len(tested) > len(ids) - cut - 1 - 16


def test_an_epoch_of_a_stream_has_as_many_tokens_as_the_text():
    experiment = build(WRITER)
    learned = len(experiment.loader.dataset.ids)
    assert abs(sum(ids.numel() for ids, _ in experiment.loader) - learned) < 2 * 16


def test_the_last_lines_are_held_out():
    setup = change(PRESETS["gpt"]["sentences"], "data", {"val_split": 0.2})
    experiment = build(change(setup, "model", {"d_model": 16, "layers": 1}))
    assert len(experiment.loader.dataset) == 8 and len(experiment.validation.dataset) == 2


def test_a_shifted_picture_is_the_same_picture_elsewhere():
    badak.manual_seed(0)
    pictures = badak.zeros(200, 28, 28)
    pictures[:, 10, 12] = 1.0
    moved = shifted(pictures, 2).numpy()
    _, rows, columns = np.nonzero(moved)
    assert moved.shape == (200, 28, 28) and moved.dtype == np.float32 and len(rows) == 200
    assert set(rows) == {8, 9, 10, 11, 12} and set(columns) == {10, 11, 12, 13, 14}
    assert (shifted(pictures, 0) == pictures).all()


def test_a_shift_brings_black_in():
    assert (shifted(badak.ones(50, 28, 28), 1).numpy().sum(axis=(1, 2)) < 28 * 28).any()


# ---------------------------------------------------------------------- hidden words


def test_the_loss_of_bert_is_on_hidden_words_only():
    experiment = build(BERT)
    (ids,) = next(iter(experiment.loader))
    seen = []
    experiment.model.register_forward_pre_hook(lambda module, args: seen.append(args[0]))
    _, score = experiment.loss((ids,))
    hidden = seen[0] == experiment.vocabulary.mask
    assert score.count == int(hidden.sum()) and score.seen == ids.numel()
    assert (seen[0][~hidden] == ids[~hidden]).all() and (ids[hidden] > 4).all()


def test_about_three_tenths_of_the_words_are_hidden_and_one_in_each_sentence_at_least():
    experiment, shares = build(BERT), []
    experiment.model.forward = lambda ids: (shares.append(ids), badak.zeros(*ids.shape, len(experiment.vocabulary)))[1]
    ids = badak.stack([experiment.loader.dataset[i][0] for i in range(30)])
    for _ in range(100):
        experiment.loss((ids,))
    hidden = badak.stack(shares) == experiment.vocabulary.mask
    assert hidden.any(dim=2).all()
    assert float(hidden.sum()) / (100 * int((ids > 4).sum())) == pytest.approx(0.3, abs=0.03)


def test_other_words_are_hidden_in_each_epoch():
    experiment, seen = build(BERT), []
    experiment.model.register_forward_pre_hook(lambda module, args: seen.append(args[0]))
    batch = next(iter(experiment.loader))
    experiment.loss(batch), experiment.loss(batch)
    assert (seen[0] != seen[1]).any()


def test_each_word_is_tested_alone():
    vocabulary = WordVocabulary.from_texts(["a b", "c"])
    ids, labels = each_word_hidden(frame_all(vocabulary, ["a b", "c"], context=8), vocabulary.mask)
    assert ids.tolist() == [[1, 4, 6, 2], [1, 5, 4, 2], [1, 4, 2, 0]]
    assert labels.tolist() == [[-100, 5, -100, -100], [-100, -100, 6, -100], [-100, 7, -100, -100]]


def test_a_sentence_longer_than_the_context_is_named():
    with pytest.raises(ArgumentError, match=r"sentence 2 has 6 tokens with its marks, more than context=5\nfix: --context 6"):
        frame_all(WordVocabulary.from_texts(["a", "a b c d"]), ["a", "a b c d"], context=5)


# ---------------------------------------------------------------------- what is counted


def test_scores_count_labels_and_add_up():
    logits = badak.tensor([[[2.0, 0.0], [0.0, 2.0]], [[2.0, 0.0], [2.0, 0.0]]])
    loss, score = judge(logits, badak.tensor([[0, 0], [-100, 0]]), seen=4)
    assert (score.right, score.count, score.seen) == (2, 3, 4)
    assert score.loss == pytest.approx(loss.item()) == pytest.approx((2 * math.log1p(math.exp(-2)) + math.log1p(math.exp(2))) / 3)
    assert (score + score).loss == pytest.approx(score.loss) and (score + Score()) == score
    assert score.accuracy == pytest.approx(2 / 3) and score.perplexity == pytest.approx(math.exp(score.loss))


def test_nothing_counted_is_not_a_number():
    assert math.isnan(Score().loss) and math.isnan(Score().accuracy)


# ---------------------------------------------------------------------- settings


def test_the_rate_rises_and_falls():
    config = TrainConfig(warmup_steps=10, min_lr_ratio=0.1)
    rates = [config.rate(step, 100) for step in range(101)]
    assert rates[0] == pytest.approx(0.1) and rates[100] == pytest.approx(0.1)
    assert max(rates) == rates[9] and rates[9:] == sorted(rates[9:], reverse=True)
    assert [TrainConfig(schedule="constant", warmup_steps=0).rate(step, 9) for step in (0, 5)] == [1.0, 1.0]


def test_steps_go_before_epochs_and_epochs_alone_replace_them():
    assert TrainConfig(epochs=3, steps=7).last_step(batches=5) == 7 and TrainConfig(epochs=3).last_step(batches=5) == 15
    assert change(PRESETS["gpt"]["topics"], "train", {"epochs": 2}).train.steps == 0


@pytest.mark.parametrize("optimizer", ["adam", "adamw", "sgd"])
def test_only_matrices_are_shrunk(optimizer):
    model = badak.nn.Sequential(badak.nn.Linear(3, 4), badak.nn.LayerNorm(4))
    groups = build_optimizer(model, TrainConfig(optimizer=optimizer, weight_decay=0.1)).param_groups
    assert [(group["weight_decay"], [p.dim() for p in group["params"]]) for group in groups] == [
        (0.1, [2]),
        (0.0, [1, 1, 1]),
    ]


@pytest.mark.parametrize("kind, name", ALL_PRESETS)
def test_every_preset_comes_back_from_json(kind, name):
    setup = PRESETS[kind][name]
    assert from_dict(SETUPS[kind], to_dict(setup), "config.json") == setup


# ---------------------------------------------------------------------- curves


@pytest.mark.slow
@pytest.mark.parametrize("metric", ["accuracy", "perplexity"])
def test_curves_are_drawn_from_one_row_on(tmp_path, metric):
    pytest.importorskip("matplotlib")
    row = Row(1, 0.5, 1e-3, 2.0, 0.1, 2.1, 0.2, math.exp(2.1), 100.0, 1.0)
    assert draw_curves([row], metric, tmp_path / "curves.png")
    assert (tmp_path / "curves.png").read_bytes().startswith(b"\x89PNG")
