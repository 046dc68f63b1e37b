"""Questions and answers by two towers: a symmetric contrastive loss with a learned temperature, recall on held-out pairs."""

import math
import random

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

random.seed(5)
torch.manual_seed(5)
PAD, VOCAB = 0, 80


def make_pair():
    topic = random.sample(range(2, 40), 3)
    question = [random.choice(topic) for _ in range(random.randint(4, 8))]
    answer = [random.choice(topic) + 40 for _ in range(random.randint(5, 12))]
    return question, answer


class QADataset(Dataset):
    def __init__(self, size):
        self.pairs = [make_pair() for _ in range(size)]

    def __len__(self):
        return len(self.pairs)

    def __getitem__(self, idx):
        question, answer = self.pairs[idx]
        return question, answer


def pad(rows):
    width = max(map(len, rows))
    ids = torch.tensor([row + [PAD] * (width - len(row)) for row in rows])
    return ids, (ids != PAD).float()


def collate(batch):
    questions, answers = zip(*batch)
    q_ids, q_mask = pad(questions)
    a_ids, a_mask = pad(answers)
    return q_ids, q_mask, a_ids, a_mask


class Tower(nn.Module):
    def __init__(self, d_model=32, out=24):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, d_model, padding_idx=PAD)
        self.conv = nn.Conv1d(d_model, d_model, kernel_size=3, padding=1)
        self.norm = nn.LayerNorm(d_model)
        self.drop = nn.Dropout(0.1)
        self.proj = nn.Linear(d_model, out)

    def forward(self, ids, mask):
        x = self.embed(ids)
        x = x + F.relu(self.conv(x.transpose(1, 2)).transpose(1, 2))
        x = self.norm(x)
        pooled = (x * mask.unsqueeze(-1)).sum(dim=1) / mask.sum(dim=1, keepdim=True)
        return F.normalize(self.proj(self.drop(pooled)), dim=-1)


class DualEncoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.question_tower = Tower()
        self.answer_tower = Tower()
        self.logit_scale = nn.Parameter(torch.tensor(math.log(1 / 0.2)))

    def forward(self, q_ids, q_mask, a_ids, a_mask):
        q = self.question_tower(q_ids, q_mask)
        a = self.answer_tower(a_ids, a_mask)
        scale = self.logit_scale.exp().clamp(max=100)
        return scale * q @ a.t()


def contrastive_loss(logits):
    targets = torch.arange(logits.size(0))
    loss_q = F.cross_entropy(logits, targets)
    loss_a = F.cross_entropy(logits.t(), targets)
    return (loss_q + loss_a) / 2


@torch.no_grad()
def recall_at_1(model, loader):
    model.eval()
    hits, total = 0, 0
    for batch in loader:
        logits = model(*batch)
        hits += (logits.argmax(dim=1) == torch.arange(len(logits))).sum().item()
        total += len(logits)
    model.train()
    return hits / total


def run():
    train_dl = DataLoader(QADataset(480), batch_size=32, shuffle=True, collate_fn=collate, drop_last=True)
    dev_dl = DataLoader(QADataset(96), batch_size=32, collate_fn=collate)
    model = DualEncoder()
    opt = torch.optim.AdamW(model.parameters(), lr=4e-3, weight_decay=0.01)
    num_steps = 2 * len(train_dl)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=num_steps)
    best = recall_at_1(model, dev_dl)
    print("untrained recall@1", best)
    for epoch in range(2):
        for batch in train_dl:
            opt.zero_grad()
            logits = model(*batch)
            loss = contrastive_loss(logits)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm=1.0)
            opt.step()
            sched.step()
        recall = recall_at_1(model, dev_dl)
        best = max(best, recall)
        print(f"epoch {epoch}: loss {loss.item():.3f} recall@1 {recall:.3f}")


run()
