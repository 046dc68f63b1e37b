"""Pictures twice as large: a residual net with a pixel shuffle, L1, a Trainer with callbacks, PSNR on held pictures."""

import math

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset


class Waves(Dataset):
    def __init__(self, n, seed):
        g = torch.Generator().manual_seed(seed)
        u = torch.linspace(0, 1, 24)
        a, b, c = (torch.rand(n, 1, 1, generator=g) for _ in range(3))
        self.big = 0.5 + 0.5 * torch.sin(18 * a * u[None, :, None] + 14 * b * u[None, None, :] + 6 * c)
        self.big = self.big.unsqueeze(1)
        self.small = F.avg_pool2d(self.big, 2) + 0.02 * torch.randn(n, 1, 12, 12, generator=g)

    def __len__(self):
        return len(self.big)

    def __getitem__(self, i):
        return {"low": self.small[i], "high": self.big[i]}


class Residual(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(width, width, 3, padding=1), nn.ReLU(), nn.Conv2d(width, width, 3, padding=1))

    def forward(self, x):
        return x + 0.5 * self.body(x)


class SRNet(nn.Module):
    def __init__(self, width=12, blocks=2):
        super().__init__()
        self.head = nn.Conv2d(1, width, 3, padding=1)
        self.blocks = nn.Sequential(*[Residual(width) for _ in range(blocks)])
        self.norm = nn.BatchNorm2d(width)
        self.tail = nn.Conv2d(width, 4, 3, padding=1)
        self.shuffle = nn.PixelShuffle(2)

    def forward(self, low):
        h = self.head(low)
        h = h + self.norm(self.blocks(h))
        return F.interpolate(low, scale_factor=2, mode="bilinear") + self.shuffle(self.tail(h))


class Callback:
    def after_epoch(self, trainer, scores):
        pass


class KeepBest(Callback):
    best = 0.0

    def after_epoch(self, trainer, scores):
        if scores["psnr"] > self.best:
            self.best = scores["psnr"]
            torch.save({"model": trainer.model.state_dict(), "psnr": self.best}, "best.pt")


class Trainer:
    def __init__(self, model, optimizer, loss_fn, callbacks=()):
        self.model, self.optimizer, self.loss_fn, self.callbacks = model, optimizer, loss_fn, callbacks

    def training_step(self, batch):
        return self.loss_fn(self.model(batch["low"]), batch["high"])

    def fit(self, train_loader, valid_loader, epochs):
        for epoch in range(epochs):
            self.model.train()
            for batch in train_loader:
                loss = self.training_step(batch)
                self.optimizer.zero_grad(set_to_none=True)
                loss.backward()
                torch.nn.utils.clip_grad_value_(self.model.parameters(), 0.5)
                self.optimizer.step()
            scores = self.validate(valid_loader)
            print(epoch, loss.item(), scores)
            for callback in self.callbacks:
                callback.after_epoch(self, scores)

    @torch.inference_mode()
    def validate(self, loader):
        self.model.eval()
        error, n = 0.0, 0
        for batch in loader:
            error += ((self.model(batch["low"]) - batch["high"]) ** 2).sum().item()
            n += batch["high"].numel()
        return {"psnr": -10 * math.log10(error / n)}


torch.manual_seed(12)
net = SRNet()
trainer = Trainer(net, torch.optim.AdamW(net.parameters(), lr=3e-3), nn.L1Loss(), [KeepBest()])
trainer.fit(DataLoader(Waves(240, 0), batch_size=16, shuffle=True), DataLoader(Waves(48, 1), batch_size=16), epochs=2)
net.load_state_dict(torch.load("best.pt")["model"])
print(trainer.validate(DataLoader(Waves(48, 2), batch_size=16)))
