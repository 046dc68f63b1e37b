"""A small causal model is taught to answer: a body trained on plain text first, its lower layers frozen, prompts without labels."""

import math
import random

import torch
import torch.nn as nn
import torch.nn.functional as F

random.seed(5)
torch.manual_seed(5)
CHARS = " abcdefghijklmnopqrstuvwxyz?=.#"
STOI = {c: i for i, c in enumerate(CHARS)}
V, PAD, T = len(CHARS) + 1, len(CHARS), 24


def encode(text):
    return [STOI[c] for c in text]


def plain():
    word = "".join(random.choice("abcdefghij") for _ in range(4))
    return encode((word + " " + word[::-1] + ". ") * 4)[: T + 1]


def example():
    word = "".join(random.choice("abcdefghij") for _ in range(random.randint(3, 6)))
    prompt, answer = encode("turn " + word + "?="), encode(word[::-1] + "#")
    return prompt, answer


class Attention(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.heads = heads
        self.qkv, self.proj = nn.Linear(d, 3 * d), nn.Linear(d, d)
        self.register_buffer("mask", torch.tril(torch.ones(64, 64, dtype=torch.bool)))

    def forward(self, x):
        b, t, d = x.shape
        q, k, v = (a.view(b, t, self.heads, -1).transpose(1, 2) for a in self.qkv(x).chunk(3, dim=-1))
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
        scores = scores.masked_fill(~self.mask[:t, :t], float("-inf"))
        return self.proj((scores.softmax(dim=-1) @ v).transpose(1, 2).reshape(b, t, d))


class Block(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.ln1, self.ln2 = nn.LayerNorm(d), nn.LayerNorm(d)
        self.attention = Attention(d, heads)
        self.mlp = nn.Sequential(nn.Linear(d, 4 * d), nn.GELU(), nn.Linear(4 * d, d), nn.Dropout(0.1))

    def forward(self, x):
        x = x + self.attention(self.ln1(x))
        return x + self.mlp(self.ln2(x))


class Model(nn.Module):
    def __init__(self, d=48, heads=4, depth=3):
        super().__init__()
        self.token, self.place = nn.Embedding(V, d), nn.Embedding(64, d)
        self.blocks = nn.ModuleList([Block(d, heads) for _ in range(depth)])
        self.ln = nn.LayerNorm(d)
        self.head = nn.Linear(d, V)

    def forward(self, ids):
        x = self.token(ids) + self.place(torch.arange(ids.size(1)))
        for block in self.blocks:
            x = block(x)
        return self.head(self.ln(x))


def batch_of(rows):
    longest = max(len(p) + len(a) for p, a in rows)
    ids = torch.full((len(rows), longest), PAD)
    labels = torch.full((len(rows), longest), -100)
    for i, (p, a) in enumerate(rows):
        ids[i, : len(p) + len(a)] = torch.tensor(p + a)
        labels[i, len(p) : len(p) + len(a)] = torch.tensor(a)
    return ids[:, :-1], labels[:, 1:]


def pretrain(model, steps=10):
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    for _ in range(steps):
        ids = torch.tensor([plain() for _ in range(24)])
        loss = F.cross_entropy(model(ids[:, :-1]).reshape(-1, V), ids[:, 1:].reshape(-1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss.item()


@torch.no_grad()
def answer(model, prompt, most=8):
    model.eval()
    ids = list(prompt)
    for _ in range(most):
        following = model(torch.tensor([ids]))[0, -1].argmax().item()
        ids.append(following)
        if following == STOI["#"]:
            break
    return ids[len(prompt) :]


model = Model()
print("pretrained to", pretrain(model))
for part in (model.token, model.place, model.blocks[0]):
    for p in part.parameters():
        p.requires_grad_(False)
learning = [p for p in model.parameters() if p.requires_grad]
optimizer = torch.optim.AdamW(learning, lr=1e-3, weight_decay=0.01)
train_rows, test_rows = [example() for _ in range(400)], [example() for _ in range(40)]
for epoch in range(3):
    model.train()
    random.shuffle(train_rows)
    for start in range(0, len(train_rows), 20):
        ids, labels = batch_of(train_rows[start : start + 20])
        logits = model(ids)
        loss = F.cross_entropy(logits.reshape(-1, V), labels.reshape(-1), ignore_index=-100)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(learning, 1.0)
        optimizer.step()
    model.eval()
    with torch.no_grad():
        ids, labels = batch_of(test_rows)
        test_loss = F.cross_entropy(model(ids).reshape(-1, V), labels.reshape(-1), ignore_index=-100)
    print(f"epoch {epoch} loss {loss.item():.3f} test {test_loss.item():.3f}")
right = sum(answer(model, p) == a for p, a in test_rows[:10])
print("right", right, "of 10")
