"""Which pixels are of a disc: a small U-Net, cross entropy and Dice together, plateaus lower the rate."""

import torch
import torch.nn as nn

torch.manual_seed(2)


def double_conv(a, b):
    return nn.Sequential(
        nn.Conv2d(a, b, 3, padding=1), nn.BatchNorm2d(b), nn.ReLU(inplace=True), nn.Conv2d(b, b, 3, padding=1), nn.ReLU()
    )


class UNet(nn.Module):
    def __init__(self, classes=2):
        super().__init__()
        self.down1, self.down2 = double_conv(1, 8), double_conv(8, 16)
        self.pool, self.up = nn.MaxPool2d(2), nn.ConvTranspose2d(16, 8, 2, stride=2)
        self.join, self.last = double_conv(16, 8), nn.Conv2d(8, classes, 1)

    def forward(self, x):
        a = self.down1(x)
        b = self.down2(self.pool(a))
        return self.last(self.join(torch.cat([self.up(b), a], dim=1)))


def dice_loss(logits, target, eps=1e-6):
    p = torch.softmax(logits, dim=1)[:, 1]
    inter = (p * target).sum((1, 2))
    return 1 - ((2 * inter + eps) / (p.sum((1, 2)) + target.sum((1, 2)) + eps)).mean()


def discs(n):
    y, x = torch.meshgrid(torch.arange(16.0), torch.arange(16.0), indexing="ij")
    cx, cy, r = 4 + 8 * torch.rand(n, 1, 1), 4 + 8 * torch.rand(n, 1, 1), 2 + 3 * torch.rand(n, 1, 1)
    mask = (x - cx) ** 2 + (y - cy) ** 2 < r**2
    return mask.float()[:, None] + 0.3 * torch.randn(n, 1, 16, 16), mask.long()


train_x, train_y = discs(240)
val_x, val_y = discs(32)
net = UNet()
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
sched = torch.optim.lr_scheduler.ReduceLROnPlateau(opt, factor=0.5, patience=1)
ce = nn.CrossEntropyLoss()


def validate():
    net.eval()
    with torch.no_grad():
        out = net(val_x)
        pred = out.argmax(1)
        iou = ((pred == 1) & (val_y == 1)).sum().item() / max(1, ((pred == 1) | (val_y == 1)).sum().item())
        return ce(out, val_y).item(), iou


for epoch in range(4):
    net.train()
    for idx in torch.randperm(len(train_x)).split(24):
        imgs, masks = train_x[idx], train_y[idx]
        out = net(imgs)
        loss = ce(out, masks) + dice_loss(out, masks.float())
        opt.zero_grad()
        loss.backward()
        opt.step()
    val_loss, iou = validate()
    sched.step(val_loss)
    print(epoch, f"{loss.item():.3f} {val_loss:.3f} {iou:.2f}")
