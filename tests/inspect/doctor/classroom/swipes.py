# Card fraud, 3 % positives: weighted sampling, focal loss, threshold chosen on validation, F1 on test
import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset, WeightedRandomSampler
from tqdm import tqdm

SEED = 99
rng = np.random.default_rng(SEED)
torch.manual_seed(SEED)


def transactions(n):
    amount = rng.lognormal(3.2, 1.0, n)
    hour = rng.uniform(0, 24, n)
    distance = rng.exponential(12.0, n)
    gap = rng.exponential(30.0, n)
    online = (rng.random(n) < 0.35).astype(float)
    risk = 1.1 * (np.log(amount) - 3.2) + 0.06 * (distance - 12) - 0.035 * (gap - 30) + 0.9 * online + 1.3 * (hour < 5) - 4.4
    fraud = (rng.random(n) < 1 / (1 + np.exp(-1.6 * risk))).astype(np.float32)
    table = np.stack([np.log(amount), np.sin(hour * np.pi / 12), np.cos(hour * np.pi / 12), distance, gap, online], axis=1)
    return table, fraud


class FocalLoss(nn.Module):
    def __init__(self, gamma=1.5):
        super().__init__()
        self.gamma = gamma
        self.bce = nn.BCEWithLogitsLoss(reduction="none")

    def forward(self, logits, targets):
        ce = self.bce(logits, targets)
        p_t = torch.exp(-ce)
        return ((1 - p_t) ** self.gamma * ce).mean()


model = nn.Sequential(
    nn.Linear(6, 48),
    nn.ReLU(),
    nn.Dropout(0.1),
    nn.Linear(48, 24),
    nn.ReLU(),
    nn.Linear(24, 1),
)

features, fraud = transactions(6000)
train_slice, val_slice, test_slice = slice(0, 4000), slice(4000, 5000), slice(5000, 6000)
center, spread = features[train_slice].mean(0), features[train_slice].std(0)
features = torch.tensor((features - center) / spread, dtype=torch.float32)
fraud = torch.tensor(fraud)

train_ds = TensorDataset(features[train_slice], fraud[train_slice])
val_ds = TensorDataset(features[val_slice], fraud[val_slice])
test_ds = TensorDataset(features[test_slice], fraud[test_slice])

frequency = torch.bincount(fraud[train_slice].long())
sample_weight = (1.0 / frequency.float())[fraud[train_slice].long()]
sampler = WeightedRandomSampler(sample_weight, num_samples=len(train_ds), replacement=True)
train_dl = DataLoader(train_ds, batch_size=100, sampler=sampler)
val_dl = DataLoader(val_ds, batch_size=500)
test_dl = DataLoader(test_ds, batch_size=500)

criterion = FocalLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, nesterov=True, weight_decay=1e-4)
scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, mode="max", factor=0.5, patience=1)


def predict(loader):
    model.eval()
    scores, truth = [], []
    with torch.no_grad():
        for xb, yb in loader:
            scores.append(torch.sigmoid(model(xb)).squeeze(1))
            truth.append(yb)
    return torch.cat(scores), torch.cat(truth)


def f1_at(scores, truth, threshold):
    flagged = scores >= threshold
    tp = (flagged & (truth == 1)).sum().item()
    fp = (flagged & (truth == 0)).sum().item()
    fn = (~flagged & (truth == 1)).sum().item()
    precision = tp / (tp + fp) if tp + fp else 0.0
    recall = tp / (tp + fn) if tp + fn else 0.0
    f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    return f1, precision, recall


def average_precision(scores, truth):
    order = scores.argsort(descending=True)
    hits = truth[order].cumsum(0)
    precision = hits / torch.arange(1, len(truth) + 1)
    return (precision * truth[order]).sum().item() / truth.sum().item()


best_ap, no_gain = -1.0, 0
for epoch in range(10):
    model.train()
    total = 0.0
    for xb, yb in tqdm(train_dl, disable=True):
        logits = model(xb).squeeze(1)
        loss = criterion(logits, yb)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    val_scores, val_truth = predict(val_dl)
    ap = average_precision(val_scores, val_truth)
    scheduler.step(ap)
    print(f"epoch {epoch}: loss {total / len(train_dl):.4f}, val AP {ap:.3f}")
    if ap > best_ap:
        best_ap, no_gain = ap, 0
        torch.save({"weights": model.state_dict(), "ap": ap}, "fraud.pt")
    else:
        no_gain += 1
        if no_gain == 4:
            break

model.load_state_dict(torch.load("fraud.pt")["weights"])
val_scores, val_truth = predict(val_dl)
grid = torch.linspace(0.05, 0.95, 19)
threshold = max(grid.tolist(), key=lambda t: f1_at(val_scores, val_truth, t)[0])
test_scores, test_truth = predict(test_dl)
f1, precision, recall = f1_at(test_scores, test_truth, threshold)
print(f"threshold {threshold:.2f}: test F1 {f1:.3f} (precision {precision:.3f}, recall {recall:.3f})")
print(f"test AP {average_precision(test_scores, test_truth):.3f}, frauds {int(test_truth.sum())} of {len(test_truth)}")
