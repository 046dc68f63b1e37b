"""The experiments in a short form on real data, with figures that a broken model cannot reach."""

import pytest

from badak.generation import GenerationConfig
from badak.generation.text import fill_sentence, generate_text
from badak.training.build import open_model, start
from badak.training.loop import train
from badak.training.presets import PRESETS, change
from tests.real_data import real_data

pytestmark = pytest.mark.slow
GREEDY = GenerationConfig(max_new_tokens=32, temperature=0.0, top_k=0)


def trained(tmp_path, setup):
    """The run and the experiment after training."""
    run, experiment = start(tmp_path / "run", setup)
    assert train(experiment, setup.train, run)
    return run, experiment


@pytest.mark.nightly
def test_digits_are_read_better_than_any_linear_model_reads_them(tmp_path):
    """Least squares and softmax regression on these 5,000 pictures stay below 0.89; chance is 0.1."""
    setup = change(PRESETS["classify"]["small"], "data", {"path": str(real_data("mnist"))})
    setup = change(setup, "model", {"norm_first": True})
    setup = change(setup, "train", {"epochs": 3, "lr": 3e-3, "schedule": "cosine", "warmup_steps": 20})
    run, _ = trained(tmp_path, setup)
    assert run.rows()[-1].val_accuracy > 0.9
    assert run.rows()[-1].val_loss < 0.33


@pytest.mark.nightly
def test_shakespeare_is_predicted_better_than_from_the_last_character_alone(tmp_path):
    """A table of pairs of characters reaches 2.45 nats; what is below comes from attention."""
    data = {"path": str(real_data("tinyshakespeare") / "input.txt")}
    setup = change(change(PRESETS["gpt"]["characters"], "data", data), "train", {"steps": 300, "eval_every": 300})
    run, _ = trained(tmp_path, setup)
    assert 1.8 < run.rows()[-1].val_loss < 2.41


def test_ten_sentences_are_completed_exactly_from_their_first_two_words(tmp_path):
    run, experiment = trained(tmp_path, PRESETS["gpt"]["sentences"])
    gpt = open_model(run.folder, "gpt")
    for sentence in experiment.corpus.text.split("\n"):
        start_of_it = " ".join(sentence.split()[:2])
        assert "".join(generate_text(gpt.model, gpt.vocabulary, start_of_it, GREEDY, gpt.eos)) == sentence


@pytest.mark.nightly
def test_korean_reviews_are_judged_better_than_by_chance_after_a_tenth_of_an_epoch(tmp_path):
    """Two classes, half of the reviews each."""
    data = {"path": str(real_data("nsmc")), "examples": 15_000, "val_examples": 3_000, "vocabulary": 4_000}
    setup = change(change(PRESETS["text"]["reviews"], "data", data), "model", {"d_model": 64, "layers": 1, "context": 48})
    run, _ = trained(tmp_path, change(setup, "train", {"epochs": 1, "warmup_steps": 50}))
    assert run.rows()[-1].val_accuracy > 0.72


@pytest.mark.nightly
def test_great_minds_think_alike(tmp_path):
    run, _ = trained(tmp_path, PRESETS["bert"]["proverbs"])
    bert = open_model(run.folder, "bert")
    sentence = "Great minds [MASK] alike, but they also think differently"
    filled, (ranking,) = fill_sentence(bert.model, bert.vocabulary, sentence)
    assert filled == sentence.replace("[MASK]", "think")
    assert ranking[0][0] == "think" and ranking[0][1] > 0.3 and len(ranking) == 5
    assert run.rows()[-1].val_accuracy > 0.8
