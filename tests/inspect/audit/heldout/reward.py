"""A reward model: a causal decoder whose last real token is read by a head of one number; pairs of a chosen and a refused text."""

import badak as torch
import badak.nn.functional as F
from badak import nn


class Attention(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.h = heads
        self.to_qkv, self.to_out = nn.Linear(d, 3 * d, bias=False), nn.Linear(d, d)

    def forward(self, x):
        b, n, d = x.shape
        q, k, v = (y.reshape(b, n, self.h, d // self.h).transpose(1, 2) for y in self.to_qkv(x).chunk(3, dim=-1))
        out = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.to_out(out.transpose(1, 2).reshape(b, n, d))


class Decoder(nn.Module):
    def __init__(self, vocab, d, heads, depth, longest):
        super().__init__()
        self.token_emb, self.pos_emb = nn.Embedding(vocab, d), nn.Embedding(longest, d)
        self.layers = nn.ModuleList([])
        for _ in range(depth):
            ff = nn.Sequential(nn.LayerNorm(d), nn.Linear(d, 4 * d), nn.GELU(), nn.Linear(4 * d, d))
            self.layers.append(nn.ModuleList([nn.LayerNorm(d), Attention(d, heads), ff]))
        self.norm = nn.LayerNorm(d)

    def forward(self, ids):
        x = self.token_emb(ids) + self.pos_emb.weight[: ids.shape[1]]
        for norm, attn, ff in self.layers:
            x = attn(norm(x)) + x
            x = ff(x) + x
        return self.norm(x)


class RewardModel(nn.Module):
    def __init__(self, vocab=52, d=32, heads=4, depth=2, pad_id=0):
        super().__init__()
        self.backbone, self.score, self.pad_id = Decoder(vocab, d, heads, depth, 32), nn.Linear(d, 1, bias=False), pad_id

    def reward(self, ids):
        hidden = self.backbone(ids)
        last = (ids != self.pad_id).sum(dim=1) - 1
        return self.score(hidden[torch.arange(len(ids)), last]).squeeze(-1)

    def forward(self, chosen, rejected):
        good, bad = self.reward(chosen), self.reward(rejected)
        return {"loss": -F.logsigmoid(good - bad).mean(), "chosen": good, "rejected": bad}


def build():
    chosen, rejected = torch.randint(1, 52, (4, 13)), torch.randint(1, 52, (4, 13))
    chosen[1, 9:], chosen[3, 11:], rejected[0, 8:], rejected[1, 10:] = 0, 0, 0, 0
    return {"model": RewardModel(), "batch": {"chosen": chosen, "rejected": rejected}, "kind": "causal"}
