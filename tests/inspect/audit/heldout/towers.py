"""Pictures and captions in one space, after CLIP: two towers, the end of the text pooled, similarities of all pairs."""

import badak as torch
import badak.nn.functional as F
from badak import nn


class Residual(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.ln_1, self.ln_2 = nn.LayerNorm(d), nn.LayerNorm(d)
        self.attn = nn.MultiheadAttention(d, heads)
        self.mlp = nn.Sequential(nn.Linear(d, 4 * d), nn.GELU(), nn.Linear(4 * d, d))

    def forward(self, x, attn_mask=None):
        y = self.ln_1(x)
        x = x + self.attn(y, y, y, need_weights=False, attn_mask=attn_mask)[0]
        return x + self.mlp(self.ln_2(x))


class VisionTower(nn.Module):
    def __init__(self, d, out, heads=4, depth=2):
        super().__init__()
        self.conv1 = nn.Conv2d(3, d, 4, stride=4, bias=False)
        self.class_embedding = nn.Parameter(0.1 * torch.randn(d))
        self.positional_embedding = nn.Parameter(0.1 * torch.randn(17, d))
        self.ln_pre, self.ln_post = nn.LayerNorm(d), nn.LayerNorm(d)
        self.resblocks = nn.ModuleList([Residual(d, heads) for _ in range(depth)])
        self.proj = nn.Parameter(d**-0.5 * torch.randn(d, out))

    def forward(self, x):
        x = self.conv1(x).flatten(2).permute(0, 2, 1)
        x = torch.cat([self.class_embedding.expand(x.shape[0], 1, -1), x], dim=1)
        x = self.ln_pre(x + self.positional_embedding)
        x = x.permute(1, 0, 2)
        for block in self.resblocks:
            x = block(x)
        x = x.permute(1, 0, 2)
        return self.ln_post(x[:, 0]) @ self.proj


class TextTower(nn.Module):
    def __init__(self, d, out, vocab=50, longest=14, heads=4, depth=2):
        super().__init__()
        self.token_embedding = nn.Embedding(vocab, d)
        self.positional_embedding = nn.Parameter(0.1 * torch.randn(longest, d))
        self.resblocks = nn.ModuleList([Residual(d, heads) for _ in range(depth)])
        self.ln_final = nn.LayerNorm(d)
        self.text_projection = nn.Parameter(d**-0.5 * torch.randn(d, out))
        self.register_buffer("attn_mask", torch.full((longest, longest), float("-inf")).triu_(1), persistent=False)

    def forward(self, text):
        x = self.token_embedding(text) + self.positional_embedding[: text.shape[1]]
        x = x.permute(1, 0, 2)
        mask = self.attn_mask[: text.shape[1], : text.shape[1]]
        for block in self.resblocks:
            x = block(x, mask)
        x = self.ln_final(x.permute(1, 0, 2))
        return x[torch.arange(x.shape[0]), text.argmax(dim=-1)] @ self.text_projection


class CLIP(nn.Module):
    def __init__(self, d=32, out=24):
        super().__init__()
        self.visual, self.textual = VisionTower(d, out), TextTower(d, out)
        self.logit_scale = nn.Parameter(torch.tensor(2.0))

    def forward(self, image, text):
        image_features = F.normalize(self.visual(image), dim=-1)
        text_features = F.normalize(self.textual(text), dim=-1)
        logits_per_image = self.logit_scale.exp() * image_features @ text_features.t()
        return logits_per_image, logits_per_image.t()


def build():
    text = torch.randint(1, 49, (4, 11))
    for row, end in enumerate((10, 7, 8, 5)):
        text[row, end], text[row, end + 1 :] = 49, 0
    return {"model": CLIP(), "batch": (torch.randn(4, 3, 16, 16), text)}
