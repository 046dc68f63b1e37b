"""Pictures and their captions in one space: two encoders, a learned temperature, symmetric cross entropy."""

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(6)
VOCAB = 40


class ImageEncoder(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.conv = nn.Sequential(nn.Conv2d(3, 16, 3, 2, 1), nn.ReLU(), nn.Conv2d(16, 32, 3, 2, 1), nn.ReLU())
        self.fc = nn.Linear(32, d)

    def forward(self, x):
        return self.fc(self.conv(x).mean((2, 3)))


class TextEncoder(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.tok, self.pos = nn.Embedding(VOCAB, 32), nn.Parameter(torch.randn(8, 32) * 0.1)
        self.layer, self.fc = nn.TransformerEncoderLayer(32, 4, 64, 0.1, batch_first=True), nn.Linear(32, d)

    def forward(self, t):
        return self.fc(self.layer(self.tok(t) + self.pos).mean(1))


class CLIP(nn.Module):
    def __init__(self, d=16):
        super().__init__()
        self.image, self.text = ImageEncoder(d), TextEncoder(d)
        self.logit_scale = nn.Parameter(torch.tensor(np.log(1 / 0.2), dtype=torch.float32))

    def forward(self, images, texts):
        i = F.normalize(self.image(images), dim=-1)
        t = F.normalize(self.text(texts), dim=-1)
        return self.logit_scale.exp() * i @ t.t()


def pairs(n):
    topic = torch.randint(8, (n,))
    texts = topic[:, None] * 5 + torch.randint(5, (n, 8))
    images = 0.5 * torch.randn(n, 3, 12, 12) + torch.stack([topic % 2, topic // 2 % 2, topic // 4], 1)[:, :, None, None]
    return images, texts


model = CLIP()
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
test_images, test_texts = pairs(32)

for step in range(50):
    images, texts = pairs(32)
    logits = model(images, texts)
    labels = torch.arange(len(logits))
    loss = (F.cross_entropy(logits, labels) + F.cross_entropy(logits.t(), labels)) / 2
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 25 == 24:
        model.eval()
        with torch.no_grad():
            scores = model(test_images, test_texts)
            print(step, f"{loss.item():.3f}", (scores.argmax(1) == torch.arange(32)).float().mean().item())
        model.train()
