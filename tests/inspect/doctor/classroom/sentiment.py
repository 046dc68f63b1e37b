"""Reviews good or bad: an LSTM over texts of several lengths, one logit, accuracy on what was held back."""

import torch
import torch.nn as nn
from torch.nn.utils.rnn import pack_padded_sequence
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(1)


class Reviews(Dataset):
    def __init__(self, n):
        self.length = torch.randint(5, 13, (n,))
        self.text = torch.randint(2, 60, (n, 12))
        self.label = (((self.text < 20).float() * (torch.arange(12) < self.length[:, None])).sum(1) > self.length * 0.31).float()
        for i in range(n):
            self.text[i, self.length[i] :] = 0

    def __len__(self):
        return len(self.text)

    def __getitem__(self, i):
        return self.text[i], self.length[i], self.label[i]


class SentimentLSTM(nn.Module):
    def __init__(self, vocab_size=60, embedding_dim=24, hidden_dim=32):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, embedding_dim, padding_idx=0)
        self.lstm = nn.LSTM(embedding_dim, hidden_dim, batch_first=True, bidirectional=True)
        self.dropout = nn.Dropout(0.3)
        self.fc = nn.Linear(2 * hidden_dim, 1)

    def forward(self, text, lengths):
        embedded = self.embedding(text)
        packed = pack_padded_sequence(embedded, lengths, batch_first=True, enforce_sorted=False)
        _, (hidden, _) = self.lstm(packed)
        hidden = torch.cat((hidden[-2], hidden[-1]), dim=1)
        return self.fc(self.dropout(hidden))


train_loader = DataLoader(Reviews(480), batch_size=32, shuffle=True)
valid_loader = DataLoader(Reviews(96), batch_size=32)
model = SentimentLSTM()
criterion = nn.BCEWithLogitsLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)


def evaluate(loader):
    model.eval()
    correct = total = 0
    with torch.no_grad():
        for text, lengths, label in loader:
            prediction = torch.sigmoid(model(text, lengths).squeeze(1)) > 0.5
            correct += (prediction == label.bool()).sum().item()
            total += len(label)
    return correct / total


for epoch in range(3):
    model.train()
    epoch_loss = 0.0
    for text, lengths, label in train_loader:
        optimizer.zero_grad()
        output = model(text, lengths).squeeze(1)
        loss = criterion(output, label)
        loss.backward()
        optimizer.step()
        epoch_loss += loss.item()
    print(epoch, f"{epoch_loss / len(train_loader):.3f}", f"{evaluate(valid_loader):.2f}")
