"""Sentiment of film reviews with a bidirectional LSTM."""

import random
import time
from collections import Counter

import torch
import torch.nn as nn
import torch.optim as optim
from torch.nn.utils.rnn import pack_padded_sequence, pad_sequence
from torch.utils.data import DataLoader

SEED = 1234
random.seed(SEED)
torch.manual_seed(SEED)

GOOD = "great wonderful brilliant moving funny superb touching charming".split()
BAD = "boring awful terrible dull weak stupid lazy annoying".split()
NEUTRAL = "the film movie story actors plot was is with a scene ending music and it in this of director camera".split()


def make_review():
    label = random.randint(0, 1)
    words = random.choices(NEUTRAL, k=random.randint(6, 22))
    for _ in range(random.randint(1, 3)):
        words.insert(random.randrange(len(words)), random.choice(GOOD if label else BAD))
    if random.random() < 0.3:  # "not boring" is good
        words.insert(random.randrange(len(words)), "not " + random.choice(BAD if label else GOOD))
    return " ".join(words), label


reviews = [make_review() for _ in range(1500)]
train_data, valid_data, test_data = reviews[:1000], reviews[1000:1250], reviews[1250:]

# vocabulary
counter = Counter(word for text, _ in train_data for word in text.split())
itos = ["<pad>", "<unk>"] + [word for word, count in counter.most_common() if count >= 2]
stoi = {word: i for i, word in enumerate(itos)}
PAD_IDX, UNK_IDX = stoi["<pad>"], stoi["<unk>"]


def collate(batch):
    texts, labels = [], []
    for text, label in batch:
        texts.append(torch.tensor([stoi.get(word, UNK_IDX) for word in text.split()]))
        labels.append(label)
    lengths = torch.tensor([len(t) for t in texts])
    return pad_sequence(texts, batch_first=True, padding_value=PAD_IDX), lengths, torch.tensor(labels, dtype=torch.float)


BATCH_SIZE = 50
train_iterator = DataLoader(train_data, batch_size=BATCH_SIZE, shuffle=True, collate_fn=collate)
valid_iterator = DataLoader(valid_data, batch_size=BATCH_SIZE, collate_fn=collate)
test_iterator = DataLoader(test_data, batch_size=BATCH_SIZE, collate_fn=collate)


class RNN(nn.Module):
    def __init__(self, vocab_size, embedding_dim, hidden_dim, output_dim, n_layers, dropout, pad_idx):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, embedding_dim, padding_idx=pad_idx)
        self.rnn = nn.LSTM(embedding_dim, hidden_dim, num_layers=n_layers, bidirectional=True, dropout=dropout, batch_first=True)
        self.fc = nn.Linear(hidden_dim * 2, output_dim)
        self.dropout = nn.Dropout(dropout)

    def forward(self, text, text_lengths):
        embedded = self.dropout(self.embedding(text))
        packed = pack_padded_sequence(embedded, text_lengths, batch_first=True, enforce_sorted=False)
        _, (hidden, cell) = self.rnn(packed)
        hidden = self.dropout(torch.cat((hidden[-2], hidden[-1]), dim=1))
        return self.fc(hidden)


model = RNN(len(itos), 32, 32, 1, 2, 0.3, PAD_IDX)
print(f"The model has {sum(p.numel() for p in model.parameters() if p.requires_grad):,} trainable parameters")
optimizer = optim.Adam(model.parameters(), lr=0.003)
criterion = nn.BCEWithLogitsLoss()


def binary_accuracy(preds, y):
    rounded_preds = torch.round(torch.sigmoid(preds))
    correct = (rounded_preds == y).float()
    return correct.sum() / len(correct)


def train(model, iterator, optimizer, criterion):
    epoch_loss, epoch_acc = 0, 0
    model.train()
    for text, lengths, labels in iterator:
        optimizer.zero_grad()
        predictions = model(text, lengths).squeeze(1)
        loss = criterion(predictions, labels)
        acc = binary_accuracy(predictions, labels)
        loss.backward()
        optimizer.step()
        epoch_loss += loss.item()
        epoch_acc += acc.item()
    return epoch_loss / len(iterator), epoch_acc / len(iterator)


def evaluate(model, iterator, criterion):
    epoch_loss, epoch_acc = 0, 0
    model.eval()
    with torch.no_grad():
        for text, lengths, labels in iterator:
            predictions = model(text, lengths).squeeze(1)
            loss = criterion(predictions, labels)
            acc = binary_accuracy(predictions, labels)
            epoch_loss += loss.item()
            epoch_acc += acc.item()
    return epoch_loss / len(iterator), epoch_acc / len(iterator)


N_EPOCHS = 4
best_valid_loss = float("inf")
for epoch in range(N_EPOCHS):
    start_time = time.time()
    train_loss, train_acc = train(model, train_iterator, optimizer, criterion)
    valid_loss, valid_acc = evaluate(model, valid_iterator, criterion)
    if valid_loss < best_valid_loss:
        best_valid_loss = valid_loss
        torch.save(model.state_dict(), "tut-model.pt")
    print(f"Epoch: {epoch + 1:02} | Time: {time.time() - start_time:.1f}s")
    print(f"\tTrain Loss: {train_loss:.3f} | Train Acc: {train_acc * 100:.2f}%")
    print(f"\t Val. Loss: {valid_loss:.3f} |  Val. Acc: {valid_acc * 100:.2f}%")

model.load_state_dict(torch.load("tut-model.pt"))
test_loss, test_acc = evaluate(model, test_iterator, criterion)
print(f"Test Loss: {test_loss:.3f} | Test Acc: {test_acc * 100:.2f}%")
