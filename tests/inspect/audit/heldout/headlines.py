"""Headlines by a small T5: one table, biases of distances in the first layer of each stack, scores not divided, labels moved by _shift_right."""

import math

import badak as torch
from badak import nn
from badak.nn import functional as F

PAD, EOS, START = 0, 1, 0


class T5LayerNorm(nn.Module):
    def __init__(self, d, eps=1e-6):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(d))
        self.eps = eps

    def forward(self, x):
        return self.weight * x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps)


class T5Attention(nn.Module):
    def __init__(self, d_model, n_heads, d_kv, is_decoder, has_bias, buckets=8, max_distance=20):
        super().__init__()
        self.n_heads, self.d_kv, self.is_decoder = n_heads, d_kv, is_decoder
        self.buckets, self.max_distance = buckets, max_distance
        inner = n_heads * d_kv
        self.q = nn.Linear(d_model, inner, bias=False)
        self.k = nn.Linear(d_model, inner, bias=False)
        self.v = nn.Linear(d_model, inner, bias=False)
        self.o = nn.Linear(inner, d_model, bias=False)
        if has_bias:
            self.relative_attention_bias = nn.Embedding(buckets, n_heads)
        # scores are not divided: the queries start that much smaller
        nn.init.normal_(self.q.weight, std=(d_model * d_kv) ** -0.5)
        nn.init.normal_(self.k.weight, std=d_model**-0.5)

    def bucket(self, relative):
        buckets, out = self.buckets, 0
        if not self.is_decoder:
            buckets //= 2
            out = (relative > 0).long() * buckets
            relative = relative.abs()
        else:
            relative = -torch.min(relative, torch.zeros_like(relative))
        exact = buckets // 2
        large = (
            exact
            + (torch.log(relative.float().clamp(min=1) / exact) / math.log(self.max_distance / exact) * (buckets - exact)).long()
        )
        large = large.clamp(max=buckets - 1)
        return out + torch.where(relative < exact, relative, large)

    def compute_bias(self, t, s):
        context = torch.arange(t)[:, None]
        memory = torch.arange(s)[None, :]
        values = self.relative_attention_bias(self.bucket(memory - context))
        return values.permute(2, 0, 1).unsqueeze(0)

    def forward(self, x, mask, memory=None, bias=None):
        b, t, _ = x.shape
        source = x if memory is None else memory
        shape = lambda y: y.view(b, -1, self.n_heads, self.d_kv).transpose(1, 2)
        q, k, v = shape(self.q(x)), shape(self.k(source)), shape(self.v(source))
        scores = torch.matmul(q, k.transpose(3, 2))
        if bias is not None:
            scores = scores + bias
        scores = scores + mask
        weights = F.softmax(scores.float(), dim=-1).type_as(scores)
        y = torch.matmul(weights, v).transpose(1, 2).contiguous().view(b, t, -1)
        return self.o(y)


class T5FF(nn.Module):
    def __init__(self, d_model, d_ff, p):
        super().__init__()
        self.wi = nn.Linear(d_model, d_ff, bias=False)
        self.wo = nn.Linear(d_ff, d_model, bias=False)
        self.dropout = nn.Dropout(p)

    def forward(self, x):
        return self.wo(self.dropout(F.relu(self.wi(x))))


class T5Block(nn.Module):
    def __init__(self, d, h, d_kv, d_ff, is_decoder, first, p):
        super().__init__()
        self.norm1, self.attn = T5LayerNorm(d), T5Attention(d, h, d_kv, is_decoder, first)
        if is_decoder:
            self.norm2, self.cross = T5LayerNorm(d), T5Attention(d, h, d_kv, is_decoder, False)
        self.norm3, self.ff = T5LayerNorm(d), T5FF(d, d_ff, p)
        self.drop = nn.Dropout(p)
        self.is_decoder = is_decoder

    def forward(self, x, mask, bias, memory=None, memory_mask=None):
        x = x + self.drop(self.attn(self.norm1(x), mask, bias=bias))
        if self.is_decoder:
            x = x + self.drop(self.cross(self.norm2(x), memory_mask, memory=memory))
        return x + self.drop(self.ff(self.norm3(x)))


class T5Stack(nn.Module):
    def __init__(self, embed, n, d, h, d_kv, d_ff, is_decoder, p):
        super().__init__()
        self.embed_tokens = embed
        self.block = nn.ModuleList([T5Block(d, h, d_kv, d_ff, is_decoder, i == 0, p) for i in range(n)])
        self.final_layer_norm = T5LayerNorm(d)
        self.dropout = nn.Dropout(p)

    def forward(self, ids, mask, memory=None, memory_mask=None):
        x = self.dropout(self.embed_tokens(ids))
        bias = self.block[0].attn.compute_bias(ids.size(1), ids.size(1))
        for block in self.block:
            x = block(x, mask, bias, memory, memory_mask)
        return self.dropout(self.final_layer_norm(x))


class T5(nn.Module):
    def __init__(self, vocab=110, d=32, h=4, d_kv=8, d_ff=64, n=2, p=0.1):
        super().__init__()
        self.shared = nn.Embedding(vocab, d)
        self.encoder = T5Stack(self.shared, n, d, h, d_kv, d_ff, False, p)
        self.decoder = T5Stack(self.shared, n, d, h, d_kv, d_ff, True, p)
        self.lm_head = nn.Linear(d, vocab, bias=False)
        self.lm_head.weight = self.shared.weight
        self.scale = d**-0.5

    def _shift_right(self, labels):
        shifted = torch.zeros_like(labels)
        shifted[..., 1:] = labels[..., :-1]
        shifted[..., 0] = START
        return shifted.masked_fill(shifted == -100, PAD)

    def forward(self, input_ids, attention_mask, labels):
        lowest = -1e9
        source_mask = (1.0 - attention_mask[:, None, None, :].float()) * lowest
        decoder_ids = self._shift_right(labels)
        t = decoder_ids.size(1)
        causal = torch.triu(torch.full((t, t), lowest), diagonal=1)[None, None]
        memory = self.encoder(input_ids, source_mask)
        y = self.decoder(decoder_ids, causal, memory, source_mask)
        logits = self.lm_head(y * self.scale)
        loss = F.cross_entropy(logits.view(-1, logits.size(-1)), labels.view(-1), ignore_index=-100)
        return {"loss": loss, "logits": logits}


def build():
    lengths, heads = (13, 9, 11, 7), (8, 6, 9, 7)
    input_ids, mask, labels = torch.full((4, 13), PAD), torch.zeros(4, 13, dtype=torch.long), torch.full((4, 9), -100)
    for i, (n, m) in enumerate(zip(lengths, heads)):
        input_ids[i, :n] = torch.cat([torch.randint(2, 110, (n - 1,)), torch.tensor([EOS])])
        mask[i, :n] = 1
        labels[i, :m] = torch.cat([torch.randint(2, 110, (m - 1,)), torch.tensor([EOS])])
    model = T5()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    return {"model": model, "batch": {"input_ids": input_ids, "attention_mask": mask, "labels": labels}, "optimizer": optimizer}
