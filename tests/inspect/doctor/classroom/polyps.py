"""Spots in noisy pictures, outlined by a small U-Net: crops and flips in the dataset, binary cross entropy plus Dice, IoU."""

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset, Subset


def draw(rng, size=32):
    yy, xx = np.mgrid[:size, :size]
    mask = np.zeros((size, size), dtype=bool)
    for _ in range(rng.integers(1, 4)):
        cy, cx, ry, rx = *rng.uniform(6, size - 6, 2), *rng.uniform(3, 7, 2)
        mask |= ((yy - cy) / ry) ** 2 + ((xx - cx) / rx) ** 2 < 1
    image = np.stack([0.55 + 0.25 * mask, 0.45 - 0.15 * mask, 0.4 + 0.05 * np.sin(xx / 4)], axis=-1)
    image = np.clip(image + rng.normal(0, 0.08, image.shape), 0, 1)
    return (255 * image).astype(np.uint8), mask.astype(np.uint8)


class PolypDataset(Dataset):
    def __init__(self, n, seed, augment=False):
        rng = np.random.default_rng(seed)
        self.samples = [draw(rng) for _ in range(n)]
        self.augment = augment

    def __len__(self):
        return len(self.samples)

    def __getitem__(self, index):
        image, mask = self.samples[index]
        image = torch.from_numpy(image).permute(2, 0, 1).float() / 255.0
        mask = torch.from_numpy(mask).unsqueeze(0).float()
        image = (image - 0.5) / 0.25
        if self.augment and torch.rand(1) < 0.5:
            image, mask = image.flip(-1), mask.flip(-1)
        if self.augment and torch.rand(1) < 0.5:
            image, mask = image.flip(-2), mask.flip(-2)
        return image, mask


def double_conv(cin, cout):
    return nn.Sequential(
        nn.Conv2d(cin, cout, 3, padding=1, bias=False),
        nn.BatchNorm2d(cout),
        nn.ReLU(inplace=True),
        nn.Conv2d(cout, cout, 3, padding=1, bias=False),
        nn.BatchNorm2d(cout),
        nn.ReLU(inplace=True),
    )


class UNet(nn.Module):
    def __init__(self, base=8):
        super().__init__()
        self.enc1 = double_conv(3, base)
        self.enc2 = double_conv(base, 2 * base)
        self.bottleneck = double_conv(2 * base, 4 * base)
        self.pool = nn.MaxPool2d(2)
        self.up2 = nn.ConvTranspose2d(4 * base, 2 * base, 2, stride=2)
        self.dec2 = double_conv(4 * base, 2 * base)
        self.up1 = nn.ConvTranspose2d(2 * base, base, 2, stride=2)
        self.dec1 = double_conv(2 * base, base)
        self.head = nn.Conv2d(base, 1, 1)

    def forward(self, x):
        e1 = self.enc1(x)
        e2 = self.enc2(self.pool(e1))
        b = self.bottleneck(self.pool(e2))
        d2 = self.dec2(torch.cat([self.up2(b), e2], dim=1))
        d1 = self.dec1(torch.cat([self.up1(d2), e1], dim=1))
        return self.head(d1)


def dice_loss(logits, target, eps=1.0):
    prob = torch.sigmoid(logits)
    inter = (prob * target).sum(dim=(1, 2, 3))
    total = prob.sum(dim=(1, 2, 3)) + target.sum(dim=(1, 2, 3))
    return (1 - (2 * inter + eps) / (total + eps)).mean()


@torch.inference_mode()
def validate(model, loader):
    model.eval()
    inter = union = 0
    for images, masks in loader:
        pred = model(images) > 0
        truth = masks > 0.5
        inter += (pred & truth).sum().item()
        union += (pred | truth).sum().item()
    return inter / max(union, 1)


def main(epochs=3, lr=2e-3, bs=16):
    torch.manual_seed(5)
    full, plain = PolypDataset(240, seed=1, augment=True), PolypDataset(240, seed=1)
    order = torch.randperm(240).tolist()
    train_loader = DataLoader(Subset(full, order[:200]), batch_size=bs, shuffle=True, drop_last=True)
    val_loader = DataLoader(Subset(plain, order[200:]), batch_size=bs)
    model = UNet()
    optimizer = torch.optim.AdamW(model.parameters(), lr=lr, weight_decay=1e-4)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=epochs * len(train_loader))
    pos_weight = torch.tensor([2.0])
    best_iou = 0.0
    for epoch in range(epochs):
        model.train()
        for images, masks in train_loader:
            logits = model(images)
            bce = F.binary_cross_entropy_with_logits(logits, masks, pos_weight=pos_weight)
            loss = bce + dice_loss(logits, masks)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            scheduler.step()
        iou = validate(model, val_loader)
        if iou > best_iou:
            best_iou = iou
        print(f"[{epoch}] loss={loss.item():.3f} bce={bce.item():.3f} IoU={iou:.3f} best={best_iou:.3f}")


if __name__ == "__main__":
    main()
