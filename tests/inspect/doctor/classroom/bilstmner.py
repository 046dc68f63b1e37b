"""Named entity recognition with a BiLSTM tagger."""

import random

import torch
import torch.nn as nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader, Dataset

random.seed(5)
torch.manual_seed(5)

PERSONS = ["anna", "bela", "carl", "dora", "emil", "frida", "georg", "hanna"]
SURNAMES = ["berg", "stein", "wolf", "lang", "klein", "vogel"]
PLACES = ["paris", "rome", "oslo", "lima", "cairo", "quito", "delhi"]
ORGS = ["acme", "globex", "initech", "umbrella", "hooli"]
TAGS = ["O", "B-PER", "I-PER", "B-LOC", "B-ORG"]
TEMPLATES = [
    "PER lives in LOC",
    "yesterday PER flew from LOC to LOC",
    "PER works for ORG in LOC",
    "the office of ORG is in LOC",
    "ORG hired PER last week",
    "PER met PER near LOC and they talked about ORG",
]


def make_sentence():
    words, tags = [], []
    for token in random.choice(TEMPLATES).split():
        if token == "PER":
            words.append(random.choice(PERSONS))
            tags.append("B-PER")
            if random.random() < 0.5:
                words.append(random.choice(SURNAMES))
                tags.append("I-PER")
        elif token == "LOC":
            words.append(random.choice(PLACES))
            tags.append("B-LOC")
        elif token == "ORG":
            # some companies are called like their founders
            words.append(random.choice(ORGS + SURNAMES))
            tags.append("B-ORG")
        else:
            words.append(token)
            tags.append("O")
    return words, tags


class NERDataset(Dataset):
    def __init__(self, sentences, word2idx, tag2idx):
        self.sentences = sentences
        self.word2idx = word2idx
        self.tag2idx = tag2idx

    def __len__(self):
        return len(self.sentences)

    def __getitem__(self, idx):
        words, tags = self.sentences[idx]
        x = torch.tensor([self.word2idx.get(w, 1) for w in words])
        y = torch.tensor([self.tag2idx[t] for t in tags])
        return x, y


def collate_fn(batch):
    xs, ys = zip(*batch)
    xs = pad_sequence(xs, batch_first=True, padding_value=0)
    ys = pad_sequence(ys, batch_first=True, padding_value=-100)
    return xs, ys


class BiLSTMTagger(nn.Module):
    def __init__(self, vocab_size, tagset_size, embedding_dim=32, hidden_dim=64):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, embedding_dim, padding_idx=0)
        self.lstm = nn.LSTM(embedding_dim, hidden_dim // 2, bidirectional=True, batch_first=True)
        self.dropout = nn.Dropout(0.3)
        self.hidden2tag = nn.Linear(hidden_dim, tagset_size)

    def forward(self, sentence):
        embeds = self.dropout(self.embedding(sentence))
        lstm_out, _ = self.lstm(embeds)
        return self.hidden2tag(self.dropout(lstm_out))


def token_accuracy(model, loader):
    model.eval()
    correct = total = 0
    entity_correct = entity_total = 0
    with torch.no_grad():
        for x, y in loader:
            pred = model(x).argmax(dim=-1)
            mask = y != -100
            correct += (pred[mask] == y[mask]).sum().item()
            total += mask.sum().item()
            entity = mask & (y != 0)
            entity_correct += (pred[entity] == y[entity]).sum().item()
            entity_total += entity.sum().item()
    return correct / total, entity_correct / entity_total


data = [make_sentence() for _ in range(1200)]
train_sents, val_sents = data[:1000], data[1000:]
word2idx = {"<PAD>": 0, "<UNK>": 1}
for words, _ in train_sents:
    for w in words:
        word2idx.setdefault(w, len(word2idx))
tag2idx = {t: i for i, t in enumerate(TAGS)}

train_loader = DataLoader(NERDataset(train_sents, word2idx, tag2idx), batch_size=32, shuffle=True, collate_fn=collate_fn)
val_loader = DataLoader(NERDataset(val_sents, word2idx, tag2idx), batch_size=64, collate_fn=collate_fn)

model = BiLSTMTagger(len(word2idx), len(TAGS))
loss_function = nn.CrossEntropyLoss(ignore_index=-100)
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, mode="max", patience=1)

for epoch in range(4):
    model.train()
    total_loss = 0
    for x, y in train_loader:
        model.zero_grad()
        tag_scores = model(x)
        loss = loss_function(tag_scores.view(-1, len(TAGS)), y.view(-1))
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        optimizer.step()
        total_loss += loss.item()
    acc, entity_acc = token_accuracy(model, val_loader)
    scheduler.step(entity_acc)
    print(f"Epoch {epoch}: loss {total_loss / len(train_loader):.4f}, token acc {acc:.4f}, entity acc {entity_acc:.4f}")
