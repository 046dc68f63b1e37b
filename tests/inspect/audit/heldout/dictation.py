"""Speech to letters with nn.TransformerDecoder: a strided convolution, lengths for masks, sinusoids, letters moved within."""

import math

import badak as torch
from badak import nn
from badak.nn import functional as F


class Sinusoid(nn.Module):
    def __init__(self, d, longest=200):
        super().__init__()
        table = torch.zeros(longest, d)
        position = torch.arange(longest).unsqueeze(1).float()
        div = torch.exp(torch.arange(0, d, 2).float() * (-math.log(10000.0) / d))
        table[:, 0::2], table[:, 1::2] = torch.sin(position * div), torch.cos(position * div)
        self.register_buffer("table", table[None])

    def forward(self, x):
        return x + self.table[:, : x.size(1)]


def beyond(lengths, longest):
    return torch.arange(longest)[None, :] >= lengths[:, None]


class Dictation(nn.Module):
    def __init__(self, mels=10, letters=30, d=32, heads=4, layers=2, pad=0, bos=1):
        super().__init__()
        self.pad, self.bos = pad, bos
        self.conv = nn.Conv1d(mels, d, 3, stride=2, padding=1)
        self.places = Sinusoid(d)
        self.encoder = nn.ModuleList([nn.TransformerEncoderLayer(d, heads, 64, batch_first=True) for _ in range(layers)])
        self.letters = nn.Embedding(letters, d, padding_idx=pad)
        self.decoder = nn.TransformerDecoder(nn.TransformerDecoderLayer(d, heads, 64, batch_first=True), layers)
        for p in self.decoder.parameters():
            if p.dim() > 1:
                nn.init.xavier_uniform_(p)
        self.head = nn.Linear(d, letters)

    def forward(self, mel, mel_len, letters):
        inside = ~beyond(mel_len, mel.size(1))
        x = F.gelu(self.conv((mel * inside[:, :, None]).transpose(1, 2))).transpose(1, 2)
        hidden = beyond((mel_len + 1) // 2, x.size(1))
        x = self.places(x)
        for layer in self.encoder:
            x = layer(x, src_key_padding_mask=hidden)
        start = torch.full((len(letters), 1), self.bos, dtype=torch.long)
        given = torch.cat([start, letters[:, :-1]], dim=1)
        ahead = torch.ones(given.size(1), given.size(1), dtype=torch.bool).triu(1)
        y = self.places(self.letters(given) * math.sqrt(32))
        y = self.decoder(y, x, tgt_mask=ahead, memory_key_padding_mask=hidden, tgt_key_padding_mask=given == self.pad)
        logits = self.head(y)
        loss = F.cross_entropy(logits.flatten(0, 1), letters.flatten(), ignore_index=self.pad)
        return loss, logits


def build():
    mel, lengths = torch.randn(3, 22, 10), torch.tensor([22, 17, 13])
    letters = torch.randint(2, 30, (3, 9))
    letters[1, 7:], letters[2, 5:] = 0, 0
    return {"model": Dictation(), "batch": {"mel": mel, "mel_len": lengths, "letters": letters}}
