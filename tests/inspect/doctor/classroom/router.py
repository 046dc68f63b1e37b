"""Topics of word lists by a mixture of experts: a router, two of four experts for each text, a loss that balances them."""

import random
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

random.seed(17)
torch.manual_seed(17)
TOPICS, WORDS_EACH, COMMON = 6, 12, 40
VOCAB = 1 + COMMON + TOPICS * WORDS_EACH  # 0 is padding


def make_texts(n):
    texts = []
    for _ in range(n):
        topic = random.randrange(TOPICS)
        length = random.randint(5, 14)
        first = 1 + COMMON + topic * WORDS_EACH
        words = [
            random.randrange(first, first + WORDS_EACH) if random.random() < 0.4 else random.randrange(1, 1 + COMMON)
            for _ in range(length)
        ]
        texts.append((words, topic))
    return texts


def iterate(texts, size, shuffle=False):
    if shuffle:
        texts = random.sample(texts, len(texts))
    for i in range(0, len(texts), size):
        chunk = texts[i : i + size]
        longest = max(len(words) for words, _ in chunk)
        ids = torch.tensor([words + [0] * (longest - len(words)) for words, _ in chunk])
        yield ids, torch.tensor([topic for _, topic in chunk])


@dataclass
class Output:
    logits: Tensor
    balance: Tensor
    loss: Tensor | None = None


class Expert(nn.Module):
    def __init__(self, width, inner):
        super().__init__()
        self.up, self.down = nn.Linear(width, inner), nn.Linear(inner, width)

    def forward(self, x):
        return self.down(F.silu(self.up(x)))


class MixtureLayer(nn.Module):
    def __init__(self, width, inner, n_experts, k):
        super().__init__()
        self.k, self.router = k, nn.Linear(width, n_experts, bias=False)
        self.experts = nn.ModuleList([Expert(width, inner) for _ in range(n_experts)])

    def forward(self, x):
        probs = F.softmax(self.router(x), dim=-1)
        top, which = probs.topk(self.k, dim=-1)
        top = top / top.sum(dim=-1, keepdim=True)
        out = torch.zeros_like(x)
        for e, expert in enumerate(self.experts):
            rows, slot = torch.where(which == e)
            if len(rows):
                out = out.index_add(0, rows, expert(x[rows]) * top[rows, slot].unsqueeze(1))
        used = F.one_hot(which, len(self.experts)).float().sum(dim=1).mean(dim=0)
        balance = len(self.experts) * (used * probs.mean(dim=0)).sum() / self.k
        return out, balance


class TopicModel(nn.Module):
    def __init__(self, width=32, n_layers=2, n_experts=4, k=2, dropout=0.1):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, width, padding_idx=0)
        self.norms = nn.ModuleList([nn.LayerNorm(width) for _ in range(n_layers)])
        self.layers = nn.ModuleList([MixtureLayer(width, 2 * width, n_experts, k) for _ in range(n_layers)])
        self.dropout = nn.Dropout(dropout)
        self.classify = nn.Linear(width, TOPICS)

    def forward(self, ids, labels=None):
        there = (ids != 0).unsqueeze(-1).float()
        x = (self.embed(ids) * there).sum(dim=1) / there.sum(dim=1) * 3.0
        balance = torch.zeros(())
        for norm, layer in zip(self.norms, self.layers):
            y, b = layer(norm(x))
            x, balance = x + self.dropout(y), balance + b
        out = Output(self.classify(x), balance / len(self.layers))
        if labels is not None:
            out.loss = F.cross_entropy(out.logits, labels) + 0.02 * out.balance
        return out


train_texts, test_texts = make_texts(1280), make_texts(200)
model = TopicModel()
decayed = [p for n, p in model.named_parameters() if p.dim() > 1 and "embed" not in n]
rest = [p for n, p in model.named_parameters() if not (p.dim() > 1 and "embed" not in n)]
optimizer = torch.optim.AdamW([{"params": decayed, "weight_decay": 0.01}, {"params": rest, "weight_decay": 0.0}], lr=4e-3)
ACCUMULATE, total_steps = 2, 4 * 1280 // 64
schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=4e-3, total_steps=total_steps, pct_start=0.2)
for epoch in range(4):
    model.train()
    for i, (ids, topic) in enumerate(iterate(train_texts, 32, shuffle=True)):
        out = model(ids, labels=topic)
        (out.loss / ACCUMULATE).backward()
        if (i + 1) % ACCUMULATE == 0:
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            optimizer.zero_grad()
    model.eval()
    with torch.no_grad():
        hits = sum((model(ids).logits.argmax(-1) == topic).sum().item() for ids, topic in iterate(test_texts, 50))
    print(f"epoch {epoch} loss {out.loss.item():.3f} balance {out.balance.item():.3f} test accuracy {hits / len(test_texts):.3f}")
