"""T5 with buckets of distances, labels moved right inside, the loss only."""

import math

import badak as torch
import badak.nn.functional as F
from badak import nn

D, H, V, PAD = 32, 4, 40, 0


class T5LayerNorm(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(D))

    def forward(self, x):
        return self.weight * (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6))


def bucket(relative, bidirectional, buckets=16, far=32):
    out = 0
    n = -relative
    if bidirectional:
        buckets //= 2
        out = (n < 0).long() * buckets
        n = n.abs()
    else:
        n = n.clamp(min=0)
    exact = buckets // 2
    large = exact + (torch.log(n.float().clamp(min=1) / exact) / math.log(far / exact) * (buckets - exact)).long()
    return out + torch.where(n < exact, n, large.clamp(max=buckets - 1))


class T5Attention(nn.Module):
    def __init__(self, has_bias, bidirectional=True):
        super().__init__()
        self.q, self.k, self.v, self.o = (nn.Linear(D, D, bias=False) for _ in range(4))
        self.bidirectional = bidirectional
        self.relative_attention_bias = nn.Embedding(16, H) if has_bias else None

    def compute_bias(self, t, s):
        relative = torch.arange(s)[None, :] - torch.arange(t)[:, None]
        return self.relative_attention_bias(bucket(relative, self.bidirectional)).permute(2, 0, 1).unsqueeze(0)

    def forward(self, x, kv=None, mask=None, bias=None):
        kv = x if kv is None else kv
        b, t, s = x.shape[0], x.shape[1], kv.shape[1]
        q, k, v = (f(z).view(b, -1, H, D // H).transpose(1, 2) for f, z in ((self.q, x), (self.k, kv), (self.v, kv)))
        scores = q @ k.transpose(3, 2)
        if bias is None:
            bias = torch.zeros(1, H, t, s) if self.relative_attention_bias is None else self.compute_bias(t, s)
            if mask is not None:
                bias = bias + mask
        weights = F.softmax((scores + bias).float(), dim=-1)
        return self.o((weights @ v).transpose(1, 2).contiguous().view(b, t, D)), bias


class T5Block(nn.Module):
    def __init__(self, decoder, has_bias):
        super().__init__()
        self.self_attention, self.norm1 = T5Attention(has_bias, not decoder), T5LayerNorm()
        self.cross_attention, self.norm2 = (T5Attention(False), T5LayerNorm()) if decoder else (None, None)
        self.wi, self.wo, self.norm3, self.dropout = nn.Linear(D, 64), nn.Linear(64, D), T5LayerNorm(), nn.Dropout(0.1)

    def forward(self, x, mask, bias, memory=None, memory_mask=None):
        y, bias = self.self_attention(self.norm1(x), mask=mask, bias=bias)
        x = x + self.dropout(y)
        if self.cross_attention is not None:
            y, _ = self.cross_attention(self.norm2(x), kv=memory, mask=memory_mask)
            x = x + self.dropout(y)
        return x + self.dropout(self.wo(F.relu(self.wi(self.norm3(x))))), bias


class T5Stack(nn.Module):
    def __init__(self, shared, decoder):
        super().__init__()
        self.embed_tokens, self.decoder = shared, decoder
        self.block = nn.ModuleList([T5Block(decoder, i == 0) for i in range(2)])
        self.final_layer_norm = T5LayerNorm()

    def forward(self, ids, mask, memory=None, memory_mask=None):
        x, bias = self.embed_tokens(ids), None
        for block in self.block:
            x, bias = block(x, mask, bias, memory, memory_mask)
        return self.final_layer_norm(x)


class T5(nn.Module):
    def __init__(self):
        super().__init__()
        self.shared = nn.Embedding(V, D)
        self.encoder, self.decoder = T5Stack(self.shared, False), T5Stack(self.shared, True)
        self.lm_head = nn.Linear(D, V, bias=False)

    def _shift_right(self, labels):
        moved = labels.new_zeros(labels.shape)
        moved[:, 1:] = labels[:, :-1].clone()
        moved[:, 0] = PAD
        return moved.masked_fill(moved == -100, PAD)

    def forward(self, input_ids, labels):
        decoder_input_ids = self._shift_right(labels)
        source = torch.where(input_ids == PAD, -1e9, 0.0)[:, None, None, :]
        t = labels.shape[1]
        causal = torch.full((t, t), -1e9).triu(1)[None, None]
        memory = self.encoder(input_ids, source)
        h = self.decoder(decoder_input_ids, causal, memory, source)
        logits = self.lm_head(h * D**-0.5)
        return F.cross_entropy(logits.view(-1, V), labels.view(-1), ignore_index=-100)


def build():
    src, tgt = torch.randint(2, V, (4, 12)), torch.randint(2, V, (4, 9))
    src[1, 8:], src[3, 10:] = PAD, PAD
    return {"model": T5(), "batch": {"input_ids": src, "labels": tgt}}
