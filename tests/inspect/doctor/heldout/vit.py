"""A vision transformer by hand: patches, a class token, attention with softmax, OneCycleLR."""

import torch
from torch import nn

torch.manual_seed(41)


class Attention(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.heads, self.qkv, self.out = heads, nn.Linear(d, 3 * d, bias=False), nn.Linear(d, d)

    def forward(self, x):
        b, n, d = x.shape
        q, k, v = self.qkv(x).view(b, n, 3, self.heads, d // self.heads).permute(2, 0, 3, 1, 4)
        weights = (q @ k.transpose(-2, -1) * (d // self.heads) ** -0.5).softmax(dim=-1)
        return self.out((weights @ v).transpose(1, 2).reshape(b, n, d))


class Block(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.norm1, self.norm2, self.attention = nn.LayerNorm(d), nn.LayerNorm(d), Attention(d, heads)
        self.mlp = nn.Sequential(nn.Linear(d, 2 * d), nn.GELU(), nn.Dropout(0.1), nn.Linear(2 * d, d))

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class ViT(nn.Module):
    def __init__(self, d=32, classes=7):
        super().__init__()
        self.patch = nn.Conv2d(1, d, 4, stride=4)
        self.cls, self.place = nn.Parameter(torch.zeros(1, 1, d)), nn.Parameter(torch.randn(1, 10, d) * 0.02)
        self.blocks = nn.ModuleList([Block(d, 4) for _ in range(2)])
        self.norm, self.head = nn.LayerNorm(d), nn.Linear(d, classes)

    def forward(self, x):
        x = self.patch(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.cls.expand(len(x), -1, -1), x], 1) + self.place
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x)[:, 0])


def draw(n=16):
    label = torch.randint(0, 7, (n,))
    return torch.randn(n, 1, 12, 12) + (label.float() - 3).view(n, 1, 1, 1) / 3, label


vit = ViT()
loss_of = nn.CrossEntropyLoss()
opt = torch.optim.AdamW(vit.parameters(), lr=1e-3)
cycle = torch.optim.lr_scheduler.OneCycleLR(opt, max_lr=2e-3, total_steps=60)
for step in range(40):
    x, y = draw()
    logits = vit(x)
    loss = loss_of(logits, y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    cycle.step()
    if step % 10 == 9:
        vit.eval()
        with torch.no_grad():
            x, y = draw()
            print((vit(x).argmax(-1) == y).float().mean().item())
        vit.train()
