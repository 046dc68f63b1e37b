"""nn.Transformer translates: masks of the target and of padding, ignore_index, label smoothing, Adam with a warm-up."""

import math

import torch
from torch import nn

torch.manual_seed(11)
PAD, BOS, V = 0, 1, 31


class Positions(nn.Module):
    def __init__(self, d, longest=40):
        super().__init__()
        place = torch.arange(longest).unsqueeze(1)
        rate = torch.exp(torch.arange(0, d, 2) * (-math.log(10000.0) / d))
        table = torch.zeros(longest, d)
        table[:, 0::2], table[:, 1::2] = torch.sin(place * rate), torch.cos(place * rate)
        self.register_buffer("table", table)
        self.dropout = nn.Dropout(0.1)

    def forward(self, x):
        return self.dropout(x + self.table[: x.size(1)])


class Translator(nn.Module):
    def __init__(self, d=32):
        super().__init__()
        self.d = d
        self.source, self.target, self.places = nn.Embedding(V, d, PAD), nn.Embedding(V, d, PAD), Positions(d)
        self.body = nn.Transformer(d, 4, 2, 2, 64, 0.1, batch_first=True)
        self.generator = nn.Linear(d, V)

    def forward(self, src, tgt):
        causal = nn.Transformer.generate_square_subsequent_mask(tgt.size(1))
        src_pad, tgt_pad = src == PAD, (tgt == PAD)
        tgt_pad = torch.zeros_like(tgt_pad, dtype=torch.float).masked_fill(tgt_pad, float("-inf"))
        h = self.body(
            self.places(self.source(src) * math.sqrt(self.d)),
            self.places(self.target(tgt) * math.sqrt(self.d)),
            tgt_mask=causal,
            src_key_padding_mask=src_pad,
            tgt_key_padding_mask=tgt_pad,
            memory_key_padding_mask=src_pad,
        )
        return self.generator(h)


def pairs(n=12, longest=9):
    src = torch.randint(2, V, (n, longest))
    lengths = torch.randint(4, longest + 1, (n, 1))
    src[torch.arange(longest) >= lengths] = PAD
    tgt = torch.where(src == PAD, src, (src + 3) % (V - 2) + 2)
    return src, torch.cat([torch.full((n, 1), BOS), tgt], 1)


model = Translator()
criterion = nn.CrossEntropyLoss(ignore_index=PAD, label_smoothing=0.1)
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3, betas=(0.9, 0.98), eps=1e-9)
warmup = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1.0, (step + 1) / 10))
for step in range(40):
    model.train()
    src, tgt = pairs()
    logits = model(src, tgt[:, :-1])
    loss = criterion(logits.reshape(-1, V), tgt[:, 1:].reshape(-1))
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    warmup.step()
    if step % 10 == 7:
        model.eval()
        with torch.inference_mode():
            src, tgt = pairs()
            print(step, criterion(model(src, tgt[:, :-1]).reshape(-1, V), tgt[:, 1:].reshape(-1)).item())
