"""nn.Transformer learns to copy: masks for what comes later and for padding, a schedule of Noam."""

import math

import torch
import torch.nn as nn

torch.manual_seed(59)
V, D, PAD, BOS = 20, 32, 0, 1


class PositionalEncoding(nn.Module):
    def __init__(self, d_model, max_len=50):
        super().__init__()
        position = torch.arange(max_len).unsqueeze(1)
        div = torch.exp(torch.arange(0, d_model, 2) * (-math.log(10000.0) / d_model))
        pe = torch.zeros(1, max_len, d_model)
        pe[0, :, 0::2], pe[0, :, 1::2] = torch.sin(position * div), torch.cos(position * div)
        self.register_buffer("pe", pe)

    def forward(self, x):
        return x + self.pe[:, : x.size(1)]


class Seq2Seq(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(V, D)
        self.pos = PositionalEncoding(D)
        self.tr = nn.Transformer(D, 4, 1, 1, 64, batch_first=True)
        self.out = nn.Linear(D, V)

    def forward(self, src, tgt):
        mask = self.tr.generate_square_subsequent_mask(tgt.size(1))
        h = self.tr(
            self.pos(self.emb(src) * math.sqrt(D)),
            self.pos(self.emb(tgt) * math.sqrt(D)),
            tgt_mask=mask,
            src_key_padding_mask=src == PAD,
            memory_key_padding_mask=src == PAD,
        )
        return self.out(h)


def batch(n=16):
    x = torch.randint(2, V, (n, 9))
    lengths = torch.randint(4, 10, (n,))
    lengths[0] = 9
    x[torch.arange(9)[None] >= lengths[:, None]] = PAD
    return x, torch.cat([torch.full((n, 1), BOS), x], 1)


model = Seq2Seq()
criterion = nn.CrossEntropyLoss(ignore_index=PAD)
optimizer = torch.optim.Adam(model.parameters(), lr=1.0, betas=(0.9, 0.98), eps=1e-9)
noam = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda s: D**-0.5 * min((s + 1) ** -0.5, (s + 1) * 40**-1.5))
for step in range(60):
    model.train()
    src, tgt = batch()
    logits = model(src, tgt[:, :-1])
    loss = criterion(logits.reshape(-1, V), tgt[:, 1:].reshape(-1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    noam.step()
    if (step + 1) % 15 == 0:
        model.eval()
        with torch.no_grad():
            src, tgt = batch()
            acc = (model(src, tgt[:, :-1]).argmax(-1) == tgt[:, 1:])[tgt[:, 1:] != PAD].float().mean().item()
        print(step, loss.item(), acc)
