"""gMLP: letters without attention; a table of weights over the places, a triangle of it, gates the channels."""

import badak as torch
from badak import nn
from badak.nn import functional as F


class CausalSGU(nn.Module):
    def __init__(self, dim, dim_seq, heads=2):
        super().__init__()
        self.heads = heads
        self.norm = nn.LayerNorm(dim // 2)
        self.weight = nn.Parameter(torch.empty(heads, dim_seq, dim_seq).uniform_(-0.2, 0.2))
        self.bias = nn.Parameter(torch.ones(heads, dim_seq))

    def forward(self, x):
        n = x.shape[1]
        res, gate = x.chunk(2, dim=-1)
        gate = self.norm(gate)
        weight, bias = self.weight[:, :n, :n], self.bias[:, :n]
        weight = weight * torch.ones(n, n).tril()
        gate = gate.unflatten(-1, (self.heads, -1))
        gate = torch.einsum("bnhd,hmn->bmhd", gate, weight) + bias.t()[None, :, :, None]
        return gate.flatten(2) * res


class gMLPBlock(nn.Module):
    def __init__(self, dim, dim_ff, seq_len):
        super().__init__()
        self.norm = nn.LayerNorm(dim)
        self.proj_in = nn.Linear(dim, dim_ff)
        self.sgu = CausalSGU(dim_ff, seq_len)
        self.proj_out = nn.Linear(dim_ff // 2, dim)

    def forward(self, x):
        h = F.gelu(self.proj_in(self.norm(x)))
        h = self.sgu(h)
        return x + self.proj_out(h)


class gMLP(nn.Module):
    def __init__(self, num_tokens=44, dim=32, depth=3, seq_len=24):
        super().__init__()
        self.to_embed = nn.Embedding(num_tokens, dim)
        self.layers = nn.ModuleList([gMLPBlock(dim, 64, seq_len) for _ in range(depth)])
        self.to_logits = nn.Sequential(nn.LayerNorm(dim), nn.Linear(dim, num_tokens))

    def forward(self, letters):
        x = self.to_embed(letters)
        for layer in self.layers:
            x = layer(x)
        return self.to_logits(x)


def build():
    letters = torch.randint(44, (5, 16))
    loss = lambda y: F.cross_entropy(y[:, :-1].transpose(1, 2), letters[:, 1:])
    return {"model": gMLP(), "batch": (letters,), "loss": loss}
