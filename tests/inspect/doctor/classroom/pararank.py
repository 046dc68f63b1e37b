# Sentence embeddings for duplicate questions: multiple negatives ranking loss, recall at k
import random

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from tqdm import tqdm

SEED = 17
random.seed(SEED)
np.random.seed(SEED)
torch.manual_seed(SEED)

ACTIONS = {
    "reset": ["reset", "recover", "change"], "cancel": ["cancel", "stop", "end"], "pay": ["pay", "settle", "clear"],
    "find": ["find", "locate", "look up"], "update": ["update", "edit", "modify"], "delete": ["delete", "remove", "erase"],
}  # fmt: skip
THINGS = {
    "password": ["password", "login code"], "order": ["order", "purchase"], "invoice": ["invoice", "bill"],
    "account": ["account", "profile"],
    "address": ["address", "location"], "ticket": ["ticket", "booking"], "card": ["card", "credit card"],
    "plan": ["plan", "subscription"],
}  # fmt: skip
FRAMES = [
    "how do i {a} my {t}",
    "what is the way to {a} the {t}",
    "please help me {a} this {t}",
    "can you {a} my {t} for me",
    "{a} {t}",
]


def phrase(action, thing):
    return random.choice(FRAMES).format(a=random.choice(ACTIONS[action]), t=random.choice(THINGS[thing]))


intents = [(a, t) for a in ACTIONS for t in THINGS]
pairs = []
for _ in range(1000):
    a, t = random.choice(intents)
    pairs.append((phrase(a, t), phrase(a, t), intents.index((a, t))))
train_pairs, dev_pairs = pairs[:850], pairs[850:]

vocab = {"<pad>": 0, "<unk>": 1}
for q1, q2, _ in train_pairs:
    for token in q1.split() + q2.split():
        vocab.setdefault(token, len(vocab))


def encode_batch(texts):
    ids = [[vocab.get(token, 1) for token in text.split()] for text in texts]
    longest = max(len(x) for x in ids)
    return torch.tensor([x + [0] * (longest - len(x)) for x in ids])


class SentenceTransformer(nn.Module):
    def __init__(self, vocab_size, dim=48, heads=4, layers=1, max_len=20):
        super().__init__()
        self.tok = nn.Embedding(vocab_size, dim, padding_idx=0)
        self.pos = nn.Embedding(max_len, dim)
        self.drop = nn.Dropout(0.1)
        layer = nn.TransformerEncoderLayer(dim, heads, dim * 2, dropout=0.1, batch_first=True, norm_first=True)
        self.encoder = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.proj = nn.Linear(dim, dim)

    def forward(self, ids):
        mask = ids == 0
        h = self.drop(self.tok(ids) + self.pos(torch.arange(ids.shape[1])))
        h = self.encoder(h, src_key_padding_mask=mask)
        keep = (~mask).unsqueeze(-1).float()
        mean = (h * keep).sum(1) / keep.sum(1)
        return F.normalize(self.proj(mean), dim=-1)


def ranking_loss(a, b, groups, scale=15.0):
    scores = scale * a @ b.T
    same = groups[:, None] == groups[None, :]
    eye = torch.eye(len(a), dtype=torch.bool)
    scores = scores.masked_fill(same & ~eye, -1e4)  # other duplicates in the batch are no negatives
    labels = torch.arange(len(a))
    return (F.cross_entropy(scores, labels) + F.cross_entropy(scores.T, labels)) / 2


@torch.no_grad()
def recall_at(model, data, ks=(1, 5)):
    model.eval()
    queries = model(encode_batch([q for q, _, _ in data]))
    answers = model(encode_batch([a for _, a, _ in data]))
    groups = np.array([g for _, _, g in data])
    ranks = (queries @ answers.T).argsort(dim=1, descending=True).numpy()
    right = groups[ranks] == groups[:, None]
    model.train()
    return {k: float(right[:, :k].any(axis=1).mean()) for k in ks}


model = SentenceTransformer(len(vocab))
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=0.01)
batch_size, epochs = 32, 6
steps = epochs * (len(train_pairs) // batch_size)
scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda s: min((s + 1) / 10, max(0.05, 1 - s / steps)))

history = []
model.train()
for epoch in range(epochs):
    random.shuffle(train_pairs)
    bar = tqdm(range(0, len(train_pairs) - batch_size + 1, batch_size), desc=f"epoch {epoch}", disable=True)
    for start in bar:
        batch = train_pairs[start : start + batch_size]
        first = model(encode_batch([q for q, _, _ in batch]))
        second = model(encode_batch([a for _, a, _ in batch]))
        groups = torch.tensor([g for _, _, g in batch])
        loss = ranking_loss(first, second, groups)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        scheduler.step()
        history.append(loss.item())
        bar.set_postfix(loss=f"{loss.item():.3f}")
    scores = recall_at(model, dev_pairs)
    print(f"epoch {epoch}: loss {np.mean(history[-len(bar) :]):.4f} " + " ".join(f"recall@{k} {v:.3f}" for k, v in scores.items()))
