"""Where are the two eyes of a drawn face? Heat maps from a small net; a Trainer class with fit() and evaluate()."""

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

SIZE, POINTS = 24, 2


def draw_face(rng):
    left = rng.uniform([6, 5], [12, 10])
    right = left + rng.uniform([-2, 7], [3, 11])
    canvas = rng.normal(0.2, 0.05, (SIZE, SIZE))
    rows, cols = np.mgrid[:SIZE, :SIZE]
    canvas += 0.9 * np.exp(-((rows - left[0]) ** 2 + (cols - left[1]) ** 2) / 3)
    canvas -= 0.5 * np.exp(-((rows - right[0]) ** 2 + (cols - right[1]) ** 2) / 3)
    return canvas.astype(np.float32), np.stack([left, right]).astype(np.float32)


class Faces(Dataset):
    def __init__(self, n, seed, train=False):
        rng = np.random.default_rng(seed)
        faces = [draw_face(rng) for _ in range(n)]
        self.images = np.stack([f[0] for f in faces])
        self.points = np.stack([f[1] for f in faces])
        self.train = train

    def __len__(self):
        return len(self.images)

    def heatmaps(self, points):
        rows, cols = np.mgrid[:SIZE, :SIZE]
        distance = (rows - points[:, 0, None, None]) ** 2 + (cols - points[:, 1, None, None]) ** 2
        return np.exp(-distance / (2 * 1.5**2)).astype(np.float32)

    def __getitem__(self, index):
        image, points = self.images[index], self.points[index].copy()
        if self.train and np.random.rand() < 0.5:
            image = image[::-1].copy()
            points[:, 0] = SIZE - 1 - points[:, 0]
        image = (image - 0.25) / 0.2
        return torch.from_numpy(image)[None], torch.from_numpy(self.heatmaps(points)), torch.from_numpy(points)


class HeatNet(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.down = nn.Sequential(
            nn.Conv2d(1, width, 3, padding=1),
            nn.BatchNorm2d(width),
            nn.ReLU(inplace=True),
            nn.Conv2d(width, 2 * width, 3, stride=2, padding=1),
            nn.BatchNorm2d(2 * width),
            nn.ReLU(inplace=True),
        )
        self.middle = nn.Sequential(nn.Conv2d(2 * width, 2 * width, 3, padding=1), nn.ReLU(), nn.Dropout2d(0.1))
        self.up = nn.ConvTranspose2d(2 * width, width, 2, stride=2)
        self.out = nn.Conv2d(width, POINTS, 1)

    def forward(self, x):
        h = self.down(x)
        h = h + self.middle(h)
        return self.out(torch.relu(self.up(h)))


class Trainer:
    def __init__(self, model, train_loader, val_loader, lr=2e-3):
        self.model = model
        self.train_loader, self.val_loader = train_loader, val_loader
        self.loss_fn = nn.MSELoss()
        self.optimizer = torch.optim.Adam(model.parameters(), lr=lr)
        self.scheduler = torch.optim.lr_scheduler.StepLR(self.optimizer, step_size=3, gamma=0.5)
        self.history = []

    def train_epoch(self):
        self.model.train()
        total = 0.0
        for images, maps, _ in self.train_loader:
            predicted = self.model(images)
            loss = self.loss_fn(predicted, maps)
            self.optimizer.zero_grad(set_to_none=True)
            loss.backward()
            self.optimizer.step()
            total += loss.item() * len(images)
        return total / len(self.train_loader.dataset)

    @torch.no_grad()
    def evaluate(self):
        self.model.eval()
        errors = []
        for images, _, points in self.val_loader:
            maps = self.model(images)
            best = maps.flatten(2).argmax(dim=2)
            found = torch.stack([best // SIZE, best % SIZE], dim=2).float()
            errors.append((found - points).norm(dim=2))
        return torch.cat(errors).mean().item()

    def fit(self, epochs):
        for epoch in range(epochs):
            loss = self.train_epoch()
            error = self.evaluate()
            self.scheduler.step()
            self.history.append((loss, error))
            print(f"epoch {epoch}: loss {loss:.4f}, error {error:.2f} pixels")


torch.manual_seed(3)
np.random.seed(3)
train_data = Faces(320, seed=0, train=True)
val_data = Faces(80, seed=1)
trainer = Trainer(HeatNet(), DataLoader(train_data, batch_size=32, shuffle=True), DataLoader(val_data, batch_size=40))
trainer.fit(6)
