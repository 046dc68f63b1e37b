"""A decision transformer: returns, states and actions in turn, three tokens for each step, a mask for steps that are not there."""

import badak as torch
from badak import nn


class Attention(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.heads = heads
        self.q, self.k, self.v, self.proj = nn.Linear(d, d), nn.Linear(d, d), nn.Linear(d, d), nn.Linear(d, d)

    def forward(self, x, keep):
        b, n, d = x.shape
        q, k, v = (f(x).view(b, n, self.heads, -1).transpose(1, 2) for f in (self.q, self.k, self.v))
        causal = torch.tril(torch.ones(n, n)).bool()
        allowed = causal & keep[:, None, None, :]
        w = (q @ k.transpose(2, 3)) / (d // self.heads) ** 0.5
        w = torch.where(allowed, w, torch.full_like(w, -1e9)).softmax(dim=-1)
        return self.proj((w @ v).transpose(1, 2).reshape(b, n, d))


class Block(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.attention, self.ln1, self.ln2 = Attention(d, heads), nn.LayerNorm(d), nn.LayerNorm(d)
        self.mlp = nn.Sequential(nn.Linear(d, 4 * d), nn.GELU(), nn.Linear(4 * d, d), nn.Dropout(0.1))

    def forward(self, x, keep):
        x = self.ln1(x + self.attention(x, keep))
        return self.ln2(x + self.mlp(x))


class DecisionTransformer(nn.Module):
    def __init__(self, state_dim=6, act_dim=3, d=32, heads=4, depth=2, steps=20):
        super().__init__()
        self.embed_timestep = nn.Embedding(steps, d)
        self.embed_rtg, self.embed_state = nn.Linear(1, d), nn.Linear(state_dim, d)
        self.embed_action, self.embed_ln = nn.Linear(act_dim, d), nn.LayerNorm(d)
        self.blocks = nn.ModuleList([Block(d, heads) for _ in range(depth)])
        self.predict_action = nn.Sequential(nn.Linear(d, act_dim), nn.Tanh())

    def forward(self, rtg, states, actions, timesteps, mask):
        b, t, _ = states.shape
        time = self.embed_timestep(timesteps)
        h = torch.stack([self.embed_rtg(rtg) + time, self.embed_state(states) + time, self.embed_action(actions) + time], dim=1)
        h = self.embed_ln(h.permute(0, 2, 1, 3).reshape(b, 3 * t, -1))
        keep = torch.stack([mask, mask, mask], dim=1).permute(0, 2, 1).reshape(b, 3 * t)
        for block in self.blocks:
            h = block(h, keep)
        h = h.reshape(b, t, 3, -1).permute(0, 2, 1, 3)
        return self.predict_action(h[:, 1])


def build():
    b, t = 4, 7
    batch = {
        "rtg": torch.randn(b, t, 1), "states": torch.randn(b, t, 6), "actions": torch.randn(b, t, 3),
        "timesteps": torch.arange(t).expand(b, t).contiguous(), "mask": torch.ones(b, t, dtype=torch.bool),
    }  # fmt: skip
    return {"model": DecisionTransformer(), "batch": batch, "kind": "causal"}
