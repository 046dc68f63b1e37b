"""Which of four sounds are in a recording: a spectrogram of one's own, several labels, mixup, rare classes weighed."""

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, random_split

torch.manual_seed(909)
RATE, LENGTH, SOUNDS = 1000, 512, 4
PITCH = torch.tensor([60.0, 120.0, 210.0, 330.0])
OFTEN = torch.tensor([0.5, 0.4, 0.25, 0.12])


class Recordings(Dataset):
    def __init__(self, n):
        t = torch.arange(LENGTH) / RATE
        self.labels = (torch.rand(n, SOUNDS) < OFTEN).float()
        phase = 6.28 * torch.rand(n, SOUNDS, 1)
        loud = 0.5 + torch.rand(n, SOUNDS, 1)
        waves = torch.sin(6.2832 * PITCH[:, None] * t + phase) * loud * self.labels.unsqueeze(-1)
        self.waves = waves.sum(dim=1) + 0.5 * torch.randn(n, LENGTH)

    def __len__(self):
        return len(self.waves)

    def __getitem__(self, i):
        return spectrogram(self.waves[i]), self.labels[i]


def spectrogram(wave, size=64, hop=32):
    frames = wave.unfold(0, size, hop) * torch.hann_window(size)
    power = torch.fft.rfft(frames).abs().pow(2)
    return torch.log1p(power).T.unsqueeze(0)  # (1, 33, frames)


class Listener(nn.Module):
    def __init__(self):
        super().__init__()

        def block(a, b):
            return nn.Sequential(nn.Conv2d(a, b, 3, padding=1, bias=False), nn.BatchNorm2d(b), nn.ReLU(), nn.MaxPool2d((2, 1)))

        self.norm = nn.BatchNorm2d(1)
        self.features = nn.Sequential(block(1, 16), block(16, 32), block(32, 32))
        self.attend = nn.Conv1d(32 * 4, SOUNDS, 1)
        self.classify = nn.Conv1d(32 * 4, SOUNDS, 1)
        self.drop = nn.Dropout(0.2)

    def forward(self, x):
        h = self.features(self.norm(x)).flatten(1, 2)  # (B, channels, frames)
        weights = self.attend(h).softmax(dim=-1)
        return (weights * self.classify(self.drop(h))).sum(dim=-1)


def average_precision(scores, labels):
    out = []
    for c in range(SOUNDS):
        order = scores[:, c].argsort(descending=True)
        hits = labels[order, c]
        precision = hits.cumsum(0) / torch.arange(1, len(hits) + 1)
        out.append((precision * hits).sum() / hits.sum().clamp(min=1))
    return torch.stack(out).mean().item()


def evaluate(model, loader):
    model.eval()
    scores, labels = [], []
    with torch.no_grad():
        for x, y in loader:
            scores.append(torch.sigmoid(model(x)))
            labels.append(y)
    scores, labels = torch.cat(scores), torch.cat(labels)
    return average_precision(scores, labels), ((scores > 0.5) == (labels > 0.5)).float().mean().item()


dataset = Recordings(800)
train_set, valid_set, test_set = random_split(dataset, [560, 120, 120])
train_loader = DataLoader(train_set, batch_size=40, shuffle=True)
valid_loader = DataLoader(valid_set, batch_size=60)
test_loader = DataLoader(test_set, batch_size=60)
positive = torch.stack([y for _, y in train_set]).mean(dim=0)
model = Listener()
criterion = nn.BCEWithLogitsLoss(pos_weight=((1 - positive) / positive).sqrt())
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
scheduler = torch.optim.lr_scheduler.MultiStepLR(optimizer, milestones=[3, 4], gamma=0.3)
for epoch in range(5):
    model.train()
    for x, y in train_loader:
        share = torch.distributions.Beta(0.4, 0.4).sample()
        other = torch.randperm(len(x))
        x, y = share * x + (1 - share) * x[other], share * y + (1 - share) * y[other]
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
    scheduler.step()
    mean, right = evaluate(model, valid_loader)
    print(f"epoch {epoch} loss {loss.item():.3f} mAP {mean:.3f} right {right:.3f}")
print("test", evaluate(model, test_loader))
