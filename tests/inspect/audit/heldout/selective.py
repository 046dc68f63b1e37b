"""A language model of selective state spaces after Mamba: a short causal convolution, a scan step by step, a gate; no attention."""

import badak as torch
import badak.nn.functional as F
from badak import nn


class SelectiveSSM(nn.Module):
    def __init__(self, d, state=4, expand=2, kernel=3):
        super().__init__()
        self.inner, self.state, self.kernel = expand * d, state, kernel
        self.in_proj = nn.Linear(d, 2 * self.inner, bias=False)
        self.conv1d = nn.Conv1d(self.inner, self.inner, kernel, groups=self.inner, padding=kernel - 1)
        self.x_proj = nn.Linear(self.inner, 2 * state + 1, bias=False)
        self.dt_proj = nn.Linear(1, self.inner)
        self.A_log = nn.Parameter(torch.log(torch.arange(1, state + 1).float()).repeat(self.inner, 1))
        self.D = nn.Parameter(torch.ones(self.inner))
        self.out_proj = nn.Linear(self.inner, d, bias=False)

    def forward(self, x):
        b, t, _ = x.shape
        x, z = self.in_proj(x).chunk(2, dim=-1)
        x = self.conv1d(x.transpose(1, 2))[:, :, :t].transpose(1, 2)
        x = F.silu(x)
        delta, B, C = self.x_proj(x).split([1, self.state, self.state], dim=-1)
        delta = F.softplus(self.dt_proj(delta))
        A = -torch.exp(self.A_log)
        dA = torch.exp(delta.unsqueeze(-1) * A)
        dBx = delta.unsqueeze(-1) * B.unsqueeze(2) * x.unsqueeze(-1)
        h = torch.zeros(b, self.inner, self.state)
        ys = []
        for i in range(t):
            h = dA[:, i] * h + dBx[:, i]
            ys.append((h * C[:, i].unsqueeze(1)).sum(-1))
        y = torch.stack(ys, dim=1) + x * self.D
        return self.out_proj(y * F.silu(z))


class ResidualBlock(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.norm, self.mixer = nn.RMSNorm(d), SelectiveSSM(d)

    def forward(self, x):
        return self.mixer(self.norm(x)) + x


class Mamba(nn.Module):
    def __init__(self, vocab=58, d=24, depth=3):
        super().__init__()
        self.embedding = nn.Embedding(vocab, d)
        self.layers = nn.ModuleList([ResidualBlock(d) for _ in range(depth)])
        self.norm_f, self.lm_head = nn.RMSNorm(d), nn.Linear(d, vocab, bias=False)

    def forward(self, input_ids, labels=None):
        x = self.embedding(input_ids)
        for layer in self.layers:
            x = layer(x)
        logits = self.lm_head(self.norm_f(x))
        loss = None
        if labels is not None:
            loss = F.cross_entropy(logits[:, :-1].reshape(-1, logits.shape[-1]), labels[:, 1:].reshape(-1))
        return {"loss": loss, "logits": logits}


def build():
    ids = torch.randint(58, (4, 12))
    return {"model": Mamba(), "batch": {"input_ids": ids, "labels": ids.clone()}}
