"""Translation without recurrence and without self-attention (ConvS2S): gated convolutions."""

import math

import badak as torch
import badak.nn.functional as F
from badak import nn

PAD = 1


class Embed(nn.Module):
    def __init__(self, vocab, width, longest):
        super().__init__()
        self.word = nn.Embedding(vocab, width, padding_idx=PAD)
        self.spot = nn.Embedding(longest, width)

    def forward(self, ids):
        return self.word(ids) + self.spot(torch.arange(ids.size(1)))


class ConvEncoder(nn.Module):
    def __init__(self, embed, width, layers, kernel):
        super().__init__()
        self.embed = embed
        self.convs = nn.ModuleList([nn.Conv1d(width, 2 * width, kernel, padding=kernel // 2) for _ in range(layers)])

    def forward(self, src):
        e = self.embed(src)
        hide = (src == PAD).unsqueeze(-1)
        x = e.masked_fill(hide, 0.0)
        for conv in self.convs:
            y = F.glu(conv(x.transpose(1, 2)), dim=1).transpose(1, 2)
            x = ((x + y) * math.sqrt(0.5)).masked_fill(hide, 0.0)
        return x, (x + e) * math.sqrt(0.5)


class SourceAttention(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.ask, self.out = nn.Linear(width, width), nn.Linear(width, width)

    def forward(self, h, target, keys, values, hide):
        q = (self.ask(h) + target) * math.sqrt(0.5)
        scores = torch.bmm(q, keys.transpose(1, 2)).masked_fill(hide.unsqueeze(1), float("-inf"))
        seen = torch.bmm(scores.softmax(dim=2), values)
        return self.out(seen * (~hide).sum(dim=1)[:, None, None].float().sqrt())


class ConvDecoder(nn.Module):
    def __init__(self, embed, vocab, width, layers, kernel):
        super().__init__()
        self.embed, self.kernel = embed, kernel
        self.convs = nn.ModuleList([nn.Conv1d(width, 2 * width, kernel) for _ in range(layers)])
        self.attends = nn.ModuleList([SourceAttention(width) for _ in range(layers)])
        self.final = nn.Linear(width, vocab)

    def forward(self, prev, keys, values, hide):
        t = self.embed(prev)
        x = t
        for conv, attend in zip(self.convs, self.attends, strict=True):
            past = F.pad(x.transpose(1, 2), (self.kernel - 1, 0))
            h = F.glu(conv(past), dim=1).transpose(1, 2)
            h = (h + attend(h, t, keys, values, hide)) * math.sqrt(0.5)
            x = (x + h) * math.sqrt(0.5)
        return self.final(x)


class ConvS2S(nn.Module):
    def __init__(self, src_words=37, tgt_words=41, width=24, layers=2, kernel=3):
        super().__init__()
        self.encoder = ConvEncoder(Embed(src_words, width, 30), width, layers, kernel)
        self.decoder = ConvDecoder(Embed(tgt_words, width, 30), tgt_words, width, layers, kernel)

    def forward(self, src_tokens, prev_output_tokens):
        keys, values = self.encoder(src_tokens)
        return self.decoder(prev_output_tokens, keys, values, src_tokens == PAD)


def build():
    src = torch.randint(2, 37, (4, 10))
    for row, length in enumerate((10, 7, 8, 5)):
        src[row, length:] = PAD
    return {"model": ConvS2S(), "batch": {"src_tokens": src, "prev_output_tokens": torch.randint(2, 41, (4, 8))}}
