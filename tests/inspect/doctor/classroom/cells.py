"""Finding cells: a small encoder and decoder for each pixel, cross entropy and dice, flips of picture and mask together."""

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(52)


def make(n):
    yy, xx = torch.meshgrid(torch.arange(16.0), torch.arange(16.0), indexing="ij")
    cx, cy = torch.rand(2, n, 1, 1) * 8 + 4
    mask = ((yy - cy) ** 2 + (xx - cx) ** 2 < 12).float()
    return (mask * 1.2 + 0.5 * torch.randn(n, 16, 16)).unsqueeze(1), mask.unsqueeze(1)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.down1, self.down2 = nn.Conv2d(1, 12, 3, padding=1), nn.Conv2d(12, 24, 3, padding=1)
        self.norm, self.up, self.out = nn.BatchNorm2d(24), nn.ConvTranspose2d(24, 12, 2, stride=2), nn.Conv2d(24, 1, 1)

    def forward(self, x):
        a = F.relu(self.down1(x))
        b = F.relu(self.norm(self.down2(F.max_pool2d(a, 2))))
        return self.out(torch.cat([a, F.relu(self.up(b))], dim=1))


def dice(p, y):
    inter = (p * y).sum((1, 2, 3))
    return 1 - ((2 * inter + 1) / (p.sum((1, 2, 3)) + y.sum((1, 2, 3)) + 1)).mean()


images, masks = make(240)
held_images, held_masks = make(60)
net = Net()
opt = torch.optim.AdamW(net.parameters(), lr=4e-3)
for epoch in range(3):
    net.train()
    for rows in torch.randperm(240).split(24):
        x, y = images[rows], masks[rows]
        if torch.rand(1) < 0.5:
            x, y = x.flip(-1), y.flip(-1)
        logits = net(x)
        loss = F.binary_cross_entropy_with_logits(logits, y) + dice(logits.sigmoid(), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
    net.eval()
    with torch.no_grad():
        p = (net(held_images).sigmoid() > 0.5).float()
        iou = (p * held_masks).sum() / ((p + held_masks) > 0).sum()
    print(epoch, loss.item(), iou.item())
