"""Questions about pictures: patches and words in one text, padding of the words hidden; a pooled answer."""

import badak as torch
import badak.nn.functional as F
from badak import nn


class FusedAttention(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.heads, self.qkv, self.out = heads, nn.Linear(d, 3 * d), nn.Linear(d, d)

    def forward(self, x, keep):
        b, n, d = x.shape
        q, k, v = self.qkv(x).view(b, n, 3, self.heads, d // self.heads).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=keep[:, None, None, :])
        return self.out(y.transpose(1, 2).reshape(b, n, d))


class Layer(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.attention, self.before, self.after = FusedAttention(d, heads), nn.LayerNorm(d), nn.LayerNorm(d)
        self.mlp = nn.Sequential(nn.Linear(d, 2 * d), nn.GELU(), nn.Dropout(0.1), nn.Linear(2 * d, d))

    def forward(self, x, keep):
        x = x + self.attention(self.before(x), keep)
        return x + self.mlp(self.after(x))


class PictureQA(nn.Module):
    def __init__(self, vocab=40, d=32, heads=4, depth=2, answers=8):
        super().__init__()
        self.patches, self.words = nn.Conv2d(3, d, 4, 4), nn.Embedding(vocab, d, padding_idx=0)
        self.patch_places, self.word_places = nn.Parameter(0.1 * torch.randn(9, d)), nn.Embedding(20, d)
        self.kinds = nn.Parameter(0.1 * torch.randn(2, d))
        self.layers = nn.ModuleList([Layer(d, heads) for _ in range(depth)])
        self.norm, self.answer = nn.LayerNorm(d), nn.Linear(d, answers)

    def forward(self, pixels, question):
        p = self.patches(pixels).flatten(2).transpose(1, 2) + self.patch_places + self.kinds[0]
        w = self.words(question) + self.word_places(torch.arange(question.shape[1])) + self.kinds[1]
        keep = torch.cat([torch.ones(p.shape[:2], dtype=torch.bool), question != 0], dim=1)
        x = torch.cat([p, w], dim=1)
        for layer in self.layers:
            x = layer(x, keep)
        x = self.norm(x) * keep.unsqueeze(-1).float()
        return self.answer(x.sum(dim=1) / keep.sum(dim=1, keepdim=True))


def build():
    question = torch.randint(1, 40, (4, 9))
    question[0, 6:], question[2, 4:] = 0, 0
    return {"model": PictureQA(), "batch": {"pixels": torch.randn(4, 3, 12, 12), "question": question}}
