"""Feelings of short texts: a Dataset of one's own, a collate function, an LSTM over packed texts, a two-layer head."""

import random

import torch
from torch import nn, optim
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence
from torch.utils.data import DataLoader, Dataset

random.seed(2)
torch.manual_seed(2)
GOOD, BAD = "great lovely fun warm bright".split(), "dull awful cold slow sad".split()
PLAIN = "the a film was and very plot it scene".split()
VOCAB = {"<pad>": 0, "<unk>": 1, **{w: i + 2 for i, w in enumerate(GOOD + BAD + PLAIN)}}


def write(label):
    words = [random.choice(PLAIN) for _ in range(random.randint(4, 14))]
    for _ in range(2):
        words.insert(random.randrange(len(words)), random.choice(GOOD if label else BAD))
    return words, label


class Texts(Dataset):
    def __init__(self, n):
        self.rows = [write(random.random() < 0.5) for _ in range(n)]

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        words, label = self.rows[i]
        return torch.tensor([VOCAB.get(w, 1) for w in words]), float(label)


def collate(batch):
    texts, labels = zip(*batch)
    lengths = torch.tensor([len(t) for t in texts])
    return pad_sequence(texts, batch_first=True, padding_value=0), lengths, torch.tensor(labels)


class Classifier(nn.Module):
    def __init__(self, vocab, emb=24, hidden=32):
        super().__init__()
        self.embedding = nn.Embedding(vocab, emb, padding_idx=0)
        self.lstm = nn.LSTM(emb, hidden, batch_first=True, bidirectional=True)
        self.fc1 = nn.Linear(4 * hidden, 32)
        self.fc2 = nn.Linear(32, 1)
        self.dropout = nn.Dropout(0.3)

    def forward(self, text, lengths):
        embedded = self.dropout(self.embedding(text))
        packed = pack_padded_sequence(embedded, lengths, batch_first=True, enforce_sorted=False)
        output, (hidden, _) = self.lstm(packed)
        output, _ = pad_packed_sequence(output, batch_first=True)
        mean = output.sum(1) / lengths.unsqueeze(1)
        last = torch.cat([hidden[-2], hidden[-1]], dim=1)
        features = torch.relu(self.fc1(torch.cat([mean, last], dim=1)))
        return self.fc2(self.dropout(features)).squeeze(1)


def run(model, loader, criterion, optimizer=None):
    training = optimizer is not None
    model.train(training)
    losses, correct, seen = [], 0, 0
    with torch.set_grad_enabled(training):
        for text, lengths, labels in loader:
            predictions = model(text, lengths)
            loss = criterion(predictions, labels)
            if training:
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(model.parameters(), 5.0)
                optimizer.step()
            losses.append(loss.item())
            correct += ((predictions > 0).float() == labels).sum().item()
            seen += len(labels)
    return sum(losses) / len(losses), correct / seen


train_data, valid_data, test_data = Texts(500), Texts(100), Texts(100)
train_loader = DataLoader(train_data, batch_size=32, shuffle=True, collate_fn=collate)
valid_loader = DataLoader(valid_data, batch_size=32, collate_fn=collate)
test_loader = DataLoader(test_data, batch_size=32, collate_fn=collate)
model = Classifier(len(VOCAB))
criterion = nn.BCEWithLogitsLoss()
optimizer = optim.Adam(model.parameters(), lr=2e-3)
best = 0.0
for epoch in range(2):
    train_loss, train_acc = run(model, train_loader, criterion, optimizer)
    valid_loss, valid_acc = run(model, valid_loader, criterion)
    print(f"{epoch + 1:02} | {train_loss:.3f} {train_acc:.2%} | {valid_loss:.3f} {valid_acc:.2%}")
    if valid_acc > best:
        best = valid_acc
        torch.save(model.state_dict(), "sentiment.pt")
model.load_state_dict(torch.load("sentiment.pt"))
print("test", run(model, test_loader, criterion))
