"""A beginner's GPT out of PyTorch's decoder layers, with a causal mask kept from __init__, gives log-probabilities and the loss."""

import badak as torch
from badak import nn


class TokenAndPosition(nn.Module):
    def __init__(self, vocab, width, longest):
        super().__init__()
        self.token, self.pos = nn.Embedding(vocab, width), nn.Embedding(longest, width)

    def forward(self, x):
        places = torch.arange(0, x.shape[1]).repeat(x.shape[0], 1)
        return self.token(x) + self.pos(places)


class DecoderOnlyBlock(nn.Module):
    def __init__(self, width, heads, longest):
        super().__init__()
        self.attention = nn.MultiheadAttention(width, heads, batch_first=True)
        self.drop1, self.drop2 = nn.Dropout(0.1), nn.Dropout(0.1)
        self.feedforward = nn.Sequential(nn.Linear(width, 4 * width), nn.ReLU(), nn.Linear(4 * width, width))
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.register_buffer("mask", torch.triu(torch.ones(longest, longest, dtype=torch.bool), diagonal=1))

    def forward(self, inputs):
        n = inputs.shape[1]
        attended, weights = self.attention(inputs, inputs, inputs, attn_mask=self.mask[:n, :n])
        out1 = self.norm1(inputs + self.drop1(attended))
        return self.norm2(out1 + self.drop2(self.feedforward(out1)))


class LanguageModel(nn.Module):
    def __init__(self, vocab=36, width=32, longest=20):
        super().__init__()
        self.embedding = TokenAndPosition(vocab, width, longest)
        self.block1, self.block2 = DecoderOnlyBlock(width, 4, longest), DecoderOnlyBlock(width, 4, longest)
        self.out = nn.Linear(width, vocab)
        self.logsoftmax, self.criterion = nn.LogSoftmax(dim=-1), nn.NLLLoss()

    def forward(self, text):
        inputs, targets = text[:, :-1], text[:, 1:]
        h = self.embedding(inputs)
        h = self.block1(h)
        h = self.block2(h)
        logp = self.logsoftmax(self.out(h))
        loss = self.criterion(logp.reshape(-1, logp.shape[-1]), targets.reshape(-1))
        return loss, logp


def build():
    return {"model": LanguageModel(), "batch": torch.randint(36, (4, 14))}
