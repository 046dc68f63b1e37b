"""Who walks by, from a sensor at the hip: recordings of many lengths, a packed GRU, attention over what is there."""

import torch
import torch.nn as nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence
from torch.utils.data import DataLoader, Dataset, WeightedRandomSampler

torch.manual_seed(234)
WALKERS = 5


class Walks(Dataset):
    def __init__(self, n, seed, mean=None, std=None):
        g = torch.Generator().manual_seed(seed)
        self.who = torch.multinomial(torch.tensor([0.35, 0.25, 0.2, 0.12, 0.08]), n, replacement=True, generator=g)
        self.walks = []
        for w in self.who.tolist():
            t = torch.arange(int(torch.randint(20, 60, (1,), generator=g)))
            pace, sway = 0.3 + 0.08 * w, 1.0 + 0.3 * w
            start = 6.28 * torch.rand(1, generator=g)
            walk = torch.stack([sway * torch.sin(pace * t + start), torch.cos(pace * t + start) * 3, 0.1 * t.float()], dim=1)
            self.walks.append(walk + 0.6 * torch.randn(walk.shape, generator=g) + 9.8)
        every = torch.cat(self.walks)
        self.mean = every.mean(dim=0) if mean is None else mean
        self.std = every.std(dim=0) if std is None else std

    def __len__(self):
        return len(self.who)

    def __getitem__(self, i):
        return (self.walks[i] - self.mean) / self.std, self.who[i]


def collate(rows):
    rows = sorted(rows, key=lambda row: -len(row[0]))
    walks, who = zip(*rows)
    lengths = torch.tensor([len(w) for w in walks])
    return pad_sequence(walks, batch_first=True), lengths, torch.stack(who)


class WalkNet(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.conv = nn.Conv1d(3, width, 5, padding=2)
        self.gru = nn.GRU(width, width, batch_first=True, bidirectional=True)
        self.score = nn.Sequential(nn.Linear(2 * width, 32), nn.Tanh(), nn.Linear(32, 1))
        self.head = nn.Sequential(nn.LayerNorm(2 * width), nn.Dropout(0.2), nn.Linear(2 * width, WALKERS))

    def forward(self, x, lengths):
        x = torch.relu(self.conv(x.transpose(1, 2))).transpose(1, 2)
        packed = pack_padded_sequence(x, lengths, batch_first=True)
        states, _ = pad_packed_sequence(self.gru(packed)[0], batch_first=True)
        there = torch.arange(states.size(1)) < lengths[:, None]
        scores = self.score(states).squeeze(-1).masked_fill(~there, float("-inf"))
        weights = torch.softmax(scores, dim=1)
        return self.head((weights.unsqueeze(-1) * states).sum(dim=1))


def run(model, loader, criterion, optimizer=None):
    model.train(optimizer is not None)
    total, right, seen = 0.0, 0, 0
    with torch.set_grad_enabled(optimizer is not None):
        for walks, lengths, who in loader:
            logits = model(walks, lengths)
            loss = criterion(logits, who)
            if optimizer is not None:
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(model.parameters(), 2.0)
                optimizer.step()
            total += loss.item() * len(who)
            right += (logits.argmax(dim=1) == who).sum().item()
            seen += len(who)
    return total / seen, right / seen


train_set = Walks(400, 1)
valid_set = Walks(100, 2, train_set.mean, train_set.std)
counts = torch.bincount(train_set.who, minlength=WALKERS).float()
sampler = WeightedRandomSampler((1.0 / counts)[train_set.who], num_samples=len(train_set))
train_loader = DataLoader(train_set, batch_size=25, sampler=sampler, collate_fn=collate)
valid_loader = DataLoader(valid_set, batch_size=50, collate_fn=collate)
model = WalkNet()
criterion = nn.CrossEntropyLoss(label_smoothing=0.05)
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, mode="max", factor=0.5, patience=1)
for epoch in range(4):
    loss, right = run(model, train_loader, criterion, optimizer)
    valid_loss, valid_right = run(model, valid_loader, criterion)
    scheduler.step(valid_right)
    print(f"{epoch} train {loss:.3f} {right:.2%} valid {valid_loss:.3f} {valid_right:.2%}")
test_loss, test_right = run(
    model, DataLoader(Walks(100, 3, train_set.mean, train_set.std), batch_size=50, collate_fn=collate), criterion
)
print(f"test {test_loss:.3f} {test_right:.2%}")
