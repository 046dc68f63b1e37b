"""A language model without attention: a causal convolution, a diagonal state that decays by what it reads, a gate."""

import badak as torch
import badak.nn.functional as F
from badak import nn


class StateSpace(nn.Module):
    def __init__(self, width, state):
        super().__init__()
        self.in_proj = nn.Linear(width, 2 * width)
        self.conv = nn.Conv1d(width, width, 4, groups=width, padding=3)
        self.to_dt = nn.Linear(width, width)
        self.to_bc = nn.Linear(width, 2 * state)
        self.log_a = nn.Parameter(torch.log(torch.arange(1, state + 1).float()).repeat(width, 1))
        self.skip = nn.Parameter(torch.ones(width))
        self.out_proj = nn.Linear(width, width)

    def forward(self, u):
        b, t, _ = u.shape
        x, gate = self.in_proj(u).chunk(2, dim=-1)
        x = F.silu(self.conv(x.transpose(1, 2))[..., :t].transpose(1, 2))
        dt = F.softplus(self.to_dt(x))
        bt, ct = self.to_bc(x).chunk(2, dim=-1)
        decay = torch.exp(-dt.unsqueeze(-1) * self.log_a.exp())
        put = (dt * x).unsqueeze(-1) * bt.unsqueeze(2)
        state, ys = torch.zeros_like(put[:, 0]), []
        for i in range(t):
            state = decay[:, i] * state + put[:, i]
            ys.append((state * ct[:, i].unsqueeze(1)).sum(-1))
        y = torch.stack(ys, dim=1) + self.skip * x
        return self.out_proj(y * F.silu(gate))


class Layer(nn.Module):
    def __init__(self, width, state):
        super().__init__()
        self.norm, self.mixer = nn.LayerNorm(width), StateSpace(width, state)

    def forward(self, x):
        return x + self.mixer(self.norm(x))


class StateLM(nn.Module):
    def __init__(self, vocab=49, width=24, state=4, depth=3):
        super().__init__()
        self.embedding = nn.Embedding(vocab, width)
        self.layers = nn.ModuleList([Layer(width, state) for _ in range(depth)])
        self.norm_f = nn.LayerNorm(width)
        self.lm_head = nn.Linear(width, vocab, bias=False)

    def forward(self, input_ids, labels=None):
        x = self.embedding(input_ids)
        for layer in self.layers:
            x = layer(x)
        logits = self.lm_head(self.norm_f(x))
        if labels is None:
            return logits
        return F.cross_entropy(logits[:, :-1].flatten(0, 1), labels[:, 1:].flatten()), logits


def build():
    ids = torch.randint(49, (3, 12))
    return {"model": StateLM(), "batch": {"input_ids": ids, "labels": ids}}
