"""Reviews of different lengths by a packed GRU: stars as classes, weights for rare stars, a test after each epoch."""

import torch
import torch.nn as nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_sequence
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(51)
WORDS, STARS = 60, 4


class Reviews(Dataset):
    def __init__(self, n):
        self.stars = torch.multinomial(torch.tensor([0.1, 0.15, 0.25, 0.5]), n, replacement=True)
        self.texts = []
        for star in self.stars.tolist():
            length = int(torch.randint(6, 16, ()))
            own = torch.randint(1 + 10 * star, 11 + 10 * star, (length,))
            self.texts.append(torch.where(torch.rand(length) < 0.4, own, torch.randint(1, WORDS, (length,))))

    def __len__(self):
        return len(self.texts)

    def __getitem__(self, i):
        return self.texts[i], self.stars[i]


def collate(rows):
    texts, stars = zip(*rows)
    return pad_sequence(list(texts), batch_first=True), torch.tensor([len(t) for t in texts]), torch.stack(list(stars))


class ReviewNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding, self.dropout = nn.Embedding(WORDS, 24, padding_idx=0), nn.Dropout(0.2)
        self.gru, self.fc = nn.GRU(24, 32, batch_first=True, bidirectional=True), nn.Linear(64, STARS)

    def forward(self, x, lengths):
        packed = pack_padded_sequence(self.dropout(self.embedding(x)), lengths, batch_first=True, enforce_sorted=False)
        _, h = self.gru(packed)
        return self.fc(self.dropout(torch.cat([h[0], h[1]], dim=1)))


train_set, test_set = Reviews(480), Reviews(120)
train_loader = DataLoader(train_set, batch_size=32, shuffle=True, collate_fn=collate)
test_loader = DataLoader(test_set, batch_size=40, collate_fn=collate)
counts = torch.bincount(train_set.stars, minlength=STARS).float()
model = ReviewNet()
criterion = nn.CrossEntropyLoss(weight=counts.sum() / (STARS * counts))
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(2):
    model.train()
    for x, lengths, stars in train_loader:
        optimizer.zero_grad()
        loss = criterion(model(x, lengths), stars)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        optimizer.step()
    model.eval()
    hits = total = 0
    with torch.no_grad():
        for x, lengths, stars in test_loader:
            hits += (model(x, lengths).argmax(1) == stars).sum().item()
            total += len(stars)
    print(epoch, loss.item(), hits / total)
