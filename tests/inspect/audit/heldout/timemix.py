"""Time mixing and channel mixing with a decaying state, token shift, a state that can be handed on; logits and state come back."""

import badak as torch
from badak import nn


class TimeMix(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.mix_k, self.mix_v, self.mix_r = (nn.Parameter(torch.full((d,), 0.5)) for _ in range(3))
        self.decay = nn.Parameter(torch.linspace(-3, 1, d))
        self.bonus = nn.Parameter(torch.ones(d) * 0.3)
        self.key, self.value = nn.Linear(d, d, bias=False), nn.Linear(d, d, bias=False)
        self.receptance, self.output = nn.Linear(d, d, bias=False), nn.Linear(d, d, bias=False)

    def forward(self, x, state):
        last, num, den = state
        before = torch.cat([last[:, None], x[:, :-1]], dim=1)
        k = self.key(x * self.mix_k + before * (1 - self.mix_k))
        v = self.value(x * self.mix_v + before * (1 - self.mix_v))
        r = torch.sigmoid(self.receptance(x * self.mix_r + before * (1 - self.mix_r)))
        fade = torch.exp(-torch.exp(self.decay))
        out = []
        for t in range(x.shape[1]):
            e = k[:, t].exp()
            now = (self.bonus + k[:, t]).exp()
            out.append((num + now * v[:, t]) / (den + now))
            num = fade * num + e * v[:, t]
            den = fade * den + e
        return self.output(r * torch.stack(out, dim=1)), (x[:, -1], num, den)


class ChannelMix(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.mix_k, self.mix_r = nn.Parameter(torch.full((d,), 0.5)), nn.Parameter(torch.full((d,), 0.5))
        self.key, self.value = nn.Linear(d, 3 * d, bias=False), nn.Linear(3 * d, d, bias=False)
        self.receptance = nn.Linear(d, d, bias=False)

    def forward(self, x, last):
        before = torch.cat([last[:, None], x[:, :-1]], dim=1)
        k = self.key(x * self.mix_k + before * (1 - self.mix_k)).relu().square()
        r = torch.sigmoid(self.receptance(x * self.mix_r + before * (1 - self.mix_r)))
        return r * self.value(k), x[:, -1]


class Block(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.ln1, self.ln2 = nn.LayerNorm(d), nn.LayerNorm(d)
        self.att, self.ffn = TimeMix(d), ChannelMix(d)

    def forward(self, x, state):
        mixed, att_state = self.att(self.ln1(x), state[:3])
        x = x + mixed
        fed, last = self.ffn(self.ln2(x), state[3])
        return x + fed, (*att_state, last)


class Recurrent(nn.Module):
    def __init__(self, vocab=61, d=32, depth=2):
        super().__init__()
        self.d = d
        self.emb, self.ln0 = nn.Embedding(vocab, d), nn.LayerNorm(d)
        self.blocks = nn.ModuleList([Block(d) for _ in range(depth)])
        self.ln_out, self.head = nn.LayerNorm(d), nn.Linear(d, vocab, bias=False)

    def forward(self, idx, states=None):
        if states is None:
            zero = torch.zeros(idx.shape[0], self.d)
            states = [(zero, zero, zero, zero) for _ in self.blocks]
        x = self.ln0(self.emb(idx))
        new = []
        for block, state in zip(self.blocks, states):
            x, state = block(x, state)
            new.append(state)
        return self.head(self.ln_out(x)), new


def build():
    return {"model": Recurrent(), "batch": {"idx": torch.randint(61, (4, 11))}}
