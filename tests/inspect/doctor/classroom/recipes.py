"""Recipes continued by a small GPT-2 of transformers: padding by -100, accumulation, a warmup, perplexity on held texts."""

import math
import random

import torch
from torch.utils.data import DataLoader, Dataset
from transformers import GPT2Config, GPT2LMHeadModel

WORDS = "take add mix bake serve the some two cups of flour sugar milk eggs butter salt water in a bowl pan oven".split()
WORDS += "until done then and".split()
TOKENS = {w: i + 2 for i, w in enumerate(WORDS)}  # 0 pads, 1 ends
NEXT = {w: random.Random(w).sample(WORDS, 3) for w in WORDS}


def recipe():
    words = [random.choice(WORDS)]
    while len(words) < random.randint(6, 14):
        words.append(random.choice(NEXT[words[-1]]))
    return [TOKENS[w] for w in words] + [1]


class Recipes(Dataset):
    def __init__(self, n):
        self.texts = [recipe() for _ in range(n)]

    def __len__(self):
        return len(self.texts)

    def __getitem__(self, i):
        return self.texts[i]


class Collator:
    def __init__(self, pad=0):
        self.pad = pad

    def __call__(self, batch):
        width = max(map(len, batch))
        input_ids = torch.tensor([t + [self.pad] * (width - len(t)) for t in batch])
        attention_mask = (input_ids != self.pad).long()
        labels = input_ids.masked_fill(input_ids == self.pad, -100)
        return dict(input_ids=input_ids, attention_mask=attention_mask, labels=labels)


def perplexity(model, loader):
    model.eval()
    total, count = 0.0, 0
    with torch.no_grad():
        for batch in loader:
            loss = model(**batch).loss
            words = (batch["labels"][:, 1:] != -100).sum().item()
            total, count = total + loss.item() * words, count + words
    model.train()
    return math.exp(total / count)


random.seed(33)
torch.manual_seed(33)
train_set, held_set = Recipes(480), Recipes(60)
train_loader = DataLoader(train_set, batch_size=12, shuffle=True, collate_fn=Collator())
held_loader = DataLoader(held_set, batch_size=12, collate_fn=Collator())
model = GPT2LMHeadModel(
    GPT2Config(vocab_size=len(WORDS) + 2, n_positions=16, n_embd=32, n_layer=2, n_head=2, bos_token_id=1, eos_token_id=1)
)
optimizer = torch.optim.AdamW(model.parameters(), lr=4e-3, weight_decay=0.01)
accumulation, warmup = 2, 5
schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda s: min(1.0, (s + 1) / warmup))
model.train()
updates = 0
for _ in range(2):
    for i, batch in enumerate(train_loader):
        out = model(**batch)
        loss = out.loss / accumulation
        loss.backward()
        if (i + 1) % accumulation == 0:
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            optimizer.zero_grad()
            updates += 1
            if updates % 8 == 0:
                print(updates, out.loss.item(), perplexity(model, held_loader))
