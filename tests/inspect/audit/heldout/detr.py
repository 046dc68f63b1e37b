"""Boxes in pictures, after DETR: a stem, an encoder with places added to queries and keys only, learned queries, two heads."""

import badak as torch
import badak.nn.functional as F
from badak import nn


class EncoderLayer(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.self_attn = nn.MultiheadAttention(d, heads, dropout=0.1, batch_first=True)
        self.linear1, self.linear2 = nn.Linear(d, 2 * d), nn.Linear(2 * d, d)
        self.norm1, self.norm2, self.dropout = nn.LayerNorm(d), nn.LayerNorm(d), nn.Dropout(0.1)

    def forward(self, src, pos):
        q = k = src + pos
        src = self.norm1(src + self.dropout(self.self_attn(q, k, src, need_weights=False)[0]))
        return self.norm2(src + self.dropout(self.linear2(F.relu(self.linear1(src)))))


class DecoderLayer(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.self_attn = nn.MultiheadAttention(d, heads, dropout=0.1, batch_first=True)
        self.multihead_attn = nn.MultiheadAttention(d, heads, dropout=0.1, batch_first=True)
        self.linear1, self.linear2 = nn.Linear(d, 2 * d), nn.Linear(2 * d, d)
        self.norm1, self.norm2, self.norm3 = nn.LayerNorm(d), nn.LayerNorm(d), nn.LayerNorm(d)
        self.dropout = nn.Dropout(0.1)

    def forward(self, tgt, memory, pos, query_pos):
        q = k = tgt + query_pos
        tgt = self.norm1(tgt + self.dropout(self.self_attn(q, k, tgt, need_weights=False)[0]))
        crossed = self.multihead_attn(tgt + query_pos, memory + pos, memory, need_weights=False)[0]
        tgt = self.norm2(tgt + self.dropout(crossed))
        return self.norm3(tgt + self.dropout(self.linear2(F.relu(self.linear1(tgt)))))


class DETR(nn.Module):
    def __init__(self, d=32, heads=4, classes=6, queries=5):
        super().__init__()
        self.backbone = nn.Sequential(nn.Conv2d(3, 16, 3, 2, 1), nn.ReLU(), nn.Conv2d(16, 24, 3, 2, 1), nn.ReLU())
        self.input_proj = nn.Conv2d(24, d, 1)
        self.row_embed, self.col_embed = nn.Parameter(torch.rand(10, d // 2)), nn.Parameter(torch.rand(10, d // 2))
        self.query_embed = nn.Embedding(queries, d)
        self.encoder = nn.ModuleList([EncoderLayer(d, heads) for _ in range(2)])
        self.decoder = nn.ModuleList([DecoderLayer(d, heads) for _ in range(2)])
        self.class_embed = nn.Linear(d, classes + 1)
        self.bbox_embed = nn.Sequential(nn.Linear(d, d), nn.ReLU(), nn.Linear(d, 4))

    def forward(self, images):
        h = self.input_proj(self.backbone(images))
        n, _, height, width = h.shape
        pos = torch.cat(
            [
                self.col_embed[:width].unsqueeze(0).repeat(height, 1, 1),
                self.row_embed[:height].unsqueeze(1).repeat(1, width, 1),
            ],
            dim=-1,
        ).flatten(0, 1)
        src = h.flatten(2).transpose(1, 2)
        for layer in self.encoder:
            src = layer(src, pos)
        query_pos = self.query_embed.weight.unsqueeze(0).expand(n, -1, -1)
        tgt = torch.zeros_like(query_pos)
        for layer in self.decoder:
            tgt = layer(tgt, src, pos, query_pos)
        return {"pred_logits": self.class_embed(tgt), "pred_boxes": self.bbox_embed(tgt).sigmoid()}


def build():
    return {"model": DETR(), "batch": (torch.randn(3, 3, 24, 24),)}
