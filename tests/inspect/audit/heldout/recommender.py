"""The next item of a session, after SASRec: padding in front, one score for each pair of items, the loss only."""

import badak as torch
import badak.nn.functional as F
from badak import nn


class PointWiseFeedForward(nn.Module):
    def __init__(self, hidden, p):
        super().__init__()
        self.conv1, self.drop1 = nn.Conv1d(hidden, hidden, kernel_size=1), nn.Dropout(p)
        self.conv2, self.drop2 = nn.Conv1d(hidden, hidden, kernel_size=1), nn.Dropout(p)

    def forward(self, inputs):
        y = self.drop2(self.conv2(F.relu(self.drop1(self.conv1(inputs.transpose(-1, -2))))))
        return y.transpose(-1, -2) + inputs


class SASRec(nn.Module):
    def __init__(self, items=60, hidden=32, maxlen=14, blocks=2, heads=2, p=0.2):
        super().__init__()
        self.item_emb = nn.Embedding(items + 1, hidden, padding_idx=0)
        self.pos_emb = nn.Embedding(maxlen + 1, hidden, padding_idx=0)
        self.emb_dropout = nn.Dropout(p)
        self.attention_layernorms, self.attention_layers = nn.ModuleList(), nn.ModuleList()
        self.forward_layernorms, self.forward_layers = nn.ModuleList(), nn.ModuleList()
        self.last_layernorm = nn.LayerNorm(hidden)
        for _ in range(blocks):
            self.attention_layernorms.append(nn.LayerNorm(hidden))
            self.attention_layers.append(nn.MultiheadAttention(hidden, heads, p, batch_first=True))
            self.forward_layernorms.append(nn.LayerNorm(hidden))
            self.forward_layers.append(PointWiseFeedForward(hidden, p))

    def log2feats(self, seqs):
        x = self.item_emb(seqs) * self.item_emb.embedding_dim**0.5
        poss = torch.arange(1, seqs.shape[1] + 1).expand(seqs.shape[0], -1) * (seqs != 0)
        x = self.emb_dropout(x + self.pos_emb(poss))
        t = x.shape[1]
        mask = ~torch.tril(torch.ones((t, t), dtype=torch.bool)) | (seqs == 0)[:, None, :]
        mask = (mask & ~torch.eye(t, dtype=torch.bool)).repeat_interleave(self.attention_layers[0].num_heads, dim=0)
        for norm, attend, norm2, ff in zip(
            self.attention_layernorms, self.attention_layers, self.forward_layernorms, self.forward_layers
        ):
            q = norm(x)
            y, _ = attend(q, q, q, attn_mask=mask)
            x = x + y
            x = ff(norm2(x))
        return self.last_layernorm(x)

    def forward(self, log_seqs, pos_seqs, neg_seqs):
        feats = self.log2feats(log_seqs)
        pos = (feats * self.item_emb(pos_seqs)).sum(dim=-1)
        neg = (feats * self.item_emb(neg_seqs)).sum(dim=-1)
        real = pos_seqs != 0
        return -(F.logsigmoid(pos[real]) + F.logsigmoid(-neg[real])).mean()


def build():
    x = torch.randint(1, 61, (5, 15))
    x[1, :6], x[2, :3], x[4, :9] = 0, 0, 0
    seqs, pos = x[:, :-1].contiguous(), x[:, 1:].contiguous()
    pos = pos * (seqs != 0)
    neg = torch.randint(1, 61, (5, 14)) * (pos != 0)
    return {"model": SASRec(), "batch": (seqs, pos, neg), "kind": "causal"}
