"""A cache as models of transformers have it: forward(ids, past_key_values=, use_cache=) gives what was remembered."""

import pytest

import badak
from badak import nn
from badak.nn import functional as F


class Answer(dict):
    """What such a model gives: its parts by name, also as attributes."""

    __getattr__ = dict.__getitem__


class Remembered:
    """Keys and values of the tokens so far."""

    def __init__(self):
        self.k = self.v = None

    def add(self, k, v):
        self.k = k if self.k is None else badak.cat([self.k, k], dim=1)
        self.v = v if self.v is None else badak.cat([self.v, v], dim=1)
        return self.k, self.v


class Writer(nn.Module):
    """One causal attention; `forgets` counts the positions of new tokens from 0."""

    def __init__(self, forgets=False, gives=True):
        super().__init__()
        self.table, self.places = nn.Embedding(29, 16), nn.Embedding(12, 16)
        self.q, self.k, self.v, self.head = nn.Linear(16, 16), nn.Linear(16, 16), nn.Linear(16, 16), nn.Linear(16, 29)
        self.forgets, self.gives = forgets, gives

    def forward(self, ids, past_key_values=None, use_cache=False):
        past = past_key_values or Remembered()
        before = 0 if past.k is None else past.k.shape[1]
        first = 0 if self.forgets else before
        h = self.table(ids) + self.places(badak.arange(first, first + ids.shape[1]))
        k, v = past.add(self.k(h), self.v(h))
        keep = badak.ones(ids.shape[1], k.shape[1], dtype=badak.bool).tril(before)
        y = F.scaled_dot_product_attention(*(x.unsqueeze(1) for x in (self.q(h), k, v)), attn_mask=keep).squeeze(1)
        return Answer(logits=self.head(h + y), **({"past_key_values": past} if use_cache and self.gives else {}))


@pytest.fixture(autouse=True)
def drawn():
    badak.manual_seed(0)


def test_a_cache_that_is_right_is_sound():
    report = badak.audit(Writer(), badak.randint(29, (4, 10)))
    assert report.ok and "cache" in report.sound, report


def test_positions_of_new_tokens_that_begin_at_0_are_found():
    report = badak.audit(Writer(forgets=True), badak.randint(29, (4, 10)))
    found = {finding.probe: finding for finding in report.findings}
    assert set(found) == {"cache"} and found["cache"].module == "", report  # which counts them itself
    assert "the last token with a cache of those before gives other outputs than the whole text" in str(report)


def test_a_model_that_remembers_nothing_is_not_judged():
    report = badak.audit(Writer(gives=False), badak.randint(29, (4, 10)))
    assert report.ok and report.unasked["cache"] == "the model takes past_key_values and gives none, though use_cache=True", report


class Patches(nn.Module):
    """Pictures by patches and one attention; with positions, or without."""

    def __init__(self, positions):
        super().__init__()
        self.patch, self.layer = (
            nn.Conv2d(1, 16, 4, stride=4),
            nn.TransformerEncoderLayer(16, 2, 32, 0.0, batch_first=True),
        )
        self.places, self.head = nn.Parameter(badak.randn(1, 9, 16)) if positions else None, nn.Linear(16, 5)

    def forward(self, x):
        h = self.patch(x).flatten(2).transpose(1, 2)
        return self.head(self.layer(h if self.places is None else h + self.places).mean(1))


@pytest.mark.slow
def test_patches_without_positions_are_found_and_neither_those_with_nor_a_convolution_net_are():
    pictures = badak.randn(4, 1, 12, 12)
    net = nn.Sequential(nn.Conv2d(1, 8, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 5))
    assert [finding.code for finding in badak.audit(Patches(False), pictures).findings] == ["BADAK-311"]
    for sound in (Patches(True), net):
        report = badak.audit(sound, pictures)
        assert report.ok, report


class Translator(nn.Module):
    """A causal decoder next to a source; `forgets` counts the positions of new words from 0."""

    def __init__(self, forgets=False):
        super().__init__()
        self.forgets, self.source, self.words = forgets, nn.Embedding(23, 16, padding_idx=0), nn.Embedding(29, 16, padding_idx=0)
        self.places, self.head = nn.Embedding(12, 16), nn.Linear(16, 29)
        self.q, self.k, self.v, self.ask, self.memory = (nn.Linear(16, 16) for _ in range(5))

    def forward(self, src, tgt, past=None):
        before = 0 if past is None else past[0].shape[1]
        first = 0 if self.forgets else before
        y = self.words(tgt) + self.places(badak.arange(first, first + tgt.shape[1]))
        k, v = self.k(y), self.v(y)
        if past is not None:
            k, v = badak.cat([past[0], k], dim=1), badak.cat([past[1], v], dim=1)
        keep = badak.ones(tgt.shape[1], k.shape[1], dtype=badak.bool).tril(before)
        y = y + F.scaled_dot_product_attention(*(x.unsqueeze(1) for x in (self.q(y), k, v)), attn_mask=keep).squeeze(1)
        memory = self.memory(self.source(src) + self.places(badak.arange(src.shape[1])))
        hide = (src != 0)[:, None, None]
        read = F.scaled_dot_product_attention(*(x.unsqueeze(1) for x in (self.ask(y), memory, memory)), attn_mask=hide)
        return self.head(y + read.squeeze(1)), (k, v)


@pytest.mark.parametrize("forgets", [False, True])
def test_a_decoder_next_to_a_source_is_asked_for_its_cache(forgets):
    report = badak.audit(Translator(forgets), (badak.randint(1, 23, (4, 9)), badak.randint(1, 29, (4, 7))))
    found = [finding.code for finding in report.findings]
    assert found == (["BADAK-306"] if forgets else []) and "cache" not in report.unasked, report
