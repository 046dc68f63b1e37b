import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset, random_split

# Multi-label classification: several attributes per picture, one sigmoid each

CFG = {
    "seed": 42,
    "n": 1500,
    "size": 20,
    "batch_size": 50,
    "epochs": 6,
    "lr": 3e-3,
    "weight_decay": 1e-4,
    "threshold": 0.5,
    "attributes": ["hat", "glasses", "smile", "beard", "earring"],
    "freq": [0.2, 0.35, 0.5, 0.3, 0.15],
}
torch.manual_seed(CFG["seed"])
rng = np.random.RandomState(CFG["seed"])


def render(attrs):
    s = CFG["size"]
    canvas = rng.randn(s, s) * 0.4 + rng.uniform(-0.2, 0.2)
    dy, dx = rng.randint(-1, 2, 2)
    yy, xx = np.mgrid[0:s, 0:s]
    canvas[((yy - 10 - dy) ** 2 + (xx - 10 - dx) ** 2) < 50] += 0.5
    if attrs[0]:
        canvas[1 + dy : 4 + dy, 5 + dx : 15 + dx] += 1.0
    if attrs[1]:
        canvas[7 + dy : 9 + dy, 5 + dx : 9 + dx] -= 1.0
        canvas[7 + dy : 9 + dy, 11 + dx : 15 + dx] -= 1.0
    if attrs[2]:
        canvas[13 + dy, 7 + dx : 13 + dx] += 1.2
    if attrs[3]:
        canvas[15 + dy : 17 + dy, 7 + dx : 13 + dx] -= 0.9
    if attrs[4]:
        canvas[10 + dy : 13 + dy, 2 + dx] += 1.3
    return canvas


class FaceDataset(Dataset):
    def __init__(self, n):
        self.attrs = (rng.rand(n, 5) < np.array(CFG["freq"])).astype(np.float32)
        self.images = np.stack([render(a) for a in self.attrs]).astype(np.float32)

    def __len__(self):
        return len(self.images)

    def __getitem__(self, index):
        image = torch.from_numpy(self.images[index]).unsqueeze(0)
        return {"image": image, "attrs": torch.from_numpy(self.attrs[index])}


class ConvBlock(nn.Module):
    def __init__(self, cin, cout):
        super().__init__()
        self.conv = nn.Conv2d(cin, cout, 3, padding=1)
        self.bn = nn.BatchNorm2d(cout)
        self.act = nn.ReLU(inplace=True)

    def forward(self, x):
        return self.act(self.bn(self.conv(x)))


class TagNet(nn.Module):
    def __init__(self, n_tags):
        super().__init__()
        self.block1 = ConvBlock(1, 12)
        self.block2 = ConvBlock(12, 24)
        self.pool = nn.MaxPool2d(2)
        self.dropout = nn.Dropout(p=0.25)
        self.head = nn.Linear(24 * 5 * 5, n_tags)

    def forward(self, image):
        h = self.pool(self.block1(image))
        h = self.pool(self.block2(h))
        h = self.dropout(h.reshape(h.size(0), -1))
        return self.head(h)


def f1_per_tag(y_true, y_pred):
    tp = (y_true * y_pred).sum(0)
    fp = ((1 - y_true) * y_pred).sum(0)
    fn = (y_true * (1 - y_pred)).sum(0)
    return 2 * tp / (2 * tp + fp + fn + 1e-8)


dataset = FaceDataset(CFG["n"])
train_set, val_set, test_set = random_split(dataset, [1000, 200, 300], generator=torch.Generator().manual_seed(0))
train_loader = DataLoader(train_set, batch_size=CFG["batch_size"], shuffle=True, drop_last=True)
val_loader = DataLoader(val_set, batch_size=100)
test_loader = DataLoader(test_set, batch_size=100)

positive = torch.from_numpy(dataset.attrs[train_set.indices]).sum(0)
pos_weight = (len(train_set) - positive) / positive
model = TagNet(len(CFG["attributes"]))
loss_fn = nn.BCEWithLogitsLoss(pos_weight=pos_weight)
optimizer = torch.optim.AdamW(model.parameters(), lr=CFG["lr"], weight_decay=CFG["weight_decay"])
scheduler = torch.optim.lr_scheduler.OneCycleLR(
    optimizer, max_lr=CFG["lr"], epochs=CFG["epochs"], steps_per_epoch=len(train_loader)
)


def train_epoch():
    model.train()
    losses = []
    for batch in train_loader:
        x, y = batch["image"], batch["attrs"]
        logits = model(x)
        loss = loss_fn(logits, y)
        loss.backward()
        optimizer.step()
        scheduler.step()
        optimizer.zero_grad()
        losses.append(loss.item())
    return np.mean(losses)


@torch.no_grad()
def evaluate(loader):
    model.eval()
    y_true, y_pred = [], []
    for batch in loader:
        probs = torch.sigmoid(model(batch["image"]))
        y_true.append(batch["attrs"])
        y_pred.append((probs > CFG["threshold"]).float())
    y_true, y_pred = torch.cat(y_true), torch.cat(y_pred)
    return f1_per_tag(y_true, y_pred), (y_true == y_pred).all(dim=1).float().mean().item()


best_f1 = 0.0
for epoch in range(CFG["epochs"]):
    train_loss = train_epoch()
    f1, exact = evaluate(val_loader)
    print(f"epoch {epoch}: loss {train_loss:.4f}, macro F1 {f1.mean():.3f}, exact match {exact:.3f}")
    if f1.mean().item() > best_f1:
        best_f1 = f1.mean().item()
        torch.save({"model": model.state_dict(), "epoch": epoch}, "best_tags.pt")

model.load_state_dict(torch.load("best_tags.pt")["model"])
f1, exact = evaluate(test_loader)
for name, value in zip(CFG["attributes"], f1.tolist()):
    print(f"  {name:8s} F1 {value:.3f}")
print(f"test exact match {exact:.3f}")
