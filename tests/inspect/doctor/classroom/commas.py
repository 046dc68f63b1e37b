"""Where commas and stops belong: tags for each word by a transformer, padding, accumulation, bfloat16, warm-up."""

import math

import torch
import torch.nn as nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(61)
WORDS, PAD, TAGS, IGNORE = 60, 0, 3, -100


class Sentences(Dataset):
    """A word above 50 ends a sentence; one of 40 to 50 wants a comma where the next word is odd."""

    def __init__(self, n, seed):
        g = torch.Generator().manual_seed(seed)
        self.rows = []
        for _ in range(n):
            words = torch.randint(1, WORDS, (int(torch.randint(8, 25, (1,), generator=g)),), generator=g)
            after = torch.cat([words[1:], torch.zeros(1, dtype=torch.long)])
            tags = torch.where(words > 50, 2, torch.where((words >= 40) & (after % 2 == 1), 1, 0))
            self.rows.append((words, tags))

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        return self.rows[i]


def collate(rows):
    words, tags = zip(*rows)
    words = pad_sequence(words, batch_first=True, padding_value=PAD)
    tags = pad_sequence(tags, batch_first=True, padding_value=IGNORE)
    return {"words": words, "mask": words == PAD, "tags": tags}


class Places(nn.Module):
    def __init__(self, d, longest=64):
        super().__init__()
        place = torch.arange(longest).unsqueeze(1)
        rate = torch.exp(torch.arange(0, d, 2) * (-math.log(10000.0) / d))
        table = torch.zeros(longest, d)
        table[:, 0::2], table[:, 1::2] = torch.sin(place * rate), torch.cos(place * rate)
        self.register_buffer("table", table)

    def forward(self, x):
        return x + self.table[: x.size(1)]


class Tagger(nn.Module):
    def __init__(self, d=48, heads=4, layers=2):
        super().__init__()
        self.embed = nn.Embedding(WORDS, d, padding_idx=PAD)
        self.places = Places(d)
        self.drop = nn.Dropout(0.1)
        layer = nn.TransformerEncoderLayer(d, heads, 2 * d, dropout=0.1, activation="gelu", batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.out = nn.Linear(d, TAGS)

    def forward(self, words, mask):
        x = self.drop(self.places(self.embed(words)))
        return self.out(self.encoder(x, src_key_padding_mask=mask))


def score(model, loader):
    model.eval()
    hit = told = real = 0
    with torch.no_grad():
        for batch in loader:
            guess = model(batch["words"], batch["mask"]).argmax(dim=-1)
            known = batch["tags"] != IGNORE
            g, t = guess[known], batch["tags"][known]
            hit += ((g == t) & (t > 0)).sum().item()
            told += (g > 0).sum().item()
            real += (t > 0).sum().item()
    return 2 * hit / max(1, told + real)


def train():
    train_loader = DataLoader(Sentences(640, 1), batch_size=16, shuffle=True, collate_fn=collate)
    dev_loader = DataLoader(Sentences(128, 2), batch_size=64, collate_fn=collate)
    test_loader = DataLoader(Sentences(128, 3), batch_size=64, collate_fn=collate)
    model = Tagger()
    criterion = nn.CrossEntropyLoss(ignore_index=IGNORE)
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=0.01)
    accumulate, epochs = 2, 4
    total = epochs * len(train_loader) // accumulate
    warm = total // 10
    scheduler = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda s: (s + 1) / warm if s < warm else max(0.05, (total - s) / (total - warm))
    )
    for epoch in range(epochs):
        model.train()
        losses = 0.0
        for i, batch in enumerate(train_loader):
            with torch.autocast("cpu", dtype=torch.bfloat16):
                logits = model(batch["words"], batch["mask"])
                loss = criterion(logits.float().view(-1, TAGS), batch["tags"].view(-1)) / accumulate
            loss.backward()
            losses += loss.item() * accumulate
            if (i + 1) % accumulate == 0:
                nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()
                scheduler.step()
                optimizer.zero_grad()
        print(f"epoch {epoch} loss {losses / len(train_loader):.3f} dev F1 {score(model, dev_loader):.3f}")
    print(f"test F1 {score(model, test_loader):.3f}")


if __name__ == "__main__":
    train()
