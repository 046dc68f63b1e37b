"""A picture classifier in the style of the einops layers: patches, a class token, training with a plateau schedule."""

import torch
from einops import rearrange, repeat
from einops.layers.torch import Rearrange
from torch import nn, optim
from torch.optim.lr_scheduler import ReduceLROnPlateau

torch.manual_seed(7)


def pair(t):
    return t if isinstance(t, tuple) else (t, t)


class Attention(nn.Module):
    def __init__(self, dim, heads=4, dim_head=8, dropout=0.0):
        super().__init__()
        inner = dim_head * heads
        self.heads, self.scale, self.norm = heads, dim_head**-0.5, nn.LayerNorm(dim)
        self.attend, self.to_qkv = nn.Softmax(dim=-1), nn.Linear(dim, inner * 3, bias=False)
        self.to_out = nn.Sequential(nn.Linear(inner, dim), nn.Dropout(dropout))

    def forward(self, x):
        qkv = self.to_qkv(self.norm(x)).chunk(3, dim=-1)
        q, k, v = map(lambda t: rearrange(t, "b n (h d) -> b h n d", h=self.heads), qkv)
        dots = torch.einsum("b h i d, b h j d -> b h i j", q, k) * self.scale
        out = torch.matmul(self.attend(dots), v)
        return self.to_out(rearrange(out, "b h n d -> b n (h d)"))


class ViT(nn.Module):
    def __init__(self, image=16, patch=4, classes=3, dim=32, depth=2):
        super().__init__()
        height, width = pair(patch)
        self.to_patch = nn.Sequential(
            Rearrange("b c (h p1) (w p2) -> b (h w) (p1 p2 c)", p1=height, p2=width),
            nn.LayerNorm(height * width),
            nn.Linear(height * width, dim),
        )
        self.pos, self.cls = (
            nn.Parameter(torch.randn(1, (image // patch) ** 2 + 1, dim)),
            nn.Parameter(torch.randn(1, 1, dim)),
        )
        self.layers = nn.ModuleList([])
        for _ in range(depth):
            feed = nn.Sequential(nn.LayerNorm(dim), nn.Linear(dim, 64), nn.GELU(), nn.Dropout(0.1), nn.Linear(64, dim))
            self.layers.append(nn.ModuleList([Attention(dim), feed]))
        self.to_latent, self.head = nn.Identity(), nn.Linear(dim, classes)

    def forward(self, img):
        x = self.to_patch(img)
        x = torch.cat((repeat(self.cls, "1 1 d -> b 1 d", b=x.shape[0]), x), dim=1)
        x += self.pos[:, : x.shape[1]]
        for attend, feed in self.layers:
            x = attend(x) + x
            x = feed(x) + x
        return self.head(self.to_latent(x[:, 0]))


model = nn.DataParallel(ViT()) if torch.cuda.device_count() > 1 else ViT()
print(model.layers[0])
pictures, labels = torch.rand(24, 1, 16, 16), torch.arange(24) % 3
pictures[labels == 1, :, :8] += 1
pictures[labels == 2, :, :, :8] -= 1
optimizer = optim.SGD(model.parameters(), lr=0.05, momentum=0.9, weight_decay=1e-4)
schedule = ReduceLROnPlateau(optimizer, factor=0.5, patience=1)
criterion = nn.CrossEntropyLoss(label_smoothing=0.1)
for epoch in range(6):
    order = torch.randperm(24)
    running = 0.0
    for batch in order.split(8):
        optimizer.zero_grad()
        loss = criterion(model(pictures[batch]), labels[batch])
        loss.backward()
        nn.utils.clip_grad_value_(model.parameters(), 1.0)
        optimizer.step()
        running += loss.item()
    schedule.step(running)
    model.eval()
    with torch.no_grad():
        accuracy = (model(pictures).argmax(dim=1) == labels).float().mean().item()
    model.train()
    print(f"epoch {epoch}: loss {running / 3:.4f}, accuracy {accuracy:.2%}, lr {optimizer.param_groups[0]['lr']}")
