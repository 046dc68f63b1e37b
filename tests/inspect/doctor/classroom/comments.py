"""Comments under articles: one model for two tasks, is it spam and which of five subjects; a student of a larger teacher."""

import random
from collections import Counter

import torch
import torch.nn as nn
import torch.nn.functional as F

random.seed(19)
torch.manual_seed(19)
SUBJECTS = {
    "sport": "goal team match coach league win score".split(),
    "food": "soup bread salt oven taste cook lemon".split(),
    "money": "bank price market loan tax rate stock".split(),
    "music": "song guitar drum melody band concert voice".split(),
    "travel": "train hotel beach ticket map island road".split(),
}
SPAM = "free click offer winner cheap now".split()
FILLER = "the a was really very and with it they we good bad some more than".split()


def comment():
    subject = random.randrange(5)
    words = random.choices(list(SUBJECTS.values())[subject], k=random.randint(1, 4)) + random.choices(
        FILLER, k=random.randint(3, 9)
    )
    spam = random.random() < 0.25
    if spam:
        words += random.choices(SPAM, k=random.randint(1, 2))
    random.shuffle(words)
    return " ".join(words), subject, float(spam)


rows = [comment() for _ in range(1400)]
train_rows, test_rows = rows[:1200], rows[1200:]
counts = Counter(w for text, _, _ in train_rows for w in text.split())
vocab = {"<pad>": 0, "<unk>": 1} | {w: i + 2 for i, (w, _) in enumerate(counts.most_common())}


def encode(batch):
    ids = [[vocab.get(w, 1) for w in text.split()] for text, _, _ in batch]
    longest = max(map(len, ids))
    padded = torch.tensor([each + [0] * (longest - len(each)) for each in ids])
    return padded, torch.tensor([s for _, s, _ in batch]), torch.tensor([p for _, _, p in batch])


def loader(data, size, shuffle):
    order = random.sample(range(len(data)), len(data)) if shuffle else range(len(data))
    order = list(order)
    for i in range(0, len(order), size):
        yield encode([data[j] for j in order[i : i + size]])


class TextNet(nn.Module):
    def __init__(self, d, filters, drop):
        super().__init__()
        self.emb = nn.Embedding(len(vocab), d, padding_idx=0)
        self.convs = nn.ModuleList([nn.Conv1d(d, filters, k, padding=k // 2) for k in (1, 3)])
        self.drop = nn.Dropout(drop)
        self.subject, self.spam = nn.Linear(2 * filters, 5), nn.Linear(2 * filters, 1)

    def forward(self, ids):
        mask = (ids != 0).unsqueeze(1)
        x = self.emb(ids).transpose(1, 2)
        pooled = [F.relu(conv(x))[..., : ids.shape[1]].masked_fill(~mask, 0.0).amax(dim=2) for conv in self.convs]
        h = self.drop(torch.cat(pooled, dim=1))
        return self.subject(h), self.spam(h).squeeze(1)


def losses(subject_logits, spam_logits, subject, spam):
    weight = torch.tensor(3.0)
    return F.cross_entropy(subject_logits, subject), F.binary_cross_entropy_with_logits(spam_logits, spam, pos_weight=weight)


def evaluate(net):
    net.eval()
    right = tp = fp = fn = 0
    with torch.no_grad():
        for ids, subject, spam in loader(test_rows, 100, shuffle=False):
            s, p = net(ids)
            right += (s.argmax(1) == subject).sum().item()
            flagged = p > 0
            tp += (flagged & (spam == 1)).sum().item()
            fp += (flagged & (spam == 0)).sum().item()
            fn += (~flagged & (spam == 1)).sum().item()
    return right / len(test_rows), 2 * tp / max(2 * tp + fp + fn, 1)


teacher = TextNet(48, 48, 0.3)
opt = torch.optim.Adam(teacher.parameters(), lr=3e-3)
for _ in range(2):
    teacher.train()
    for ids, subject, spam in loader(train_rows, 60, shuffle=True):
        a, b = losses(*teacher(ids), subject, spam)
        opt.zero_grad()
        (a + b).backward()
        opt.step()
print("teacher", *evaluate(teacher))

teacher.eval()
student = TextNet(12, 12, 0.1)
student_opt = torch.optim.Adam(student.parameters(), lr=1e-2)
T, ALPHA = 2.0, 0.7
for epoch in range(3):
    student.train()
    for ids, subject, spam in loader(train_rows, 60, shuffle=True):
        s, p = student(ids)
        with torch.no_grad():
            ts, tp = teacher(ids)
        soft = F.kl_div(F.log_softmax(s / T, dim=1), F.softmax(ts / T, dim=1), reduction="batchmean") * T * T
        soft = soft + F.binary_cross_entropy_with_logits(p, torch.sigmoid(tp))
        hard_subject, hard_spam = losses(s, p, subject, spam)
        loss = ALPHA * soft + (1 - ALPHA) * (hard_subject + hard_spam)
        student_opt.zero_grad()
        loss.backward()
        student_opt.step()
    print("student", epoch, loss.item(), *evaluate(student))
