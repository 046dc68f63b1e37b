"""What the audit says rests on what it saw: outputs however wrapped, kinds by evidence, and "not asked" where it could not ask."""

from collections import namedtuple
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import badak
from badak import nn
from badak.inspect.audit.kind import one_further, part_of
from badak.inspect.audit.watch import tensors_in
from badak.nn import functional as F
from tests.inspect.audit.test_command import run

V, T = 30, 12


class LM(nn.Module):
    """One causal attention; `wrap` says what it gives, `leak` and `causal` what it does wrong."""

    def __init__(self, wrap="logits", causal=True, leak=False):
        super().__init__()
        self.tok, self.pos = nn.Embedding(V, 16), nn.Embedding(T, 16)
        self.q, self.k, self.v, self.head = (*(nn.Linear(16, 16) for _ in range(3)), nn.Linear(16, V))
        self.wrap, self.causal, self.leak = wrap, causal, leak

    def logits(self, ids):
        n = ids.shape[1]
        x = self.tok(ids) + self.pos.weight[:n]
        if self.leak:
            x = x / x.pow(2).mean(0, keepdim=True).sqrt()
        a = self.q(x) @ self.k(x).transpose(1, 2) / 4
        if self.causal:
            a = a.masked_fill(badak.ones(n, n).triu(1).bool(), float("-inf"))
        return self.head(x + a.softmax(-1) @ self.v(x))

    def forward(self, ids, targets=None):
        y = self.logits(ids)
        loss = None if targets is None else F.cross_entropy(y.flatten(0, 1), targets.flatten())
        return WRAPS[self.wrap](y, loss)


Pair = namedtuple("Pair", "loss logits")


@dataclass
class Parts:
    loss: Any
    logits: Any


class Plain:
    def __init__(self, loss, scores):
        self.loss, self.scores = loss, scores


class Slotted:
    __slots__ = ("scores",)

    def __init__(self, scores):
        self.scores = scores


WRAPS = {
    "logits": lambda y, loss: y, "loss": lambda y, loss: loss, "(loss, logits)": lambda y, loss: (loss, y),
    "(logits, cache)": lambda y, loss: (y, [(y.new_zeros(2, 3), y.new_zeros(2, 3))]),
    "namespace": lambda y, loss: SimpleNamespace(a=y, loss=loss),
    "dataclass": lambda y, loss: Parts(loss, y), "named tuple": lambda y, loss: Pair(loss, y), "dict": lambda y, loss: {"x": y},
    "object": lambda y, loss: Plain(loss, y), "slots": lambda y, loss: Slotted(y), "shorter": lambda y, loss: y[:, :-1],
    "last": lambda y, loss: y[:, [-1]], "flat": lambda y, loss: (y.view(-1, V), loss),
}  # fmt: skip


@pytest.fixture
def text():
    badak.manual_seed(0)
    ids = badak.randint(V, (4, T + 1))
    return ids[:, :-1], ids[:, 1:]


def found(report):
    return [finding.probe for finding in report.findings]


@pytest.mark.slow
@pytest.mark.parametrize("wrap", WRAPS)
def test_what_a_model_gives_is_judged_however_it_is_wrapped(wrap, text):
    sound, mixes, sees = (badak.audit(LM(wrap, **fault), text) for fault in ({}, {"leak": True}, {"causal": False}))
    assert sound.ok and {"future", "batch"} <= set(sound.sound), sound
    assert found(mixes) == ["batch"], mixes
    assert found(sees) == ["future"] and sees.kind == "causal", sees


@pytest.mark.slow
@pytest.mark.parametrize("kind", [LM, type("GPT", (LM,), {}), type("BertEncoder", (LM,), {})], ids=lambda kind: kind.__name__)
def test_the_name_of_a_class_says_nothing(kind, text):
    report = badak.audit(kind(causal=False), text[:1])
    assert (report.kind, report.open, report.ok, report.code) == ("unknown", ["future"], False, 3), report
    assert 'kind="causal" asks' in report.unasked["future"] and "nothing found" not in str(report)
    assert "nothing can be said yet: not asked are future leak" in str(report) and "nothing can be said yet" in report.to_html()
    assert found(badak.audit(kind(causal=False), text[:1], kind="causal")) == ["future"]
    assert badak.audit(kind(causal=False), text[:1], kind="bidirectional").ok


def test_padding_at_the_end_of_all_texts_hides_no_future():
    class Classifier(nn.Module):
        def __init__(self):
            super().__init__()
            self.tok, self.pos, self.head = nn.Embedding(V, 16, padding_idx=0), nn.Embedding(2 * T, 16), nn.Linear(16, 2)
            layer = nn.TransformerEncoderLayer(16, 2, 32, batch_first=True)
            self.encoder = nn.TransformerEncoder(layer, 1)

        def forward(self, ids):
            h = self.tok(ids) + self.pos.weight[: ids.shape[1]]
            return self.head(self.encoder(h, src_key_padding_mask=ids == 0)[:, 0])

    badak.manual_seed(0)
    ids = badak.randint(1, V, (4, 2 * T))
    ids[:, T:] = 0
    ids[::2, T - 3 :] = 0
    report = badak.audit(Classifier(), ids)
    assert report.kind == "bidirectional" and not report.findings, report


def test_a_loss_within_that_compares_with_the_next_token_says_that_a_model_is_causal(text):
    class Shifts(LM):
        def forward(self, ids, labels):
            y = self.logits(ids)
            return F.cross_entropy(y[:, :-1].reshape(-1, V), labels[:, 1:].reshape(-1)), y

    report = badak.audit(Shifts(causal=False), (text[0], text[0]))
    assert report.kind == "causal" and found(report) == ["future"], report


def test_a_mask_that_hides_nothing_says_what_was_meant(text):
    class Added(LM):
        def logits(self, ids):
            n = ids.shape[1]
            x = self.tok(ids) + self.pos.weight[:n]
            a = self.q(x) @ self.k(x).transpose(1, 2) / 4 + badak.ones(n, n).tril()
            return self.head(x + a.softmax(-1) @ self.v(x))

    report = badak.audit(Added(), text[:1])
    assert report.kind == "causal" and found(report) == ["future"], report


@pytest.mark.parametrize(
    ("labels", "yes"),
    [
        ("further", True),
        ("shorter", True),
        ("flat", True),
        ("ignored", True),
        ("filled", True),
        ("same", False),
        ("random", False),
        ("none", False),
    ],
)
def test_labels_are_the_text_one_further_or_not(labels, yes):
    rng = np.random.default_rng(0)
    whole = rng.integers(0, 9, (3, 8))
    text = whole[:, :-1]
    ignored = whole[:, 1:].copy()
    ignored[0, 2:] = -100
    filled = whole[:, 1:].copy()
    if labels == "filled":  # both, up to the longest row, after the labels were moved
        text[0, 4:], filled[0, 4:] = 0, 0
    given = {"further": whole[:, 1:], "filled": filled, "shorter": text[:, 1:], "flat": whole[:, 1:].ravel(), "ignored": ignored,
             "same": text, "random": rng.integers(0, 9, text.shape), "none": np.full(text.shape, -100)}[labels]  # fmt: skip
    assert one_further(given, text, 0) == yes and (given.ndim < 2 or one_further(given.T, text.T, 1) == yes)


def test_a_part_of_a_text_is_known_by_where_it_begins():
    text = np.arange(24).reshape(3, 8)
    shifted = np.concatenate([np.zeros((3, 1), int), text[:, :-1]], axis=1)
    assert [part_of(x, text, 0) for x in (text, text[:, :-1], text[:, 1:], shifted, text * 5 + 3)] == [
        0,
        0,
        1,
        -1,
        None,
    ]
    assert part_of(text.T[1:], text.T, 1) == 1


class Padded(LM):
    """Bidirectional, of padded texts; `hides`: no token sees padding."""

    def __init__(self, wrap, hides):
        super().__init__(wrap)
        self.tok, self.hides = nn.Embedding(V, 16, padding_idx=0), hides

    def logits(self, ids):
        x = self.tok(ids) + self.pos.weight[: ids.shape[1]]
        a = self.q(x) @ self.k(x).transpose(1, 2) / 4
        if self.hides:
            a = a.masked_fill((ids == 0)[:, None], -1e9)
        return self.head(x + a.softmax(-1) @ self.v(x))


@pytest.mark.parametrize("hides", [True, False])
@pytest.mark.parametrize("wrap", ["logits", "shorter"])
def test_padding_is_judged_where_a_model_answers_fewer_tokens_than_it_reads(wrap, hides):
    badak.manual_seed(0)
    ids = badak.randint(1, V, (4, T))
    ids[1, -4:] = 0
    ids[2, :3] = 0
    report = badak.audit(Padded(wrap, hides), ids, kind="bidirectional")
    assert found(report) == ["padding"] * (not hides), report
    assert hides == ("padding" in report.sound)


class Broken(LM):
    def logits(self, ids):
        return super().logits(ids) * float("nan")


def test_nan_is_the_first_finding_and_nothing_else_is_made_of_it(text):
    report = badak.audit(Broken(), text)
    assert found(report) == ["numbers"] and report.findings[0].code == "BADAK-315", report
    assert report.unasked["future"] == report.unasked["batch"] == "its outputs are NaN"
    assert not {"future", "batch", "order", "compiled"} & set(report.sound)


def test_nan_is_told_where_it_begins(text):
    class Layers(LM):
        def __init__(self):
            super().__init__()
            self.log = Log()

        def logits(self, ids):
            return self.log(super().logits(ids))

    class Log(nn.Module):
        def forward(self, x):
            return (x - 100).log()

    assert [(f.probe, f.module) for f in badak.audit(Layers(), text).findings] == [("numbers", "log")]


@pytest.mark.slow
def test_what_starts_at_zero_is_neither_dead_nor_a_hiding_place(text):
    class Adapted(LM):
        def __init__(self, leak=False):
            super().__init__(leak=False)
            self.A, self.B, self.gate = (
                nn.Linear(V, 4, bias=False),
                nn.Linear(4, V, bias=False),
                nn.Parameter(badak.zeros(1)),
            )
            nn.init.zeros_(self.B.weight)
            self.mixes = leak

        def logits(self, ids):
            y = super().logits(ids)
            return y + self.gate * y.tanh() + self.B(self.A(y.mean(0, keepdim=True) if self.mixes else y))

    sound = Adapted()
    report = badak.audit(sound, text)
    assert report.ok and any("zeros alone (2, e.g. gate" in note for note in report.notes), report
    assert not sound.B.weight.any() and not sound.gate.any()
    assert found(badak.audit(Adapted(leak=True), text)) == ["batch"]  # nobody would see it behind a zero


def test_a_branch_without_weight_has_a_gradient_of_zero_and_is_found(text):
    class Stacked(LM):
        def __init__(self):
            super().__init__()
            self.other = nn.Linear(V, V)

        def logits(self, ids):
            y = super().logits(ids)
            return badak.stack([y, self.other(y)])[0]

    report = badak.audit(Stacked(), text)
    assert [(each.probe, each.module) for each in report.findings] == [("gradients", "other")], report
    assert any("gradient of zero" in note and "other.weight" in note for note in report.notes), report


def test_warnings_of_the_forward_are_passed_on_also_when_they_were_said_before(text):
    class Warns(LM):
        def logits(self, ids):
            import warnings

            warnings.warn("scores are large", UserWarning, stacklevel=2)
            return super().logits(ids)

    for _ in range(2):
        report = badak.audit(Warns(), text)
        assert "note: the model warns: scores are large" in str(report)


def test_an_error_of_the_model_says_in_which_of_its_modules_it_came_up(text):
    class Fails(nn.Module):
        def forward(self, x):
            raise ValueError("no heads left")

    model = LM()
    model.head = Fails()
    with pytest.raises(badak.core.errors.ArgumentError, match="in head: ValueError: no heads left"):
        badak.audit(model, text)


def test_a_question_without_forwards_left_is_open_and_the_run_is_not_sound(text):
    report = badak.audit(LM(), text, forwards=1)
    assert not report.ok and report.code == 3 and report.open[:2] == ["batch", "future"], report


@pytest.mark.slow
def test_an_encoder_and_decoder_are_told_apart_by_who_asks_whom():
    class Two(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b, self.place = nn.Embedding(V, 16), nn.Embedding(V, 16), nn.Embedding(T, 16)
            self.net, self.o = nn.Transformer(16, 2, 1, 1, 32, batch_first=True), nn.Linear(16, V)

        def forward(self, answer, question):  # the answer comes first, under names that say nothing
            mask = nn.Transformer.generate_square_subsequent_mask(answer.shape[1])
            x, y = (table(i) + self.place.weight[: i.shape[1]] for table, i in ((self.a, question), (self.b, answer)))
            return self.o(self.net(x, y, tgt_mask=mask))

    badak.manual_seed(0)
    report = badak.audit(Two(), (badak.randint(V, (4, 9)), badak.randint(V, (4, 9))))
    assert (report.kind, report.why) == ("encoder-decoder", "it reads question and answers answer") and report.ok, report


def test_tensors_are_found_in_objects_of_any_class_and_not_in_modules():
    x = badak.ones(2)
    given = [x, (x, {"a": x}), SimpleNamespace(y=[x]), Plain(x, x), Slotted(x), nn.Linear(2, 2), "text", None, 3]
    assert len(list(tensors_in(given))) == 7


SCRIPT = """
import torch
from torch import nn
class {name}(nn.Module):
    def __init__(s):
        super().__init__(); s.tok = nn.Embedding(50, 32); s.pos = nn.Embedding(16, 32); s.head = nn.Linear(32, 50)
        s.enc = nn.TransformerEncoder(nn.TransformerEncoderLayer(32, 4, 64, batch_first=True), 2)
        for p in s.parameters():
            if p.dim() > 1: nn.init.xavier_uniform_(p)
    def forward(s, x): return s.head(s.enc(s.tok(x) + s.pos.weight[:x.shape[1]]))
m = {name}(); o = torch.optim.AdamW(m.parameters(), 1e-3); data = torch.randint(50, (1000,))
{first}
for _ in range(3):
    i = torch.randint(900, (8,)); x = torch.stack([data[j:j+16] for j in i]); y = torch.stack([data[j+1:j+17] for j in i])
    loss = {loss}; o.zero_grad(); loss.backward(); o.step(); raise SystemExit("a step was made")
"""
CROSS = "nn.functional.cross_entropy(m(x).flatten(0, 1), y.flatten())"


@pytest.mark.thin(3)
@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "first", "loss", "code", "word"),
    [
        ("CharModel", "", CROSS, 1, "future leak: enc.layers.0.self_attn"),
        ("GPT", "", CROSS, 1, "future leak: enc.layers.0.self_attn"),
        ("GPT", "", "m(x).pow(2).mean()", 3, "nothing can be said yet"),
        ("GPT", "m(data[None, :16]); raise SystemExit", CROSS, 3, 'kind="causal" asks'),
        ("Tagger", "", CROSS.replace("y.flatten()", "(x % 7).flatten()"), 0, "nothing found"),
    ],
)
def test_a_script_is_followed_to_its_loss_and_no_further(name, first, loss, code, word, tmp_path):
    (tmp_path / "train.py").write_text(SCRIPT.format(name=name, first=first, loss=loss))
    done = run("audit", "train.py", cwd=tmp_path)
    assert done.returncode == code and word in done.stdout, done.stdout + done.stderr
    assert "a step was made" not in done.stderr


class Prefixed(nn.Module):
    """As many numbers of a picture as there are rows, put before a text."""

    def __init__(self):
        super().__init__()
        self.words, self.picture, self.places = nn.Embedding(30, 16), nn.Linear(8, 16), nn.Embedding(16, 16)
        self.layer = nn.TransformerEncoderLayer(16, 2, 32, 0.0, batch_first=True)
        self.out = nn.Linear(16, 30)

    def forward(self, picture, ids):
        x = badak.cat([self.picture(picture).unsqueeze(1), self.words(ids)], 1)
        x = x + self.places(badak.arange(x.size(1)))
        hide = nn.Transformer.generate_square_subsequent_mask(x.size(1))
        return self.out(self.layer(x, src_mask=hide, is_causal=True))


def test_as_many_numbers_as_rows_are_no_mask():
    report = badak.audit(Prefixed(), (badak.randn(8, 8), badak.randint(30, (8, 10))))
    assert not report.findings, report


class Pinned(nn.Module):
    """A convolution over a text reads padding, whose vector is always 0 as what stands behind a shorter text."""

    def __init__(self, whole):
        super().__init__()
        self.words, self.conv, self.out = nn.Embedding(30, 16, padding_idx=0), nn.Conv1d(16, 16, 3, padding=1), nn.Linear(16, 4)
        self.whole = whole

    def forward(self, ids):
        x = self.words(ids)
        x = x + self.conv(x.transpose(1, 2)).transpose(1, 2).relu()
        keep = (ids != 0).float().unsqueeze(-1)
        return self.out(x.mean(1) if self.whole else (x * keep).sum(1) / keep.sum(1))


@pytest.mark.parametrize("whole", [False, True])
def test_vectors_of_zeros_are_no_padding_that_leaks(whole):
    ids = badak.randint(1, 30, (4, 9))
    ids[0, 6:] = ids[2, 5:] = 0
    found = [finding.probe for finding in badak.audit(Pinned(whole), ids).findings]
    assert found == ["padding"] * whole
