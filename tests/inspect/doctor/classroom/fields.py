"""Fields, roads and water seen from above: a pretrained encoder that stays frozen at first, a decoder, void pixels, IoU."""

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(42)
VOID, CLASSES = 255, 3


def scenes(n):
    ys, xs = torch.meshgrid(torch.arange(24.0), torch.arange(24.0), indexing="ij")
    labels = torch.zeros(n, 24, 24, dtype=torch.long)
    for i in range(n):
        a, b = torch.rand(2) * 2 - 1
        road = ((xs - 12) * a + (ys - 12) * b).abs() < 2.0
        cx, cy, r = (torch.rand(3) * torch.tensor([24.0, 24.0, 5.0]) + torch.tensor([0.0, 0.0, 3.0])).tolist()
        labels[i][(xs - cx) ** 2 + (ys - cy) ** 2 < r * r] = 2
        labels[i][road] = 1
        labels[i][:, :2] = VOID
    tone = torch.tensor([[0.3, 0.6, 0.2], [0.5, 0.5, 0.5], [0.1, 0.2, 0.7]])
    pictures = tone[labels.clamp(max=2)].permute(0, 3, 1, 2) + 0.12 * torch.randn(n, 3, 24, 24)
    return pictures, labels


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU())
        self.down = nn.Sequential(nn.Conv2d(16, 32, 3, stride=2, padding=1), nn.BatchNorm2d(32), nn.ReLU())
        self.deep = nn.Sequential(nn.Conv2d(32, 32, 3, stride=2, padding=1), nn.BatchNorm2d(32), nn.ReLU())

    def forward(self, x):
        a = self.stem(x)
        b = self.down(a)
        return a, b, self.deep(b)


class Segmenter(nn.Module):
    def __init__(self, encoder):
        super().__init__()
        self.encoder = encoder
        self.up1 = nn.ConvTranspose2d(32, 32, 2, stride=2)
        self.mix1 = nn.Conv2d(64, 32, 3, padding=1)
        self.up2 = nn.ConvTranspose2d(32, 16, 2, stride=2)
        self.mix2 = nn.Conv2d(32, 16, 3, padding=1)
        self.head = nn.Conv2d(16, CLASSES, 1)

    def forward(self, x):
        a, b, c = self.encoder(x)
        h = F.relu(self.mix1(torch.cat([self.up1(c), b], dim=1)))
        h = F.relu(self.mix2(torch.cat([self.up2(h), a], dim=1)))
        return self.head(h)


def dice_loss(logits, labels):
    seen = (labels != VOID).unsqueeze(1)
    p = logits.softmax(dim=1) * seen
    t = F.one_hot(labels.clamp(max=CLASSES - 1), CLASSES).permute(0, 3, 1, 2) * seen
    hit = (p * t).sum(dim=(0, 2, 3))
    return 1 - ((2 * hit + 1) / (p.sum(dim=(0, 2, 3)) + t.sum(dim=(0, 2, 3)) + 1)).mean()


def mean_iou(model, loader):
    model.eval()
    both, either = torch.zeros(CLASSES), torch.zeros(CLASSES)
    with torch.no_grad():
        for x, y in loader:
            guess = model((x - mean) / std).argmax(dim=1)
            known = y != VOID
            for c in range(CLASSES):
                g, t = (guess == c) & known, (y == c) & known
                both[c] += (g & t).sum()
                either[c] += (g | t).sum()
    return (both / either.clamp(min=1)).mean().item()


pictures, labels = scenes(260)
train_set, val_set = TensorDataset(pictures[:200], labels[:200]), TensorDataset(pictures[200:], labels[200:])
mean = pictures[:200].mean(dim=(0, 2, 3)).view(1, 3, 1, 1)
std = pictures[:200].std(dim=(0, 2, 3)).view(1, 3, 1, 1)
train_loader = DataLoader(train_set, batch_size=16, shuffle=True)
val_loader = DataLoader(val_set, batch_size=30)

encoder = Encoder()
torch.save(encoder.state_dict(), "encoder.pt")  # in the place of a download
model = Segmenter(Encoder())
model.encoder.load_state_dict(torch.load("encoder.pt"))
counts = torch.bincount(labels[:200][labels[:200] != VOID], minlength=CLASSES).float()
weight = counts.sum() / (CLASSES * counts)
criterion = nn.CrossEntropyLoss(weight=weight, ignore_index=VOID)

for p in model.encoder.parameters():
    p.requires_grad = False
head = [p for name, p in model.named_parameters() if not name.startswith("encoder")]
optimizer = torch.optim.SGD(
    [{"params": head, "lr": 0.05}, {"params": model.encoder.parameters(), "lr": 0.005}], momentum=0.9, weight_decay=1e-4
)
total = 4 * len(train_loader)
scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: (1 - step / total) ** 0.9 if step < total else 0.01)

for epoch in range(4):
    model.train()
    if epoch == 1:
        for p in model.encoder.parameters():
            p.requires_grad = True
    for x, y in train_loader:
        if torch.rand(1) < 0.5:
            x, y = x.flip(-1), y.flip(-1)
        logits = model((x - mean) / std)
        loss = criterion(logits, y) + 0.5 * dice_loss(logits, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step()
    print(f"epoch {epoch} loss {loss.item():.3f} mIoU {mean_iou(model, val_loader):.3f}")
