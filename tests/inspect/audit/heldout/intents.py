"""What a sentence asks for: an encoder with learned positions, a class token, a mask of the batch, post-norm."""

import badak as torch
from badak import nn

CLS, PAD = 1, 0


class SelfAttention(nn.Module):
    def __init__(self, width, heads, p):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width)
        self.proj = nn.Linear(width, width)
        self.drop = nn.Dropout(p)

    def forward(self, x, attention_mask):
        B, N, C = x.shape
        q, k, v = self.qkv(x).reshape(B, N, 3, self.heads, C // self.heads).permute(2, 0, 3, 1, 4).unbind(0)
        scores = torch.einsum("bhid,bhjd->bhij", q, k) * (C // self.heads) ** -0.5
        scores = scores.masked_fill(attention_mask[:, None, None, :] == 0, torch.finfo(scores.dtype).min)
        weights = self.drop(scores.softmax(dim=-1))
        out = torch.einsum("bhij,bhjd->bihd", weights, v)
        return self.proj(out.reshape(B, N, C))


class EncoderLayer(nn.Module):
    def __init__(self, width, heads, p):
        super().__init__()
        self.attn, self.norm1 = SelfAttention(width, heads, p), nn.LayerNorm(width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Dropout(p), nn.Linear(4 * width, width))
        self.norm2, self.drop = nn.LayerNorm(width), nn.Dropout(p)

    def forward(self, x, attention_mask):
        x = self.norm1(x + self.drop(self.attn(x, attention_mask)))
        return self.norm2(x + self.drop(self.mlp(x)))


class IntentClassifier(nn.Module):
    def __init__(self, vocab=53, width=32, heads=4, depth=2, intents=7, longest=24, p=0.1):
        super().__init__()
        self.words = nn.Embedding(vocab, width, padding_idx=PAD)
        self.positions = nn.Embedding(longest, width)
        self.norm, self.drop = nn.LayerNorm(width), nn.Dropout(p)
        self.encoder = nn.ModuleList([EncoderLayer(width, heads, p) for _ in range(depth)])
        self.pooler = nn.Linear(width, width)
        self.intent_head = nn.Linear(width, intents)

    def forward(self, input_ids, attention_mask):
        positions = torch.arange(input_ids.size(1)).unsqueeze(0)
        x = self.drop(self.norm(self.words(input_ids) + self.positions(positions)))
        for layer in self.encoder:
            x = layer(x, attention_mask)
        pooled = torch.tanh(self.pooler(x[:, 0]))
        return {"intent": self.intent_head(self.drop(pooled)), "pooled": pooled}


def build():
    ids = torch.randint(2, 53, (4, 13))
    ids[:, 0] = CLS
    mask = torch.ones(4, 13, dtype=torch.long)
    for row, n in enumerate((13, 9, 11, 6)):
        ids[row, n:], mask[row, n:] = PAD, 0
    return {"model": IntentClassifier(), "batch": {"input_ids": ids, "attention_mask": mask}}
