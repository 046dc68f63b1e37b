"""Extractive question answering: where in the passage does the answer begin and end?"""

import random
from types import SimpleNamespace

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

cfg = SimpleNamespace(d=32, hidden=32, batch=24, epochs=6, lr=4e-3, clip=2.0, seed=5, max_passage=26, max_question=8)

NAMES = ["ada", "ben", "cleo", "dan", "eva", "finn", "gus", "hana"]
CITIES = ["lyon", "turin", "kyoto", "new york", "san juan", "bergen", "quebec city"]
JOBS = ["doctor", "baker", "taxi driver", "painter", "school teacher", "pilot"]
PETS = ["dog", "grey cat", "parrot", "gold fish"]


def example():
    name, city, job, pet = (random.choice(x) for x in (NAMES, CITIES, JOBS, PETS))
    facts = {
        "city": (f"{name} lives in {city} .", f"where does {name} live ?", city),
        "job": (f"{name} works as a {job} .", f"what does {name} do ?", job),
        "pet": (f"{name} owns a {pet} .", f"which animal has {name} ?", pet),
    }
    sentences = [f[0] for f in facts.values()]
    other = random.choice([n for n in NAMES if n != name])
    sentences.append(f"{other} lives in {random.choice(CITIES)} .")
    random.shuffle(sentences)
    passage = " ".join(sentences).split()
    sentence, question, answer = random.choice(list(facts.values()))
    offset = find(passage, sentence.split())
    start = offset + find(sentence.split(), answer.split())
    return passage, question.split(), start, start + len(answer.split()) - 1


def find(words, part):
    return next(i for i in range(len(words)) if words[i : i + len(part)] == part)


class SquadLike(Dataset):
    def __init__(self, examples, word2idx):
        self.rows = [
            (self.encode(p, word2idx, cfg.max_passage), self.encode(q, word2idx, cfg.max_question), s, e) for p, q, s, e in examples
        ]

    @staticmethod
    def encode(words, word2idx, size):
        ids = torch.zeros(size, dtype=torch.long)
        ids[: len(words)] = torch.tensor([word2idx.get(w, 1) for w in words])
        return ids

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        return self.rows[i]


class AttentiveReader(nn.Module):
    def __init__(self, vocab_size, d, hidden):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d, padding_idx=0)
        self.question_rnn = nn.GRU(d, hidden, batch_first=True, bidirectional=True)
        self.passage_rnn = nn.GRU(d * 2, hidden, batch_first=True, bidirectional=True)
        self.align = nn.Linear(d, d)
        self.self_attn = nn.Linear(hidden * 2, 1)
        self.dropout = nn.Dropout(0.2)
        self.start = nn.Bilinear(hidden * 2, hidden * 2, 1)
        self.end = nn.Bilinear(hidden * 2, hidden * 2, 1)

    def forward(self, passage, question):
        p, q = self.dropout(self.embedding(passage)), self.dropout(self.embedding(question))
        p_mask, q_mask = passage.eq(0), question.eq(0)
        # aligned question embedding for every word of the passage
        scores = torch.relu(self.align(p)) @ torch.relu(self.align(q)).transpose(1, 2)
        scores = scores.masked_fill(q_mask.unsqueeze(1), -1e9)
        aligned = scores.softmax(dim=2) @ q
        p_hidden, _ = self.passage_rnn(torch.cat([p, aligned], dim=2))
        q_hidden, _ = self.question_rnn(q)
        weights = self.self_attn(q_hidden).squeeze(2).masked_fill(q_mask, -1e9).softmax(dim=1)
        q_vec = (weights.unsqueeze(2) * q_hidden).sum(dim=1, keepdim=True).expand_as(p_hidden).contiguous()
        start_logits = self.start(p_hidden, q_vec).squeeze(2).masked_fill(p_mask, -1e9)
        end_logits = self.end(p_hidden, q_vec).squeeze(2).masked_fill(p_mask, -1e9)
        return start_logits, end_logits


def best_span(start_logits, end_logits, longest=3):
    p_start, p_end = start_logits.softmax(dim=1), end_logits.softmax(dim=1)
    joint = p_start.unsqueeze(2) * p_end.unsqueeze(1)
    joint = joint.triu().tril(longest - 1)
    best = joint.flatten(1).argmax(dim=1)
    return best // joint.size(2), best % joint.size(2)


def f1_of_span(s, e, s_true, e_true):
    common = max(0, min(e, e_true) - max(s, s_true) + 1)
    if common == 0:
        return 0.0
    precision, recall = common / (e - s + 1), common / (e_true - s_true + 1)
    return 2 * precision * recall / (precision + recall)


def train_epoch(model, loader, optimizer, criterion):
    model.train()
    losses = []
    for passage, question, s, e in loader:
        start_logits, end_logits = model(passage, question)
        loss = criterion(start_logits, s) + criterion(end_logits, e)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), cfg.clip)
        optimizer.step()
        losses.append(loss.item())
    return sum(losses) / len(losses)


@torch.no_grad()
def validate(model, loader):
    model.eval()
    exact, f1, n = 0, 0.0, 0
    for passage, question, s, e in loader:
        s_hat, e_hat = best_span(*model(passage, question))
        exact += ((s_hat == s) & (e_hat == e)).sum().item()
        f1 += sum(f1_of_span(*row) for row in zip(s_hat.tolist(), e_hat.tolist(), s.tolist(), e.tolist()))
        n += len(s)
    return exact / n, f1 / n


def main():
    random.seed(cfg.seed)
    torch.manual_seed(cfg.seed)
    examples = [example() for _ in range(1100)]
    train_examples, dev_examples = examples[:900], examples[900:]
    word2idx = {"<pad>": 0, "<unk>": 1}
    for passage, question, *_ in train_examples:
        for word in passage + question:
            word2idx.setdefault(word, len(word2idx))
    train_loader = DataLoader(SquadLike(train_examples, word2idx), batch_size=cfg.batch, shuffle=True)
    dev_loader = DataLoader(SquadLike(dev_examples, word2idx), batch_size=50)

    model = AttentiveReader(len(word2idx), cfg.d, cfg.hidden)
    optimizer = torch.optim.Adamax(model.parameters(), lr=cfg.lr)
    criterion = nn.CrossEntropyLoss()
    best_em, patience = -1.0, 0
    for epoch in range(cfg.epochs):
        loss = train_epoch(model, train_loader, optimizer, criterion)
        em, f1 = validate(model, dev_loader)
        print(f"epoch {epoch}: loss {loss:.3f} EM {em:.3f} F1 {f1:.3f}")
        if em > best_em:
            best_em, patience = em, 0
        else:
            patience += 1
            if patience == 2:
                break
    print("best EM", round(best_em, 3))


if __name__ == "__main__":
    main()
