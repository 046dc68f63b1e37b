"""nn.Transformer로 만든 번역기 (숫자를 거꾸로 읽는 장난감 언어)"""

import math
import random

import torch
import torch.nn as nn

random.seed(3)
torch.manual_seed(3)
PAD, BOS, EOS = 0, 1, 2
VOCAB = 13
MAX_LEN = 10


def make_pair():
    n = random.randint(3, 8)
    src = [random.randint(3, VOCAB - 1) for _ in range(n)]
    tgt = [BOS] + src[::-1] + [EOS]
    return src, tgt


pairs = [make_pair() for _ in range(1200)]
train_pairs, valid_pairs = pairs[:1000], pairs[1000:]


def collate(batch):
    S = max(len(s) for s, _ in batch)
    T = max(len(t) for _, t in batch)
    src = torch.full((len(batch), S), PAD)
    tgt = torch.full((len(batch), T), PAD)
    for i, (s, t) in enumerate(batch):
        src[i, : len(s)] = torch.tensor(s)
        tgt[i, : len(t)] = torch.tensor(t)
    return src, tgt


class PositionalEncoding(nn.Module):
    def __init__(self, d_model, dropout=0.1, max_len=64):
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        position = torch.arange(max_len).unsqueeze(1)
        div_term = torch.exp(torch.arange(0, d_model, 2) * (-math.log(10000.0) / d_model))
        pe = torch.zeros(1, max_len, d_model)
        pe[0, :, 0::2] = torch.sin(position * div_term)
        pe[0, :, 1::2] = torch.cos(position * div_term)
        self.register_buffer("pe", pe)

    def forward(self, x):
        return self.dropout(x + self.pe[:, : x.size(1)])


class Translator(nn.Module):
    def __init__(self, d_model=64, nhead=4, layers=2):
        super().__init__()
        self.d_model = d_model
        self.src_embed = nn.Embedding(VOCAB, d_model, padding_idx=PAD)
        self.tgt_embed = nn.Embedding(VOCAB, d_model, padding_idx=PAD)
        self.pos = PositionalEncoding(d_model)
        self.transformer = nn.Transformer(d_model, nhead, layers, layers, 128, 0.1, batch_first=True)
        self.generator = nn.Linear(d_model, VOCAB)

    def forward(self, src, tgt):
        src_pad = src == PAD
        tgt_pad = tgt == PAD
        causal = torch.triu(torch.ones(tgt.size(1), tgt.size(1), dtype=torch.bool), diagonal=1)
        s = self.pos(self.src_embed(src) * math.sqrt(self.d_model))
        t = self.pos(self.tgt_embed(tgt) * math.sqrt(self.d_model))
        h = self.transformer(
            s, t, tgt_mask=causal, src_key_padding_mask=src_pad, tgt_key_padding_mask=tgt_pad, memory_key_padding_mask=src_pad
        )
        return self.generator(h)


model = Translator()
loss_fn = nn.CrossEntropyLoss(ignore_index=PAD, label_smoothing=0.1)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, betas=(0.9, 0.98))
scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1.0, (step + 1) / 20))


def run_epoch(data, training):
    model.train(training)
    total, tokens = 0.0, 0
    if training:
        random.shuffle(data)
    for i in range(0, len(data), 50):
        src, tgt = collate(data[i : i + 50])
        tgt_in, tgt_out = tgt[:, :-1], tgt[:, 1:]
        with torch.set_grad_enabled(training):
            logits = model(src, tgt_in)
            loss = loss_fn(logits.reshape(-1, VOCAB), tgt_out.reshape(-1))
        if training:
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            scheduler.step()
        n = (tgt_out != PAD).sum().item()
        total += loss.item() * n
        tokens += n
    return total / tokens


@torch.no_grad()
def translate(src):
    model.eval()
    out = torch.tensor([[BOS]])
    for _ in range(MAX_LEN):
        logits = model(torch.tensor([src]), out)
        nxt = logits[0, -1].argmax().item()
        out = torch.cat([out, torch.tensor([[nxt]])], dim=1)
        if nxt == EOS:
            break
    return out[0, 1:].tolist()


for epoch in range(4):
    tr = run_epoch(train_pairs, True)
    va = run_epoch(valid_pairs, False)
    print(f"epoch {epoch} train {tr:.3f} valid {va:.3f}")
hits = sum(translate(s) == t[1:] for s, t in valid_pairs[:20])
print("exact:", hits, "of 20")
