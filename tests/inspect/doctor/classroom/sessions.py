"""What does a visitor look at next? A SASRec-like model with one sampled negative for each step; functions only."""

import random

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

N_ITEMS, MAXLEN, DIM, BATCH = 60, 12, 32, 48
PAD = 0


def make_sessions(count, rng):
    sessions = []
    for _ in range(count):
        item, session = rng.randint(1, N_ITEMS), []
        for _ in range(rng.randint(4, MAXLEN + 1)):
            session.append(item)
            item = (item + rng.choice([1, 1, 1, 7])) % N_ITEMS + 1 if rng.random() < 0.9 else rng.randint(1, N_ITEMS)
        sessions.append(session)
    return sessions


def negative_of(session):
    item = random.randint(1, N_ITEMS)
    while item in session:
        item = random.randint(1, N_ITEMS)
    return item


def sample_batch(sessions):
    seq = np.zeros((BATCH, MAXLEN), dtype=np.int64)
    pos = np.zeros((BATCH, MAXLEN), dtype=np.int64)
    neg = np.zeros((BATCH, MAXLEN), dtype=np.int64)
    for row in range(BATCH):
        session = random.choice(sessions)
        inputs, targets = session[:-1], session[1:]
        seq[row, -len(inputs) :] = inputs
        pos[row, -len(targets) :] = targets
        neg[row, -len(targets) :] = [negative_of(session) for _ in targets]
    return torch.from_numpy(seq), torch.from_numpy(pos), torch.from_numpy(neg)


class SelfAttentiveRec(nn.Module):
    def __init__(self, layers=2, heads=2, dropout=0.2):
        super().__init__()
        self.item_emb = nn.Embedding(N_ITEMS + 1, DIM, padding_idx=PAD)
        self.pos_emb = nn.Embedding(MAXLEN, DIM)
        self.drop = nn.Dropout(dropout)
        self.norms = nn.ModuleList(nn.LayerNorm(DIM) for _ in range(2 * layers))
        self.attns = nn.ModuleList(nn.MultiheadAttention(DIM, heads, dropout, batch_first=True) for _ in range(layers))
        self.ffns = nn.ModuleList(
            nn.Sequential(nn.Linear(DIM, 2 * DIM), nn.GELU(), nn.Linear(2 * DIM, DIM), nn.Dropout(dropout)) for _ in range(layers)
        )
        self.last_norm = nn.LayerNorm(DIM)

    def log2feats(self, seq):
        places = torch.arange(seq.shape[1])
        x = self.drop(self.item_emb(seq) * DIM**0.5 + self.pos_emb(places))
        keep = (seq != PAD).unsqueeze(-1)
        x = x * keep
        future = torch.triu(torch.ones(seq.shape[1], seq.shape[1], dtype=torch.bool), diagonal=1)
        for i, (attn, ffn) in enumerate(zip(self.attns, self.ffns)):
            q = self.norms[2 * i](x)
            attended, _ = attn(q, q, q, attn_mask=future, need_weights=False)
            x = x + attended
            x = x + ffn(self.norms[2 * i + 1](x))
            x = x * keep
        return self.last_norm(x)

    def forward(self, seq, pos, neg):
        feats = self.log2feats(seq)
        return (feats * self.item_emb(pos)).sum(-1), (feats * self.item_emb(neg)).sum(-1)

    def rank(self, seq):
        return self.log2feats(seq)[:, -1] @ self.item_emb.weight.T


def loss_of(pos_logits, neg_logits, pos):
    there = pos != PAD
    wanted = F.binary_cross_entropy_with_logits(pos_logits[there], torch.ones_like(pos_logits[there]))
    unwanted = F.binary_cross_entropy_with_logits(neg_logits[there], torch.zeros_like(neg_logits[there]))
    return wanted + unwanted


def hit_rate(model, sessions, k=10):
    model.eval()
    hits = 0
    with torch.no_grad():
        for session in sessions:
            seq = torch.zeros(1, MAXLEN, dtype=torch.long)
            seq[0, -len(session) + 1 :] = torch.tensor(session[:-1])
            scores = model.rank(seq)[0]
            scores[PAD] = -1e9
            hits += int(session[-1] in scores.topk(k).indices.tolist())
    model.train()
    return hits / len(sessions)


def main():
    random.seed(5)
    torch.manual_seed(5)
    rng = random.Random(0)
    train_sessions, test_sessions = make_sessions(600, rng), make_sessions(60, rng)
    model = SelfAttentiveRec()
    for name, weight in model.named_parameters():
        if weight.dim() > 1 and "emb" in name:
            nn.init.normal_(weight, std=0.05)
    with torch.no_grad():
        model.item_emb.weight[PAD].zero_()
    adam = torch.optim.AdamW(model.parameters(), lr=1e-3, betas=(0.9, 0.98))
    for step in range(1, 61):
        seq, pos, neg = sample_batch(train_sessions)
        pos_logits, neg_logits = model(seq, pos, neg)
        loss = loss_of(pos_logits, neg_logits, pos)
        adam.zero_grad()
        loss.backward()
        adam.step()
        if step % 10 == 0:
            print(step, loss.item(), hit_rate(model, test_sessions))


if __name__ == "__main__":
    main()
