"""A small vision transformer with its own attention, label smoothing, warm-up, and a moving average of its weights."""

import copy

import torch
from torch import einsum, nn

torch.manual_seed(11)


class Attention(nn.Module):
    def __init__(self, dim, heads=4):
        super().__init__()
        self.heads, self.scale = heads, (dim // heads) ** -0.5
        self.to_qkv = nn.Linear(dim, dim * 3, bias=False)
        self.to_out = nn.Linear(dim, dim)

    def forward(self, x):
        b, n, d = x.shape
        q, k, v = (t.reshape(b, n, self.heads, -1).transpose(1, 2) for t in self.to_qkv(x).chunk(3, dim=-1))
        dots = einsum("b h i d, b h j d -> b h i j", q, k) * self.scale
        attn = dots.softmax(dim=-1)
        out = einsum("b h i j, b h j d -> b h i d", attn, v)
        return self.to_out(out.transpose(1, 2).reshape(b, n, d))


class Layer(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.norm1, self.attn, self.norm2 = nn.LayerNorm(dim), Attention(dim), nn.LayerNorm(dim)
        self.ff = nn.Sequential(nn.Linear(dim, 2 * dim), nn.GELU(), nn.Dropout(0.1), nn.Linear(2 * dim, dim))

    def forward(self, x):
        x = x + self.attn(self.norm1(x))
        return x + self.ff(self.norm2(x))


class ViT(nn.Module):
    def __init__(self, dim=32, classes=5):
        super().__init__()
        self.patch = nn.Linear(16, dim)
        self.cls = nn.Parameter(torch.randn(1, 1, dim) * 0.02)
        self.pos = nn.Parameter(torch.randn(1, 10, dim) * 0.02)
        self.layers = nn.Sequential(Layer(dim), Layer(dim))
        self.head = nn.Sequential(nn.LayerNorm(dim), nn.Linear(dim, classes))

    def forward(self, img):
        b = img.size(0)
        x = img.unfold(2, 4, 4).unfold(3, 4, 4).reshape(b, 9, 16)
        x = torch.cat([self.cls.expand(b, -1, -1), self.patch(x)], dim=1) + self.pos
        return self.head(self.layers(x)[:, 0])


def draw(n=24):
    y = torch.randint(0, 5, (n,))
    x = torch.rand(n, 1, 12, 12)
    return (x + y.view(n, 1, 1, 1) * 0.2 - 0.9) / 0.4, y


model = ViT()
ema = copy.deepcopy(model).requires_grad_(False)
criterion = nn.CrossEntropyLoss(label_smoothing=0.1)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.05)
schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda s: min(1.0, (s + 1) / 10))
for step in range(40):
    model.train()
    x, y = draw()
    loss = criterion(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    schedule.step()
    with torch.no_grad():
        for e, p in zip(ema.parameters(), model.parameters()):
            e.lerp_(p, 0.05)
    if step % 12 == 11:
        ema.eval()
        with torch.no_grad():
            x, y = draw(64)
            print(step, loss.item(), (ema(x).argmax(-1) == y).float().mean().item())
