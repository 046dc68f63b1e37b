"""Vision transformer from scratch on a synthetic 8-class shape dataset (project, part B)."""

import math
from dataclasses import dataclass

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split


@dataclass
class Config:
    image_size: int = 24
    patch_size: int = 4
    channels: int = 3
    dim: int = 48
    depth: int = 3
    heads: int = 4
    mlp_ratio: int = 2
    dropout: float = 0.1
    num_classes: int = 8
    epochs: int = 4
    batch_size: int = 64
    lr: float = 1e-3
    weight_decay: float = 0.05
    warmup_steps: int = 20


def make_dataset(n, size):
    """Eight classes: square, cross, disc or ring, large or small; colour and place are random."""
    yy, xx = torch.meshgrid(torch.arange(size), torch.arange(size), indexing="ij")
    images, labels = [], []
    for _ in range(n):
        label = torch.randint(8, (1,)).item()
        kind, large = label % 4, label // 4
        r = 7 if large else 4
        cy, cx = torch.randint(7, size - 7, (2,)).tolist()
        dy, dx = (yy - cy).abs(), (xx - cx).abs()
        d = ((yy - cy) ** 2 + (xx - cx) ** 2).float().sqrt()
        shape = [
            (dy < r) & (dx < r),
            ((dy < 2) & (dx < r)) | ((dx < 2) & (dy < r)),
            d < r,
            (d < r) & (d > r - 2.5),
        ][kind]
        colour = 0.5 + 0.5 * torch.rand(3, 1, 1)
        images.append(colour * shape + 0.1 * torch.rand(3, size, size))
        labels.append(label)
    return torch.stack(images), torch.tensor(labels)


class PatchEmbedding(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.n_patches = (cfg.image_size // cfg.patch_size) ** 2
        self.proj = nn.Conv2d(cfg.channels, cfg.dim, kernel_size=cfg.patch_size, stride=cfg.patch_size)
        self.cls_token = nn.Parameter(torch.zeros(1, 1, cfg.dim))
        self.pos_embed = nn.Parameter(torch.randn(1, 1 + self.n_patches, cfg.dim) * 0.02)

    def forward(self, x):
        x = self.proj(x).flatten(2).transpose(1, 2)
        cls = self.cls_token.expand(x.shape[0], -1, -1)
        x = torch.cat([cls, x], dim=1)
        return x + self.pos_embed


class SelfAttention(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.heads = cfg.heads
        self.qkv = nn.Linear(cfg.dim, cfg.dim * 3)
        self.out = nn.Linear(cfg.dim, cfg.dim)
        self.drop = nn.Dropout(cfg.dropout)

    def forward(self, x):
        B, N, D = x.shape
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        q = q.view(B, N, self.heads, D // self.heads).transpose(1, 2)
        k = k.view(B, N, self.heads, D // self.heads).transpose(1, 2)
        v = v.view(B, N, self.heads, D // self.heads).transpose(1, 2)
        scores = q @ k.transpose(-2, -1) / math.sqrt(D // self.heads)
        attn = self.drop(scores.softmax(dim=-1))
        y = (attn @ v).transpose(1, 2).reshape(B, N, D)
        return self.out(y)


class EncoderBlock(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.norm1 = nn.LayerNorm(cfg.dim)
        self.attn = SelfAttention(cfg)
        self.norm2 = nn.LayerNorm(cfg.dim)
        self.mlp = nn.Sequential(
            nn.Linear(cfg.dim, cfg.dim * cfg.mlp_ratio),
            nn.GELU(),
            nn.Dropout(cfg.dropout),
            nn.Linear(cfg.dim * cfg.mlp_ratio, cfg.dim),
        )

    def forward(self, x):
        x = x + self.attn(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class ViT(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.patches = PatchEmbedding(cfg)
        self.blocks = nn.ModuleList([EncoderBlock(cfg) for _ in range(cfg.depth)])
        self.norm = nn.LayerNorm(cfg.dim)
        self.head = nn.Linear(cfg.dim, cfg.num_classes)

    def forward(self, x):
        x = self.patches(x)
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x)[:, 0])


class Trainer:
    def __init__(self, model, cfg, train_loader, val_loader):
        self.model, self.cfg = model, cfg
        self.train_loader, self.val_loader = train_loader, val_loader
        self.criterion = nn.CrossEntropyLoss()
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=cfg.lr, weight_decay=cfg.weight_decay)
        total = cfg.epochs * len(train_loader)
        self.scheduler = torch.optim.lr_scheduler.LambdaLR(self.optimizer, lambda s: self.schedule(s, total))

    def schedule(self, step, total):
        if step < self.cfg.warmup_steps:
            return (step + 1) / self.cfg.warmup_steps
        progress = (step - self.cfg.warmup_steps) / max(1, total - self.cfg.warmup_steps)
        return 0.5 * (1 + math.cos(math.pi * progress))

    def train_epoch(self):
        self.model.train()
        losses = []
        for images, labels in self.train_loader:
            logits = self.model(images)
            loss = self.criterion(logits, labels)
            self.optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
            self.optimizer.step()
            self.scheduler.step()
            losses.append(loss.item())
        return sum(losses) / len(losses)

    @torch.no_grad()
    def validate(self):
        self.model.eval()
        correct, total = 0, 0
        for images, labels in self.val_loader:
            preds = self.model(images).argmax(dim=-1)
            correct += (preds == labels).sum().item()
            total += labels.size(0)
        return correct / total

    def fit(self):
        for epoch in range(self.cfg.epochs):
            loss = self.train_epoch()
            acc = self.validate()
            print(f"[{epoch + 1}/{self.cfg.epochs}] loss={loss:.4f} val_acc={acc:.4f}")


if __name__ == "__main__":
    torch.manual_seed(0)
    cfg = Config()
    images, labels = make_dataset(2000, cfg.image_size)
    images = (images - 0.5) / 0.5
    train_set, val_set = random_split(TensorDataset(images, labels), [1700, 300])
    train_loader = DataLoader(train_set, batch_size=cfg.batch_size, shuffle=True, drop_last=True)
    val_loader = DataLoader(val_set, batch_size=100)
    Trainer(ViT(cfg), cfg, train_loader, val_loader).fit()
