"""Where cars go next: the past of each agent, over time and then among the agents, lanes of the map that they ask, and six
learned modes that ask for each agent; agents and lanes that are not there are told by masks."""

import badak as torch
import badak.nn.functional as F
from badak import nn


class MLP(nn.Module):
    def __init__(self, *sizes):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(a, b) for a, b in zip(sizes, sizes[1:])])

    def forward(self, x):
        for layer in self.layers[:-1]:
            x = F.relu(layer(x))
        return self.layers[-1](x)


class AttentionBlock(nn.Module):
    def __init__(self, dim, heads, p=0.1, cross=False):
        super().__init__()
        self.attn = nn.MultiheadAttention(dim, heads, dropout=p, batch_first=True)
        self.norm_q, self.norm_ff = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.norm_kv = nn.LayerNorm(dim) if cross else None
        self.ff = nn.Sequential(nn.Linear(dim, 2 * dim), nn.GELU(), nn.Dropout(p), nn.Linear(2 * dim, dim))
        self.drop = nn.Dropout(p)

    def forward(self, x, context=None, missing=None):
        q = self.norm_q(x)
        kv = q if context is None else self.norm_kv(context)
        y, _ = self.attn(q, kv, kv, key_padding_mask=missing, need_weights=False)
        x = x + self.drop(y)
        return x + self.drop(self.ff(self.norm_ff(x)))


class SceneLayer(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.time, self.social, self.map = (
            AttentionBlock(dim, heads),
            AttentionBlock(dim, heads),
            AttentionBlock(dim, heads, cross=True),
        )

    def forward(self, x, lanes, agent_missing, lane_missing):
        B, A, T, C = x.shape
        x = self.time(x.reshape(B * A, T, C)).view(B, A, T, C)
        y = x.transpose(1, 2).reshape(B * T, A, C)
        y = self.social(y, missing=agent_missing.repeat_interleave(T, dim=0))
        x = y.view(B, T, A, C).transpose(1, 2)
        y = self.map(x.reshape(B, A * T, C), lanes, lane_missing)
        return y.view(B, A, T, C)


class MotionForecaster(nn.Module):
    def __init__(self, agent_dim=5, lane_dim=4, dim=32, heads=4, layers=2, modes=6, past=6, future=8):
        super().__init__()
        self.agent_in, self.lane_in = MLP(agent_dim, dim, dim), MLP(lane_dim, dim, dim)
        self.time_embed = nn.Parameter(torch.randn(past, dim) * 0.1)
        self.layers = nn.ModuleList([SceneLayer(dim, heads) for _ in range(layers)])
        self.mode_queries = nn.Parameter(torch.randn(modes, dim))
        self.decoder = AttentionBlock(dim, heads, cross=True)
        self.trajectory, self.score = MLP(dim, dim, 2 * future), MLP(dim, dim, 1)
        self.future = future

    def encode_lanes(self, lanes):
        return self.lane_in(lanes).max(dim=2).values

    def forward(self, agents, agent_mask, lanes, lane_mask):
        B, A, T, _ = agents.shape
        x = self.agent_in(agents) + self.time_embed
        m = self.encode_lanes(lanes)
        for layer in self.layers:
            x = layer(x, m, ~agent_mask, ~lane_mask)
        x = x.reshape(B * A, T, -1)
        q = self.mode_queries.expand(B * A, -1, -1)
        q = self.decoder(q, x)
        path = self.trajectory(q).view(B, A, -1, self.future, 2)
        path = path.cumsum(dim=3) + agents[:, :, -1, None, None, :2]
        return path, self.score(q).view(B, A, -1).softmax(dim=-1)


def build():
    agents, lanes = torch.randn(3, 4, 6, 5), torch.randn(3, 7, 5, 4)
    agent_mask, lane_mask = torch.ones(3, 4, dtype=torch.bool), torch.ones(3, 7, dtype=torch.bool)
    for row, (a, b) in enumerate(((4, 7), (3, 5), (2, 6))):
        agent_mask[row, a:], lane_mask[row, b:] = False, False
        agents[row, a:], lanes[row, b:] = 0, 0
    return {
        "model": MotionForecaster(),
        "batch": {"agents": agents, "agent_mask": agent_mask, "lanes": lanes, "lane_mask": lane_mask},
    }
