"""Tuning on dialogues: padding in front, places counted from the mask, labels of -100 for the question, grouped heads."""

import badak as torch
import badak.nn.functional as F
from badak import nn


class RoPE(nn.Module):
    def __init__(self, dim, base=10000.0):
        super().__init__()
        self.register_buffer("inv_freq", 1.0 / base ** (torch.arange(0, dim, 2).float() / dim), persistent=False)

    def forward(self, x, position_ids):
        angles = position_ids[:, None, :, None].float() * self.inv_freq
        cos, sin = angles.cos(), angles.sin()
        a, b = x[..., 0::2], x[..., 1::2]
        return torch.stack((a * cos - b * sin, a * sin + b * cos), dim=-1).flatten(-2)


class Attention(nn.Module):
    def __init__(self, dim, n_q, n_kv):
        super().__init__()
        self.n_q, self.n_kv, self.head = n_q, n_kv, dim // n_q
        self.wq = nn.Linear(dim, n_q * self.head, bias=False)
        self.wkv = nn.Linear(dim, 2 * n_kv * self.head, bias=False)
        self.wo = nn.Linear(dim, dim, bias=False)
        self.rope = RoPE(self.head)

    def forward(self, x, mask, position_ids):
        b, t, _ = x.shape
        q = self.wq(x).view(b, t, self.n_q, self.head).transpose(1, 2)
        k, v = self.wkv(x).view(b, t, 2, self.n_kv, self.head).permute(2, 0, 3, 1, 4)
        q, k = self.rope(q, position_ids), self.rope(k, position_ids)
        rep = self.n_q // self.n_kv
        k, v = k.repeat_interleave(rep, dim=1), v.repeat_interleave(rep, dim=1)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        return self.wo(y.transpose(1, 2).reshape(b, t, -1))


class DecoderLayer(nn.Module):
    def __init__(self, dim, n_q, n_kv):
        super().__init__()
        self.attn_norm, self.ffn_norm = nn.RMSNorm(dim), nn.RMSNorm(dim)
        self.attn = Attention(dim, n_q, n_kv)
        self.gate_up, self.down = nn.Linear(dim, 4 * dim, bias=False), nn.Linear(2 * dim, dim, bias=False)

    def forward(self, x, mask, position_ids):
        x = x + self.attn(self.attn_norm(x), mask, position_ids)
        gate, up = self.gate_up(self.ffn_norm(x)).chunk(2, dim=-1)
        return x + self.down(F.silu(gate) * up)


class ChatModel(nn.Module):
    def __init__(self, vocab=70, dim=48, n_q=6, n_kv=2, depth=2):
        super().__init__()
        self.embed_tokens = nn.Embedding(vocab, dim)
        self.layers = nn.ModuleList(DecoderLayer(dim, n_q, n_kv) for _ in range(depth))
        self.norm = nn.RMSNorm(dim)
        self.lm_head = nn.Linear(dim, vocab, bias=False)
        self.lm_head.weight = self.embed_tokens.weight
        nn.init.normal_(self.embed_tokens.weight, std=0.1)

    def forward(self, input_ids, attention_mask, labels=None):
        t = input_ids.shape[1]
        position_ids = (attention_mask.long().cumsum(-1) - 1).clamp(min=0)
        causal = torch.ones(t, t, dtype=torch.bool).tril()
        mask = causal[None, None] & attention_mask[:, None, None, :].bool()
        mask = mask | torch.eye(t, dtype=torch.bool)
        h = self.embed_tokens(input_ids)
        for layer in self.layers:
            h = layer(h, mask, position_ids)
        logits = self.lm_head(self.norm(h))
        if labels is None:
            return logits
        loss = F.cross_entropy(logits[:, :-1].flatten(0, 1), labels[:, 1:].flatten(), ignore_index=-100)
        return loss, logits


def build():
    ids = torch.randint(3, 70, (4, 16))
    mask = torch.ones(4, 16, dtype=torch.long)
    mask[1, :5], mask[3, :3] = 0, 0
    ids = ids * mask
    labels = ids.masked_fill(mask == 0, -100)
    labels[:, :8] = -100
    return {"model": ChatModel(), "batch": {"input_ids": ids, "attention_mask": mask, "labels": labels}}
