"""Finding drugs and doses in clinical notes: a Transformer encoder that tags tokens."""

import math
import random

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset

TAG2ID = {"O": 0, "B-DRUG": 1, "I-DRUG": 2, "B-DOSE": 3, "I-DOSE": 4, "B-PROBLEM": 5}
ID2TAG = {i: t for t, i in TAG2ID.items()}
PAD_ID, UNK_ID, IGNORE = 0, 1, -100
MAX_LEN = 24


def note(rng):
    drugs = [["aspirin"], ["ibuprofen"], ["vitamin", "d"], ["folic", "acid"], ["insulin"], ["acid", "blocker"]]
    problems = ["pain", "fever", "cough", "nausea", "rash"]
    words, tags = [], []

    def say(text):
        for w in text.split():
            words.append(w)
            tags.append("O")

    def mark(tokens, kind):
        for i, w in enumerate(tokens):
            words.append(w)
            tags.append(("B-" if i == 0 else "I-") + kind)

    say(rng.choice(["patient has", "he reports", "she has had", "complains of"]))
    mark([rng.choice(problems)], "PROBLEM")
    say(rng.choice(["and", "today and", "since 2 days and"]))
    say(rng.choice(["was given", "takes", "is on", "was started on"]))
    mark(rng.choice(drugs), "DRUG")
    mark([rng.choice(["5", "10", "20", "100"]), rng.choice(["mg", "ml", "units"])], "DOSE")
    if rng.random() < 0.6:
        say(rng.choice(["daily", "twice a day", "for 2 weeks"]))
    if rng.random() < 0.4:
        say("no")
        words.append(rng.choice(problems))
        tags.append("O")
    return words, tags


class NotesDataset(Dataset):
    def __init__(self, notes, word2id):
        self.items = []
        for words, tags in notes:
            ids = [word2id.get(w, UNK_ID) for w in words]
            labels = [TAG2ID[t] for t in tags]
            padding = MAX_LEN - len(ids)
            self.items.append(
                {
                    "input_ids": torch.tensor(ids + [PAD_ID] * padding),
                    "attention_mask": torch.tensor([1] * len(ids) + [0] * padding),
                    "labels": torch.tensor(labels + [IGNORE] * padding),
                }
            )

    def __len__(self):
        return len(self.items)

    def __getitem__(self, index):
        return self.items[index]


class PositionalEncoding(nn.Module):
    def __init__(self, d_model, max_len=64):
        super().__init__()
        position = torch.arange(max_len).unsqueeze(1)
        div_term = torch.exp(torch.arange(0, d_model, 2) * (-math.log(10000.0) / d_model))
        pe = torch.zeros(1, max_len, d_model)
        pe[0, :, 0::2] = torch.sin(position * div_term)
        pe[0, :, 1::2] = torch.cos(position * div_term)
        self.register_buffer("pe", pe)

    def forward(self, x):
        return x + self.pe[:, : x.size(1)]


class TokenClassifier(nn.Module):
    def __init__(self, vocab_size, num_tags, d_model=32, nhead=4, num_layers=2, dropout=0.1):
        super().__init__()
        self.d_model = d_model
        self.embedding = nn.Embedding(vocab_size, d_model, padding_idx=PAD_ID)
        self.positional = PositionalEncoding(d_model)
        layer = nn.TransformerEncoderLayer(d_model, nhead, dim_feedforward=64, dropout=dropout, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, num_layers)
        self.classifier = nn.Linear(d_model, num_tags)

    def forward(self, input_ids, attention_mask):
        x = self.positional(self.embedding(input_ids) * math.sqrt(self.d_model))
        x = self.encoder(x, src_key_padding_mask=attention_mask == 0)
        return self.classifier(x)


def spans(tags):
    found, start = set(), None
    for i, tag in enumerate([*tags, "O"]):
        if start is not None and not tag.startswith("I-"):
            found.add((start, i, tags[start][2:]))
            start = None
        if tag.startswith("B-"):
            start = i
    return found


class Trainer:
    def __init__(self, model, train_loader, valid_loader, lr=2e-3, epochs=4):
        self.model = model
        self.train_loader = train_loader
        self.valid_loader = valid_loader
        self.epochs = epochs
        self.loss_fn = nn.CrossEntropyLoss(ignore_index=IGNORE)
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=lr, weight_decay=0.01)
        total = epochs * len(train_loader)
        self.scheduler = torch.optim.lr_scheduler.OneCycleLR(self.optimizer, max_lr=lr, total_steps=total)
        self.history = {"loss": [], "f1": []}

    def fit(self):
        for epoch in range(self.epochs):
            loss = self.train_epoch()
            precision, recall, f1 = self.evaluate()
            self.history["loss"].append(loss)
            self.history["f1"].append(f1)
            print(f"[{epoch + 1}/{self.epochs}] loss={loss:.4f} P={precision:.3f} R={recall:.3f} F1={f1:.3f}")
        return self.history

    def train_epoch(self):
        self.model.train()
        running = 0.0
        for batch in self.train_loader:
            self.optimizer.zero_grad()
            logits = self.model(batch["input_ids"], batch["attention_mask"])
            loss = self.loss_fn(logits.view(-1, logits.size(-1)), batch["labels"].view(-1))
            loss.backward()
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), max_norm=1.0)
            self.optimizer.step()
            self.scheduler.step()
            running += loss.item()
        return running / len(self.train_loader)

    @torch.no_grad()
    def evaluate(self):
        self.model.eval()
        right = predicted = actual = 0
        for batch in self.valid_loader:
            logits = self.model(batch["input_ids"], batch["attention_mask"])
            predictions = logits.argmax(dim=-1)
            for row, gold, mask in zip(predictions, batch["labels"], batch["attention_mask"]):
                keep = mask.bool()
                guess = spans([ID2TAG[i] for i in row[keep].tolist()])
                truth = spans([ID2TAG[i] for i in gold[keep].tolist()])
                right += len(guess & truth)
                predicted += len(guess)
                actual += len(truth)
        precision = right / max(predicted, 1)
        recall = right / max(actual, 1)
        return precision, recall, 2 * precision * recall / max(precision + recall, 1e-9)


def main():
    rng = random.Random(0)
    torch.manual_seed(0)
    notes = [note(rng) for _ in range(900)]
    train_notes, valid_notes = notes[:750], notes[750:]
    word2id = {"[PAD]": PAD_ID, "[UNK]": UNK_ID}
    for words, _ in train_notes:
        for word in words:
            word2id.setdefault(word, len(word2id))
    train_loader = DataLoader(NotesDataset(train_notes, word2id), batch_size=16, shuffle=True)
    valid_loader = DataLoader(NotesDataset(valid_notes, word2id), batch_size=32)
    model = TokenClassifier(len(word2id), len(TAG2ID))
    Trainer(model, train_loader, valid_loader).fit()


if __name__ == "__main__":
    main()
