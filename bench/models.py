"""The models of the workloads, written as a user of PyTorch writes them. With badak, `import torch` gives badak.

Each family in two ways: "blocks" written by hand around scaled_dot_product_attention, and the "layers" of nn.Transformer*.
The third way, "products", writes attention out as two matrix products and a softmax; only PyTorch is asked to.
"""

import math

import torch
from torch import nn
from torch.nn import functional as F

from bench.workloads import Workload, sinusoid


def tanh_gelu(x):
    return F.gelu(x, approximate="tanh")


def by_products(q, k, v, is_causal=False):
    """What scaled_dot_product_attention computes, step by step."""
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
    if is_causal:
        T = q.size(-2)
        scores = scores.masked_fill(torch.ones(T, T, dtype=torch.bool).triu(1), float("-inf"))
    return scores.softmax(dim=-1) @ v


class SelfAttention(nn.Module):
    def __init__(self, d, heads, causal, attend):
        super().__init__()
        self.heads, self.causal, self.attend = heads, causal, attend
        self.qkv = nn.Linear(d, 3 * d)
        self.out = nn.Linear(d, d)

    def forward(self, x):
        B, T, C = x.size()
        q, k, v = self.qkv(x).split(C, dim=2)
        k = k.view(B, T, self.heads, C // self.heads).transpose(1, 2)  # (B, H, T, D)
        q = q.view(B, T, self.heads, C // self.heads).transpose(1, 2)
        v = v.view(B, T, self.heads, C // self.heads).transpose(1, 2)
        y = self.attend(q, k, v, is_causal=self.causal)
        return self.out(y.transpose(1, 2).contiguous().view(B, T, C))


class CrossAttention(nn.Module):
    def __init__(self, d, heads, attend):
        super().__init__()
        self.heads, self.attend = heads, attend
        self.q = nn.Linear(d, d)
        self.kv = nn.Linear(d, 2 * d)
        self.out = nn.Linear(d, d)

    def forward(self, x, memory):
        B, T, C = x.size()
        S = memory.size(1)
        k, v = self.kv(memory).split(C, dim=2)
        q = self.q(x).view(B, T, self.heads, C // self.heads).transpose(1, 2)
        k = k.view(B, S, self.heads, C // self.heads).transpose(1, 2)
        v = v.view(B, S, self.heads, C // self.heads).transpose(1, 2)
        y = self.attend(q, k, v)
        return self.out(y.transpose(1, 2).contiguous().view(B, T, C))


class Block(nn.Module):
    """GPT's: the norm stands before each part."""

    def __init__(self, d, heads, hidden, attend):
        super().__init__()
        self.norm1 = nn.LayerNorm(d)
        self.attention = SelfAttention(d, heads, True, attend)
        self.norm2 = nn.LayerNorm(d)
        self.up = nn.Linear(d, hidden)
        self.down = nn.Linear(hidden, d)

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.down(tanh_gelu(self.up(self.norm2(x))))


class EncoderBlock(nn.Module):
    """BERT's: the norm stands after each sum."""

    def __init__(self, d, heads, hidden, activation, attend):
        super().__init__()
        self.attention = SelfAttention(d, heads, False, attend)
        self.norm1 = nn.LayerNorm(d)
        self.up = nn.Linear(d, hidden)
        self.down = nn.Linear(hidden, d)
        self.norm2 = nn.LayerNorm(d)
        self.activation = activation

    def forward(self, x):
        x = self.norm1(x + self.attention(x))
        return self.norm2(x + self.down(self.activation(self.up(x))))


class DecoderBlock(nn.Module):
    def __init__(self, d, heads, hidden, attend):
        super().__init__()
        self.attention = SelfAttention(d, heads, True, attend)
        self.norm1 = nn.LayerNorm(d)
        self.cross = CrossAttention(d, heads, attend)
        self.norm2 = nn.LayerNorm(d)
        self.up = nn.Linear(d, hidden)
        self.down = nn.Linear(hidden, d)
        self.norm3 = nn.LayerNorm(d)

    def forward(self, x, memory):
        x = self.norm1(x + self.attention(x))
        x = self.norm2(x + self.cross(x, memory))
        return self.norm3(x + self.down(F.relu(self.up(x))))


ATTENTION = {"blocks": F.scaled_dot_product_attention, "products": by_products}


def encoder(work: Workload, way: str, activation):
    """Layers that see the whole sequence, norms after the sums."""
    if way == "layers":
        layer = nn.TransformerEncoderLayer(work.d, work.heads, work.hidden, 0.0, activation, batch_first=True)
        return nn.TransformerEncoder(layer, work.layers, enable_nested_tensor=False)
    blocks = [EncoderBlock(work.d, work.heads, work.hidden, activation, ATTENTION[way]) for _ in range(work.layers)]
    return nn.Sequential(*blocks)


class GPT(nn.Module):
    """Tokens and the tokens that come next -> loss."""

    def __init__(self, work: Workload, way: str):
        super().__init__()
        d = work.d
        self.token = nn.Embedding(work.vocab, d)
        self.position = nn.Embedding(work.positions, d)
        if way == "layers":
            layer = nn.TransformerEncoderLayer(d, work.heads, work.hidden, 0.0, tanh_gelu, batch_first=True, norm_first=True)
            self.blocks = nn.TransformerEncoder(layer, work.layers, enable_nested_tensor=False)
            mask = nn.Transformer.generate_square_subsequent_mask(work.T)
            self.register_buffer("mask", mask, persistent=False)
        else:
            blocks = [Block(d, work.heads, work.hidden, ATTENTION[way]) for _ in range(work.layers)]
            self.blocks = nn.ModuleList(blocks)
        self.norm = nn.LayerNorm(d)
        self.head = nn.Linear(d, work.vocab, bias=not work.tied)
        if work.tied:
            self.head.weight = self.token.weight
        self.way = way

    def forward(self, x, y):
        h = self.token(x) + self.position(torch.arange(x.size(1)))
        if self.way == "layers":
            h = self.blocks(h, mask=self.mask, is_causal=True)
        else:
            for block in self.blocks:
                h = block(h)
        logits = self.head(self.norm(h))
        return F.cross_entropy(logits.view(-1, logits.size(-1)), y.view(-1))


class RowReader(nn.Module):
    """Pictures, read row by row, and what they show -> loss."""

    def __init__(self, work: Workload, way: str):
        super().__init__()
        self.rows = nn.Linear(work.row_width, work.d)
        self.register_buffer("places", torch.from_numpy(sinusoid(work.T, work.d)), persistent=False)
        self.blocks = encoder(work, way, tanh_gelu)
        self.head = nn.Linear(work.T * work.d, work.classes)

    def forward(self, x, y):
        h = self.blocks(self.rows(x) + self.places)
        return F.cross_entropy(self.head(h.flatten(1)), y)


class BERT(nn.Module):
    """Tokens, which sentence they are of, and what they should have been -> loss."""

    def __init__(self, work: Workload, way: str):
        super().__init__()
        self.token = nn.Embedding(work.vocab, work.d)
        self.position = nn.Embedding(work.positions, work.d)
        self.segment = nn.Embedding(2, work.d)
        self.norm = nn.LayerNorm(work.d)
        self.blocks = encoder(work, way, F.gelu)
        self.head = nn.Linear(work.d, work.vocab)

    def forward(self, x, segment, y):
        h = self.token(x) + self.position(torch.arange(x.size(1))) + self.segment(segment)
        logits = self.head(self.blocks(self.norm(h)))
        return F.cross_entropy(logits.view(-1, logits.size(-1)), y.view(-1))


class SentenceEncoder(nn.Module):
    """Tokens -> a unit vector for each sentence."""

    def __init__(self, work: Workload, way: str):
        super().__init__()
        self.token = nn.Embedding(work.vocab, work.d)
        self.position = nn.Embedding(work.positions, work.d)
        self.segment = nn.Embedding(2, work.d)
        self.norm = nn.LayerNorm(work.d)
        self.blocks = encoder(work, way, F.gelu)

    def forward(self, x):
        h = self.token(x) + self.position(torch.arange(x.size(1))) + self.segment(torch.zeros_like(x))
        return F.normalize(self.blocks(self.norm(h)).mean(dim=1), dim=-1)


class Translator(nn.Module):
    """A sentence, its translation so far, and how that goes on -> loss."""

    def __init__(self, work: Workload, way: str):
        super().__init__()
        d = work.d
        self.source = nn.Embedding(work.vocab, d)
        self.target = nn.Embedding(work.vocab, d)
        self.register_buffer("places", torch.from_numpy(sinusoid(work.T, d)), persistent=False)
        if way == "layers":
            self.transformer = nn.Transformer(d, work.heads, work.layers, work.layers, work.hidden, 0.0, batch_first=True)
            mask = nn.Transformer.generate_square_subsequent_mask(work.T)
            self.register_buffer("mask", mask, persistent=False)
        else:
            self.encoder = encoder(work, way, F.relu)
            self.encoder_norm = nn.LayerNorm(d)
            blocks = [DecoderBlock(d, work.heads, work.hidden, ATTENTION[way]) for _ in range(work.layers)]
            self.decoder = nn.ModuleList(blocks)
            self.decoder_norm = nn.LayerNorm(d)
        self.head = nn.Linear(d, work.vocab)
        self.way, self.scale = way, math.sqrt(d)

    def forward(self, source, x, y):
        source = self.source(source) * self.scale + self.places
        h = self.target(x) * self.scale + self.places
        if self.way == "layers":
            h = self.transformer(source, h, tgt_mask=self.mask, tgt_is_causal=True)
        else:
            memory = self.encoder_norm(self.encoder(source))
            for block in self.decoder:
                h = block(h, memory)
            h = self.decoder_norm(h)
        logits = self.head(h)
        return F.cross_entropy(logits.view(-1, logits.size(-1)), y.view(-1))


MODELS = {"gpt": GPT, "rows": RowReader, "bert": BERT, "encode": SentenceEncoder, "translate": Translator}
