"""A recurrent model of gates that look at the token alone, computed by a loop, with a convolution before it."""

import badak as torch
from badak import nn


class Gated(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.gate, self.new, self.out = nn.Linear(d, d), nn.Linear(d, d), nn.Linear(d, d)

    def forward(self, x, h):
        keep, new = torch.sigmoid(self.gate(x)), torch.tanh(self.new(x))
        states = []
        for t in range(x.size(1)):
            h = (1 - keep[:, t]) * h + keep[:, t] * new[:, t]
            states.append(h)
        return self.out(torch.stack(states, dim=1)), h


class Block(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.norm1, self.norm2, self.norm3 = nn.LayerNorm(d), nn.LayerNorm(d), nn.LayerNorm(d)
        self.conv = nn.Conv1d(d, d, 3, groups=d)
        self.rec = Gated(d)
        self.mlp = nn.Sequential(nn.Linear(d, 2 * d), nn.GELU(), nn.Linear(2 * d, d))

    def forward(self, x, h):
        y = nn.functional.pad(self.norm1(x).transpose(1, 2), (2, 0))
        x = x + self.conv(y).transpose(1, 2)
        y, h = self.rec(self.norm2(x), h)
        x = x + y
        return x + self.mlp(self.norm3(x)), h


class Letters(nn.Module):
    def __init__(self, vocab=66, d=32, depth=2):
        super().__init__()
        self.d = d
        self.table = nn.Embedding(vocab, d)
        self.blocks = nn.ModuleList([Block(d) for _ in range(depth)])
        self.norm, self.head = nn.LayerNorm(d), nn.Linear(d, vocab)

    def forward(self, text, state=None):
        state = state if state is not None else [torch.zeros(text.size(0), self.d) for _ in self.blocks]
        x, new = self.table(text), []
        for block, h in zip(self.blocks, state):
            x, h = block(x, h)
            new.append(h)
        return self.head(self.norm(x))


def build():
    text = torch.randint(66, (4, 12))
    return {
        "model": Letters(),
        "batch": {"text": text},
        "loss": lambda y: nn.functional.cross_entropy(y[:, :-1].flatten(0, 1), text[:, 1:].flatten()),
    }
