"""Roads in small pictures: a fully convolutional net with skips, focal loss by hand, augmentation of picture and mask, IoU."""

import argparse
import random

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset


class Roads(Dataset):
    def __init__(self, count, train=True, seed=0):
        g = torch.Generator().manual_seed(seed)
        self.train = train
        self.images, self.masks = [], []
        for _ in range(count):
            mask = torch.zeros(24, 24, dtype=torch.long)
            a, b = torch.randint(2, 20, (2,), generator=g).tolist()
            mask[a : a + 2] = 1
            mask[:, b : b + 2] = 2
            image = torch.stack([(mask == 1).float(), (mask == 2).float(), torch.full((24, 24), 0.5)]) * 0.6
            self.images.append(image + 0.25 * torch.randn(3, 24, 24, generator=g))
            self.masks.append(mask)

    def __len__(self):
        return len(self.images)

    def __getitem__(self, index):
        image, mask = self.images[index], self.masks[index]
        if self.train and random.random() < 0.5:
            image, mask = image.flip(-1), mask.flip(-1)
        return (image - 0.2) / 0.35, mask


def double_conv(a, b):
    return nn.Sequential(
        nn.Conv2d(a, b, 3, padding=1),
        nn.BatchNorm2d(b),
        nn.ReLU(inplace=True),
        nn.Conv2d(b, b, 3, padding=1),
        nn.ReLU(inplace=True),
    )


class SmallFCN(nn.Module):
    def __init__(self, classes=3, w=8):
        super().__init__()
        self.down1, self.down2, self.middle = double_conv(3, w), double_conv(w, 2 * w), double_conv(2 * w, 4 * w)
        self.pool = nn.MaxPool2d(2)
        self.up2, self.up1 = nn.ConvTranspose2d(4 * w, 2 * w, 2, stride=2), nn.ConvTranspose2d(2 * w, w, 2, stride=2)
        self.dec2, self.dec1 = double_conv(4 * w, 2 * w), double_conv(2 * w, w)
        self.dropout = nn.Dropout2d(0.1)
        self.final = nn.Conv2d(w, classes, 1)

    def forward(self, x):
        a = self.down1(x)
        b = self.down2(self.pool(a))
        m = self.dropout(self.middle(self.pool(b)))
        y = self.dec2(torch.cat([self.up2(m), b], dim=1))
        y = self.dec1(torch.cat([self.up1(y), a], dim=1))
        return self.final(y)


def focal_loss(logits, target, gamma=2.0):
    log_p = F.log_softmax(logits, dim=1)
    log_pt = log_p.gather(1, target.unsqueeze(1)).squeeze(1)
    return -((1 - log_pt.exp()) ** gamma * log_pt).mean()


def iou(pred, target, classes=3):
    scores = []
    for c in range(1, classes):
        both, any_ = ((pred == c) & (target == c)).sum(), ((pred == c) | (target == c)).sum()
        scores.append((both / any_.clamp(min=1)).item())
    return sum(scores) / len(scores)


def validate(net, loader):
    net.eval()
    scores = []
    with torch.no_grad():
        for image, mask in loader:
            scores.append(iou(net(image).argmax(1), mask))
    return sum(scores) / len(scores)


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=3)
    p.add_argument("--batch-size", type=int, default=12)
    opt = p.parse_args()
    random.seed(1)
    torch.manual_seed(1)
    train_dl = DataLoader(Roads(192), batch_size=opt.batch_size, shuffle=True)
    val_dl = DataLoader(Roads(36, train=False, seed=1), batch_size=opt.batch_size)
    net = SmallFCN()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-4)
    total = opt.epochs * len(train_dl)
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda i: (1 - i / (total + 1)) ** 0.9)
    for epoch in range(opt.epochs):
        net.train()
        running = 0.0
        for image, mask in train_dl:
            optimizer.zero_grad()
            loss = focal_loss(net(image), mask)
            loss.backward()
            optimizer.step()
            scheduler.step()
            running += loss.item()
        print(f"epoch {epoch + 1}: loss {running / len(train_dl):.4f}, IoU {validate(net, val_dl):.3f}")
