"""A character LSTM over one long stream in columns; the state is carried from stretch to stretch and cut between them."""

import torch
import torch.nn as nn

torch.manual_seed(4)
VOCAB, COLUMNS, BPTT = 28, 8, 12
step_of = torch.randint(1, 4, (VOCAB,))
stream = [0]
for _ in range(COLUMNS * 260):
    stream.append((stream[-1] + int(step_of[stream[-1]])) % VOCAB if torch.rand(1) < 0.9 else int(torch.randint(VOCAB, (1,))))
data = torch.tensor(stream[: COLUMNS * 260]).view(COLUMNS, -1).t().contiguous()
train_data, val_data = data[:220], data[220:]


class RNNModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.drop, self.encoder = nn.Dropout(0.2), nn.Embedding(VOCAB, 32)
        self.rnn, self.decoder = nn.LSTM(32, 48, 2, dropout=0.2), nn.Linear(48, VOCAB)

    def forward(self, x, hidden):
        emb = self.drop(self.encoder(x))
        output, hidden = self.rnn(emb, hidden)
        return self.decoder(self.drop(output)).view(-1, VOCAB), hidden

    def init_hidden(self, n):
        return torch.zeros(2, n, 48), torch.zeros(2, n, 48)


def repackage_hidden(h):
    return tuple(v.detach() for v in h)


def get_batch(source, i):
    seq_len = min(BPTT, len(source) - 1 - i)
    return source[i : i + seq_len], source[i + 1 : i + 1 + seq_len].reshape(-1)


def evaluate():
    model.eval()
    total, hidden = 0.0, model.init_hidden(COLUMNS)
    with torch.no_grad():
        for i in range(0, val_data.size(0) - 1, BPTT):
            x, targets = get_batch(val_data, i)
            output, hidden = model(x, hidden)
            total += len(x) * criterion(output, targets).item()
    return total / (len(val_data) - 1)


model, criterion = RNNModel(), nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(2):
    model.train()
    hidden = model.init_hidden(COLUMNS)
    for i in range(0, train_data.size(0) - 1, BPTT):
        x, targets = get_batch(train_data, i)
        hidden = repackage_hidden(hidden)
        optimizer.zero_grad()
        output, hidden = model(x, hidden)
        loss = criterion(output, targets)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 0.5)
        optimizer.step()
    print(epoch, loss.item(), evaluate())
