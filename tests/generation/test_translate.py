"""Translations: beams as transformers finds them, many sentences at once as each alone, and what they looked at."""

import numpy as np
import pytest
import sacrebleu
import torch
import transformers

import badak
from badak import models
from badak.core.errors import ArgumentError, NotSupportedError
from badak.data.tokenizer import Tokenizer
from badak.generation import attention_picture
from badak.generation.attention_picture import draw_translation, font_families, words
from badak.generation.translate import (
    MARKS,
    TranslateConfig,
    bleu,
    chrf,
    cross_attention,
    framed,
    translate,
    translate_ids,
    translations,
)

pytestmark = pytest.mark.slow  # the import of transformers takes two seconds

V, PAD, EOS = 61, 0, 2


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    """A model of transformers and ours from its folder; starts are pads there, as Marian has it."""
    torch.manual_seed(0)
    model = transformers.MarianMTModel(transformers.MarianConfig(
        vocab_size=V, d_model=32, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4, decoder_attention_heads=4,
        encoder_ffn_dim=40, decoder_ffn_dim=40, max_position_embeddings=40, scale_embedding=True, activation_function="swish",
        pad_token_id=PAD, eos_token_id=EOS, decoder_start_token_id=PAD, bos_token_id=1, forced_eos_token_id=None,
    )).eval()  # fmt: skip
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if "embed_positions" not in name:
                parameter.add_(0.2 * torch.randn_like(parameter))
        model.final_logits_bias[0, EOS], model.final_logits_bias[0, PAD] = 1.0, -1e9  # texts of different lengths, without pads
    folder = tmp_path_factory.mktemp("marian")
    model.save_pretrained(folder)
    return model, models.Seq2Seq.from_pretrained(folder)


def sources():
    ids = torch.randint(3, V, (7, 6), generator=torch.Generator().manual_seed(1))
    for row, length in enumerate((6, 3, 5, 2, 6, 1, 4)):
        ids[row, length:] = PAD
    return ids


@pytest.mark.slow
@pytest.mark.parametrize("beams", [1, 2, 5])
@pytest.mark.parametrize("penalty", [1.0, 0.0, 2.0])
def test_beams_of_many_sentences_find_the_texts_of_transformers(pair, beams, penalty):
    theirs, ours = pair
    ids, config = sources(), TranslateConfig(num_beams=beams, length_penalty=penalty)
    expected = theirs.generate(
        ids,
        attention_mask=(ids != PAD).long(),
        num_beams=beams,
        length_penalty=penalty,
        do_sample=False,
        max_length=23,
    )
    found = translate_ids(ours, badak.from_numpy(ids.numpy()), config)
    ends = set()
    for mine, twin in zip(found, expected.tolist()):
        twin = twin[1 : twin.index(EOS) + 1] if EOS in twin else [token for token in twin[1:] if token != PAD]
        ends.add(len(twin))
        assert mine.tolist() == twin
    assert penalty != 1.0 or beams > 2 or len(ends) > 1


@pytest.mark.slow
def test_a_sentence_among_others_is_translated_as_alone(pair):
    _, ours = pair
    ids, config = badak.from_numpy(sources().numpy()), TranslateConfig(num_beams=3)
    together = translate_ids(ours, ids, config)
    for row, text in zip(ids, together):
        alone = translate_ids(ours, row[None], config)[0]
        assert text.tolist() == alone.tolist()


@pytest.mark.slow
def test_cross_attention_is_that_of_the_forward(pair):
    """Rows sum to 1, and a source token that changes nothing but its place in the weights is found there."""
    theirs, ours = pair
    source, target = sources()[0], torch.randint(3, V, (5,), generator=torch.Generator().manual_seed(2))
    theirs.set_attn_implementation("eager")
    expected = theirs(input_ids=source[None], decoder_input_ids=target[None], output_attentions=True).cross_attentions
    seen = cross_attention(ours, badak.from_numpy(source.numpy()), badak.from_numpy(target.numpy()))
    assert tuple(seen.shape) == (2, 4, 5, 6)
    np.testing.assert_allclose(seen.numpy(), torch.cat(expected).detach().numpy(), rtol=0, atol=1e-5)
    assert not any(layer.multihead_attn._forward_pre_hooks for layer in ours.decoder.layers)


# ---------------------------------------------------------------- texts


@pytest.fixture(scope="module")
def speaker():
    """A model of some sentences that has learned nothing, and its tokenizer."""
    texts = [" ein hund rennt.", " a dog runs.", " 개가 뜁니다."] * 9
    tokenizer = Tokenizer.train_bpe(texts, 300, MARKS, small=True)
    badak.manual_seed(0)
    config = models.Seq2SeqConfig(vocab_size=len(tokenizer), context=20, d_model=16, heads=2, encoder_layers=1, decoder_layers=2)
    return models.Seq2Seq(config).eval(), tokenizer


@pytest.mark.slow
def test_texts_come_in_their_order_and_empty_ones_stay_empty(speaker):
    model, tokenizer = speaker
    made = translate(model, tokenizer, ["Ein Hund rennt.", "", "ein Hund", "  "], TranslateConfig(num_beams=2, batch_size=1))
    assert made[1] == made[3] == ""
    alone = ["Ein Hund rennt.", "", "ein hund", ""]
    assert made == [translate(model, tokenizer, [one], TranslateConfig(num_beams=2))[0] for one in alone]
    assert translate(model, tokenizer, []) == []


def test_a_sentence_that_is_too_long_is_named(speaker):
    with pytest.raises(ArgumentError, match=r"sentence 2 has \d+ tokens, the model reads 20\nfix: cut it into shorter sentences"):
        translate(*speaker, ["ein hund", "rennt " * 30])


def test_a_sentence_that_is_too_long_is_told_and_the_others_are_translated_as_ever(speaker):
    model, tokenizer = speaker
    said, long = [], "rennt " * 30
    made = translate(model, tokenizer, ["ein hund", long, "", "ein hund rennt."], cut=lambda *one: said.append(one))
    assert said == [(1, len(framed(tokenizer, [long])[0]))]
    assert [made[0], *made[2:]] == translate(model, tokenizer, ["ein hund", "", "ein hund rennt."])
    row = framed(tokenizer, [long])[0]
    row = np.append(row[: model.config.context - 1], row[-1])
    assert made[1] == tokenizer.decode(translations(model, [row], TranslateConfig())[0], skip_special=True).strip()


def test_pieces_are_put_together_to_words(speaker):
    _, tokenizer = speaker
    ids = framed(tokenizer, ["ein Hund xyz, 개가"])[0]
    assert [word for _, word in words(tokenizer, ids)] == ["ein", "hund", "xyz,", "개가", "(end)"]
    assert [begin for begin, _ in words(tokenizer, ids)][0] == 0 and words(tokenizer, ids)[-1][0] == len(ids) - 1


@pytest.mark.slow
def test_a_picture_is_drawn(speaker, tmp_path):
    from PIL import Image

    model, tokenizer = speaker
    said = []
    text = draw_translation(model, tokenizer, "ein hund rennt.", tmp_path / "a.png", TranslateConfig(num_beams=2), said.append)
    assert text == translate(model, tokenizer, ["ein hund rennt."], TranslateConfig(num_beams=2))[0]
    with Image.open(tmp_path / "a.png") as picture:
        assert min(picture.size) > 200 and len(picture.convert("L").getcolors()) > 20
    with pytest.raises(ArgumentError, match=r"--show a b: expected a name that ends with .png, .svg, .pdf\nfix: --show="):
        draw_translation(model, tokenizer, "ein hund", "a b")
    with pytest.raises(ArgumentError, match="the sentence is empty\nfix: badak translate RUN 'a sentence' --show"):
        draw_translation(model, tokenizer, " ", tmp_path / "a.png")


def test_characters_that_no_font_has_are_named(monkeypatch):
    from matplotlib import font_manager as fonts

    monkeypatch.setattr(fonts.fontManager, "ttflist", [])
    monkeypatch.setattr(attention_picture, "_packed_fonts", list)
    said = []
    assert font_families("a dog", said.append) == ["DejaVu Sans"] and said == []
    font_families("a \u5f00", said.append)
    assert len(said) == 1 and said[0].startswith("no font of this machine has '\u5f00': empty boxes stand there\nfix: pip install")


# ---------------------------------------------------------------- BLEU


def test_bleu_is_sacrebleus_and_says_how_it_was_counted():
    truth, heard = ["The cat sat on the mat .", "A dog runs fast ."], ["the cat sat on the mat .", "A dog walks fast ."]
    score, signature = bleu(heard, truth)
    lower, small = bleu(heard, truth, lowercase=True)
    assert score < lower < 100 and "case:mixed" in signature and "case:lc" in small and "tok:13a" in small
    assert bleu(truth, truth)[0] == pytest.approx(100)
    with pytest.raises(ArgumentError, match="bleu: 1 translation for 2 references\nfix: a reference for each translation"):
        bleu(heard[:1], truth)


def test_chrf_is_sacrebleus():
    truth, heard = ["The cat sat on the mat .", "A dog runs fast ."], ["the cat sat on the mat .", "A dog walks fast ."]
    score, signature = chrf(heard, truth)
    assert score == pytest.approx(sacrebleu.corpus_chrf(heard, [truth]).score) and "nc:6|nw:0" in signature
    assert score < chrf(heard, truth, lowercase=True)[0] < chrf(truth, truth)[0] == pytest.approx(100)


def test_without_sacrebleu_the_error_says_what_to_install(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "sacrebleu.metrics", None)
    with pytest.raises(NotSupportedError, match=r'sacrebleu is not installed\nfix: pip install "badak\[translate\]"'):
        bleu(["a"], ["a"])
