"""Segmentation of cells in microscope-like pictures with a small U-Net."""

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

SIZE = 32


class CellDataset(Dataset):
    """Bright discs of different size on a noisy, uneven background, and their masks."""

    def __init__(self, n, seed, augment=False):
        rng = np.random.RandomState(seed)
        self.images, self.masks = [], []
        self.augment = augment
        yy, xx = np.mgrid[:SIZE, :SIZE]
        for _ in range(n):
            mask = np.zeros((SIZE, SIZE), dtype=np.float32)
            for _ in range(rng.randint(1, 4)):
                cy, cx = rng.randint(4, SIZE - 4, 2)
                mask[(yy - cy) ** 2 + (xx - cx) ** 2 <= rng.randint(3, 6) ** 2] = 1
            image = 0.3 * mask + 0.3 * (xx / SIZE) * rng.rand() + 0.2 + 0.08 * rng.randn(SIZE, SIZE)
            self.images.append(image.astype(np.float32)[None])
            self.masks.append(mask[None])

    def __len__(self):
        return len(self.images)

    def __getitem__(self, i):
        image, mask = torch.from_numpy(self.images[i]), torch.from_numpy(self.masks[i])
        if self.augment and torch.rand(1) < 0.5:
            image, mask = image.flip(-1), mask.flip(-1)
        return (image - 0.4) / 0.2, mask


class DoubleConv(nn.Module):
    def __init__(self, in_channels, out_channels):
        super().__init__()
        self.double_conv = nn.Sequential(
            nn.Conv2d(in_channels, out_channels, kernel_size=3, padding=1, bias=False),
            nn.BatchNorm2d(out_channels),
            nn.ReLU(inplace=True),
            nn.Conv2d(out_channels, out_channels, kernel_size=3, padding=1, bias=False),
            nn.BatchNorm2d(out_channels),
            nn.ReLU(inplace=True),
        )

    def forward(self, x):
        return self.double_conv(x)


class UNet(nn.Module):
    def __init__(self, n_channels=1, n_classes=1, width=8):
        super().__init__()
        self.inc = DoubleConv(n_channels, width)
        self.down1 = nn.Sequential(nn.MaxPool2d(2), DoubleConv(width, width * 2))
        self.down2 = nn.Sequential(nn.MaxPool2d(2), DoubleConv(width * 2, width * 4))
        self.up1 = nn.ConvTranspose2d(width * 4, width * 2, kernel_size=2, stride=2)
        self.conv1 = DoubleConv(width * 4, width * 2)
        self.up2 = nn.ConvTranspose2d(width * 2, width, kernel_size=2, stride=2)
        self.conv2 = DoubleConv(width * 2, width)
        self.outc = nn.Conv2d(width, n_classes, kernel_size=1)

    def forward(self, x):
        x1 = self.inc(x)
        x2 = self.down1(x1)
        x3 = self.down2(x2)
        x = self.conv1(torch.cat([x2, self.up1(x3)], dim=1))
        x = self.conv2(torch.cat([x1, self.up2(x)], dim=1))
        return self.outc(x)


def dice_coeff(pred, target, smooth=1.0):
    pred, target = pred.flatten(1), target.flatten(1)
    intersection = (pred * target).sum(dim=1)
    return ((2 * intersection + smooth) / (pred.sum(dim=1) + target.sum(dim=1) + smooth)).mean()


def combined_loss(logits, masks):
    bce = F.binary_cross_entropy_with_logits(logits, masks)
    dice = 1 - dice_coeff(torch.sigmoid(logits), masks)
    return bce + dice


def evaluate(net, loader):
    net.eval()
    scores = []
    with torch.no_grad():
        for images, masks in loader:
            pred = (torch.sigmoid(net(images)) > 0.5).float()
            scores.append(dice_coeff(pred, masks).item())
    return float(np.mean(scores))


def train_net(net, train_loader, val_loader, epochs=4, lr=3e-3):
    optimizer = torch.optim.RMSprop(net.parameters(), lr=lr, weight_decay=1e-8, momentum=0.9)
    scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, "max", patience=2)
    best = 0.0
    for epoch in range(epochs):
        net.train()
        epoch_loss = 0
        for images, masks in train_loader:
            loss = combined_loss(net(images), masks)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
            optimizer.step()
            epoch_loss += loss.item()
        val_score = evaluate(net, val_loader)
        scheduler.step(val_score)
        print(f"epoch {epoch}: loss {epoch_loss / len(train_loader):.4f}, val dice {val_score:.4f}")
        if val_score > best:
            best = val_score
            torch.save(net.state_dict(), "checkpoint.pth")


if __name__ == "__main__":
    torch.manual_seed(0)
    train_set = CellDataset(240, seed=0, augment=True)
    val_set = CellDataset(48, seed=1)
    test_set = CellDataset(48, seed=2)
    train_loader = DataLoader(train_set, batch_size=8, shuffle=True)
    val_loader = DataLoader(val_set, batch_size=16)
    test_loader = DataLoader(test_set, batch_size=16)
    net = UNet()
    train_net(net, train_loader, val_loader)
    net.load_state_dict(torch.load("checkpoint.pth"))
    print(f"test dice {evaluate(net, test_loader):.4f}")
