"""A translator after T5: biases by distance in the first layer handed on, no scale, RMS norms, a decoder with its own biases."""

import badak as torch
import badak.nn.functional as F
from badak import nn

NEG = -1e9


class Norm(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(d))

    def forward(self, x):
        return self.weight * x / (x.square().mean(-1, keepdim=True) + 1e-6).sqrt()


class RelativeBias(nn.Module):
    def __init__(self, heads, reach=8):
        super().__init__()
        self.table, self.reach = nn.Embedding(2 * reach + 1, heads), reach

    def forward(self, t, s):
        distance = torch.arange(s)[None, :] - torch.arange(t)[:, None]
        return self.table(distance.clamp(-self.reach, self.reach) + self.reach).permute(2, 0, 1)[None]


class Attention(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.h = heads
        self.q, self.k, self.v, self.o = (nn.Linear(d, d, bias=False) for _ in range(4))

    def forward(self, x, memory, bias):
        b, t, d = x.shape
        shape = lambda z: z.view(b, -1, self.h, d // self.h).transpose(1, 2)
        q, k, v = shape(self.q(x)), shape(self.k(memory)), shape(self.v(memory))
        scores = torch.matmul(q, k.transpose(3, 2)) + bias
        weights = F.softmax(scores.float(), dim=-1).type_as(scores)
        return self.o(torch.matmul(weights, v).transpose(1, 2).contiguous().view(b, t, d))


class EncoderBlock(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.norm1, self.norm2, self.attn = Norm(d), Norm(d), Attention(d, heads)
        self.wi, self.wo, self.drop = nn.Linear(d, 2 * d, bias=False), nn.Linear(2 * d, d, bias=False), nn.Dropout(0.1)

    def forward(self, x, bias):
        n = self.norm1(x)
        x = x + self.drop(self.attn(n, n, bias))
        return x + self.drop(self.wo(F.relu(self.wi(self.norm2(x)))))


class DecoderBlock(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.norm1, self.norm2, self.norm3 = Norm(d), Norm(d), Norm(d)
        self.self_attn, self.cross_attn = Attention(d, heads), Attention(d, heads)
        self.wi, self.wo = nn.Linear(d, 2 * d, bias=False), nn.Linear(2 * d, d, bias=False)

    def forward(self, x, memory, bias, cross_bias):
        n = self.norm1(x)
        x = x + self.self_attn(n, n, bias)
        x = x + self.cross_attn(self.norm2(x), memory, cross_bias)
        return x + self.wo(F.relu(self.wi(self.norm3(x))))


class T5ish(nn.Module):
    def __init__(self, vocab=52, d=32, heads=4, layers=2):
        super().__init__()
        self.shared = nn.Embedding(vocab, d)
        self.enc_bias, self.dec_bias = RelativeBias(heads), RelativeBias(heads)
        self.encoder = nn.ModuleList(EncoderBlock(d, heads) for _ in range(layers))
        self.decoder = nn.ModuleList(DecoderBlock(d, heads) for _ in range(layers))
        self.enc_norm, self.dec_norm = Norm(d), Norm(d)
        self.lm_head = nn.Linear(d, vocab, bias=False)

    def forward(self, input_ids, attention_mask, decoder_input_ids):
        s, t = input_ids.shape[1], decoder_input_ids.shape[1]
        hide = (1.0 - attention_mask.float())[:, None, None, :] * NEG
        h = self.shared(input_ids)
        bias = self.enc_bias(s, s) + hide
        for block in self.encoder:
            h = block(h, bias)
        memory = self.enc_norm(h)
        y = self.shared(decoder_input_ids)
        dbias = self.dec_bias(t, t) + torch.triu(torch.full((t, t), NEG), 1)
        for block in self.decoder:
            y = block(y, memory, dbias, hide)
        return self.lm_head(self.dec_norm(y))


def build():
    src, mask = torch.randint(2, 52, (4, 10)), torch.ones(4, 10, dtype=torch.long)
    for row, n in ((0, 7), (3, 6)):
        src[row, n:], mask[row, n:] = 0, 0
    return {
        "model": T5ish(),
        "batch": {"input_ids": src, "attention_mask": mask, "decoder_input_ids": torch.randint(2, 52, (4, 8))},
    }
