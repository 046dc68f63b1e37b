"""A cache that a model keeps in its own modules: a switch of its forward, a number that says where its text begins, generate()."""

import pytest

import badak
from badak import nn
from badak.nn import functional as F

V, C, LONGEST = 29, 16, 24


class Attention(nn.Module):
    """Keys and values are written into memory that was set aside."""

    def __init__(self, bug):
        super().__init__()
        self.q, self.k, self.v, self.bug = nn.Linear(C, C), nn.Linear(C, C), nn.Linear(C, C), bug
        self.keys, self.values = badak.zeros(4, LONGEST, C), badak.zeros(4, LONGEST, C)

    def forward(self, x, start):
        n, t, _ = x.shape
        at = 0 if self.bug == "keys at the beginning" else start
        self.keys[:n, at : at + t] = self.k(x)
        self.values[:n, start : start + t] = self.v(x)
        keys, values = self.keys[:n, : start + t], self.values[:n, : start + t]
        keep = badak.ones(t, start + t, dtype=badak.bool).tril(start)
        return F.scaled_dot_product_attention(*(y.unsqueeze(1) for y in (self.q(x), keys, values)), attn_mask=keep).squeeze(1)


class SetAside(nn.Module):
    def __init__(self, bug):
        super().__init__()
        self.table, self.places, self.head = nn.Embedding(V, C), nn.Embedding(LONGEST, C), nn.Linear(C, V)
        self.attention, self.bug = Attention(bug), bug

    def forward(self, tokens, start_pos=0):
        first = 0 if self.bug == "places from 0" else start_pos
        h = self.table(tokens) + self.places(badak.arange(first, first + tokens.shape[1]))
        return self.head(h + self.attention(h, start_pos))


class Writes(SetAside):
    def generate(self, tokens, max_gen_len):
        seen = 0
        for end in range(tokens.shape[1], tokens.shape[1] + max_gen_len):
            answer = self(tokens[:, seen:end], 0 if self.bug == "begins at 0 again" else seen)
            tokens, seen = badak.cat([tokens, answer[:, -1].argmax(-1, keepdim=True)], dim=1), end
        return tokens


class Recurrent(nn.Module):
    def __init__(self, bug):
        super().__init__()
        self.table, self.rnn, self.head, self.bug = nn.Embedding(V, C), nn.GRU(C, C, batch_first=True), nn.Linear(C, V), bug

    def forward(self, ids, hidden=None):
        y, hidden = self.rnn(self.table(ids), hidden)
        return self.head(y), hidden

    def generate(self, ids, length=20, temperature=0.7):
        answer, hidden = self(ids)
        for _ in range(length):
            new = badak.multinomial((answer[:, -1] / temperature).softmax(-1), 1)
            answer, after = self(new, hidden)
            hidden = hidden if self.bug == "state of the prompt" else after
            ids = badak.cat([ids, new], dim=1)
        return ids


class Switched(nn.Module):
    def __init__(self, bug):
        super().__init__()
        self.table, self.places, self.head = nn.Embedding(V, C), nn.Embedding(LONGEST, C), nn.Linear(C, V)
        self.q, self.k, self.v, self.past, self.bug = nn.Linear(C, C), nn.Linear(C, C), nn.Linear(C, C), None, bug

    def forward(self, x, use_kv_cache=False):
        n = self.past[0].shape[1] if use_kv_cache and self.past else 0
        first = 0 if self.bug == "places from 0" else n
        h = self.table(x) + self.places(badak.arange(first, first + x.shape[1]))
        q, k, v = self.q(h), self.k(h), self.v(h)
        if use_kv_cache:
            k, v = self.past = (badak.cat([self.past[0], k], 1), badak.cat([self.past[1], v], 1)) if self.past else (k, v)
        keep = badak.ones(x.shape[1], n + x.shape[1], dtype=badak.bool).tril(n)
        return self.head(h + F.scaled_dot_product_attention(*(y.unsqueeze(1) for y in (q, k, v)), attn_mask=keep).squeeze(1))


WAYS = [
    (SetAside, ["places from 0", "keys at the beginning"]),
    (Writes, ["places from 0", "keys at the beginning", "begins at 0 again"]),
    (Recurrent, ["state of the prompt"]),
    (Switched, ["places from 0"]),
]


@pytest.mark.parametrize(("make", "bug"), [(make, bug) for make, bugs in WAYS for bug in ["", *bugs]])
def test_what_a_model_remembers_itself_is_asked(make, bug):
    badak.manual_seed(0)
    model = make(bug)
    report = badak.audit(model, badak.randint(V, (4, 12)))
    assert {finding.probe for finding in report.findings} == ({"cache"} if bug else set()), report
    assert bug or "cache" in report.sound, report
    assert getattr(model, "past", None) is None  # as it was


def test_a_model_that_reads_all_again_writes_one_step_and_is_not_judged():
    class Reads(SetAside):
        def generate(self, ids, n=10**6):
            for _ in range(n):
                ids = badak.cat([ids, self(ids)[:, -1].argmax(-1, keepdim=True)], dim=1)

    badak.manual_seed(0)
    report = badak.audit(Reads(""), badak.randint(V, (4, 12)))
    assert report.ok and "cache" in report.sound, report  # start_pos tells of it then
