# SimCLR in miniature: contrastive pretraining without labels, then a linear probe.
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, Dataset

TEMPERATURE = 0.3
BATCH = 64
EPOCHS = 6
torch.manual_seed(11)


class Blobs(Dataset):
    """1 x 16 x 16 pictures; the class is the kind of stripes."""

    def __init__(self, n, seed):
        gen = torch.Generator().manual_seed(seed)
        self.y = torch.randint(0, 4, (n,), generator=gen)
        r, c = torch.meshgrid(torch.arange(16.0), torch.arange(16.0), indexing="ij")
        waves = torch.stack([torch.sin(r), torch.sin(c), torch.sin(0.7 * (r + c)), torch.sin(0.7 * (r - c))])
        gain = 0.5 + torch.rand(n, 1, 1, generator=gen)
        self.x = (waves[self.y] * gain + 0.5 * torch.randn(n, 16, 16, generator=gen)).unsqueeze(1)

    def __len__(self):
        return len(self.y)

    def __getitem__(self, idx):
        return self.x[idx], self.y[idx]


def augment(img):
    top, left = torch.randint(0, 5, (2,)).tolist()
    img = img[:, top : top + 12, left : left + 12]
    img = F.interpolate(img[None], size=(16, 16), mode="bilinear", align_corners=False)[0]
    img = img * (0.7 + 0.6 * torch.rand(1)) + 0.2 * torch.randn(1)
    return img + 0.1 * torch.randn_like(img)


class TwoViews(Dataset):
    def __init__(self, base):
        self.base = base

    def __len__(self):
        return len(self.base)

    def __getitem__(self, idx):
        img, _ = self.base[idx]
        return augment(img), augment(img)


class Encoder(nn.Module):
    def __init__(self, dim=64):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 16, 3, stride=2, padding=1)
        self.bn1 = nn.BatchNorm2d(16)
        self.conv2 = nn.Conv2d(16, 32, 3, stride=2, padding=1)
        self.bn2 = nn.BatchNorm2d(32)
        self.fc = nn.Linear(32 * 4 * 4, dim)

    def forward(self, x):
        x = F.relu(self.bn1(self.conv1(x)))
        x = F.relu(self.bn2(self.conv2(x)))
        return self.fc(x.flatten(1))


class SimCLR(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = Encoder()
        self.projector = nn.Sequential(nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 32))

    def forward(self, x):
        return self.projector(self.encoder(x))


def nt_xent(z1, z2, temperature):
    n = z1.size(0)
    z = F.normalize(torch.cat([z1, z2], dim=0), dim=1)
    sim = z @ z.t() / temperature
    mask = torch.eye(2 * n, dtype=torch.bool)
    sim = sim.masked_fill(mask, -1e9)
    targets = torch.cat([torch.arange(n, 2 * n), torch.arange(0, n)])
    return F.cross_entropy(sim, targets)


def pretrain(model, data):
    loader = DataLoader(TwoViews(data), batch_size=BATCH, shuffle=True, drop_last=True)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, weight_decay=1e-6)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=EPOCHS * len(loader))
    for epoch in range(EPOCHS):
        model.train()
        running = 0.0
        for view1, view2 in loader:
            optimizer.zero_grad()
            loss = nt_xent(model(view1), model(view2), TEMPERATURE)
            loss.backward()
            optimizer.step()
            scheduler.step()
            running += loss.item()
        print(f"pretrain epoch {epoch + 1}: {running / len(loader):.4f}")


@torch.no_grad()
def extract(encoder, data):
    encoder.eval()
    feats, labels = [], []
    for x, y in DataLoader(data, batch_size=128):
        feats.append(encoder(x))
        labels.append(y)
    return torch.cat(feats), torch.cat(labels)


def linear_probe(encoder, train_data, test_data):
    f_train, y_train = extract(encoder, train_data)
    f_test, y_test = extract(encoder, test_data)
    mu, sd = f_train.mean(0), f_train.std(0) + 1e-6
    f_train, f_test = (f_train - mu) / sd, (f_test - mu) / sd
    probe = nn.Linear(f_train.size(1), 4)
    opt = torch.optim.Adam(probe.parameters(), lr=1e-2)
    for _ in range(8):
        order = torch.randperm(len(f_train))
        for k in range(0, len(order), 50):
            rows = order[k : k + 50]
            opt.zero_grad()
            F.cross_entropy(probe(f_train[rows]), y_train[rows]).backward()
            opt.step()
    with torch.no_grad():
        return (probe(f_test).argmax(1) == y_test).float().mean().item()


unlabelled = Blobs(768, seed=0)
labelled = Blobs(200, seed=1)
held_out = Blobs(300, seed=2)
simclr = SimCLR()
print(f"probe before: {linear_probe(simclr.encoder, labelled, held_out):.3f}")
pretrain(simclr, unlabelled)
print(f"probe after:  {linear_probe(simclr.encoder, labelled, held_out):.3f}")
