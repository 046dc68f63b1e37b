"""Grey pictures get their colours back: an encoder-decoder with skips, batches as dicts, a small config class."""

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset


class Config:
    size, n_train, n_valid, batch = 20, 240, 60, 20
    epochs, lr, weight_decay = 3, 2e-3, 1e-4


class Scenes(Dataset):
    """Sky, sea, and sun; a grey picture is the mean of its colours."""

    def __init__(self, n, seed, flip=False):
        g = torch.Generator().manual_seed(seed)
        self.flip = flip
        rows = torch.linspace(0, 1, Config.size).view(1, -1, 1)
        horizon = 0.3 + 0.4 * torch.rand(n, 1, 1, generator=g)
        sky = (rows < horizon).float().expand(n, Config.size, Config.size)
        at = torch.rand(n, 2, generator=g)
        cols = torch.linspace(0, 1, Config.size).view(1, 1, -1)
        sun = ((rows - 0.3 * at[:, 0].view(-1, 1, 1)) ** 2 + (cols - at[:, 1].view(-1, 1, 1)) ** 2 < 0.02).float()
        shade = 0.1 * torch.randn(n, Config.size, Config.size, generator=g)
        red, green, blue = 0.2 + 0.7 * sun, 0.4 + 0.2 * sky + 0.3 * sun, 0.9 - 0.4 * (1 - sky) - 0.6 * sun
        self.colour = torch.stack([red, green, blue], 1) + shade.unsqueeze(1)
        self.grey = self.colour.mean(1, keepdim=True)

    def __len__(self):
        return len(self.colour)

    def __getitem__(self, i):
        grey, colour = self.grey[i], self.colour[i]
        if self.flip and torch.rand(()) < 0.5:
            grey, colour = grey.flip(-1), colour.flip(-1)
        return {"grey": (grey - 0.5) / 0.25, "chroma": colour - grey}


def conv(n_in, n_out, stride=1):
    return nn.Sequential(nn.Conv2d(n_in, n_out, 3, stride, 1, bias=False), nn.BatchNorm2d(n_out), nn.LeakyReLU(0.1))


class Colorizer(nn.Module):
    def __init__(self, w=12):
        super().__init__()
        self.enc1 = conv(1, w)
        self.enc2 = conv(w, 2 * w, stride=2)
        self.mid = nn.Sequential(conv(2 * w, 2 * w), nn.Dropout(0.1))
        self.up = nn.Upsample(scale_factor=2, mode="nearest")
        self.dec = conv(3 * w, w)
        self.to_chroma = nn.Conv2d(w, 3, 1)

    def forward(self, grey):
        a = self.enc1(grey)
        b = self.enc2(a)
        c = self.up(self.mid(b) + b)
        return self.to_chroma(self.dec(torch.cat([a, c], dim=1)))


def run(loader, model, loss_fn, optimizer=None, scheduler=None):
    training = optimizer is not None
    model.train(training)
    seen, total = 0, 0.0
    with torch.set_grad_enabled(training):
        for batch in loader:
            guess = model(batch["grey"])
            loss = loss_fn(guess, batch["chroma"])
            if training:
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                scheduler.step()
            seen += guess.size(0)
            total += loss.item() * guess.size(0)
    return total / seen


torch.manual_seed(0)
train_loader = DataLoader(Scenes(Config.n_train, 1, flip=True), Config.batch, shuffle=True)
valid_loader = DataLoader(Scenes(Config.n_valid, 2), 30)
model = Colorizer()
loss_fn = nn.L1Loss()
optimizer = torch.optim.AdamW(model.parameters(), lr=Config.lr, weight_decay=Config.weight_decay)
scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=Config.lr, total_steps=Config.epochs * len(train_loader))
best_loss = float("inf")
for epoch in range(Config.epochs):
    train_loss = run(train_loader, model, loss_fn, optimizer, scheduler)
    valid_loss = run(valid_loader, model, loss_fn)
    if valid_loss < best_loss:
        best_loss = valid_loss
        torch.save(model.state_dict(), "colorizer.pt")
    print(f"{epoch}: train {train_loss:.4f} valid {valid_loss:.4f}")
