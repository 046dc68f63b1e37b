"""LoRA on a small GPT of one's own: pretrained on one text, adapted to another with prompts masked out, accumulation, warmup."""

import math
from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional as F


@dataclass
class Config:
    vocab: int = 40
    block: int = 24
    layers: int = 2
    heads: int = 2
    width: int = 32
    rank: int = 4
    alpha: float = 8.0
    accum: int = 2
    steps: int = 30
    lr: float = 5e-3


cfg = Config()
torch.manual_seed(11)


class LoRALinear(nn.Module):
    def __init__(self, base, rank, alpha):
        super().__init__()
        self.base = base
        for p in self.base.parameters():
            p.requires_grad_(False)
        self.A = nn.Parameter(torch.randn(rank, base.in_features) / math.sqrt(base.in_features))
        self.B = nn.Parameter(torch.zeros(base.out_features, rank))
        self.scaling = alpha / rank

    def forward(self, x):
        return self.base(x) + self.scaling * (x @ self.A.t() @ self.B.t())


class Attention(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.heads = c.heads
        self.q_proj, self.k_proj = nn.Linear(c.width, c.width), nn.Linear(c.width, c.width)
        self.v_proj, self.o_proj = nn.Linear(c.width, c.width), nn.Linear(c.width, c.width)

    def forward(self, x):
        b, t, d = x.shape
        q, k, v = (m(x).view(b, t, self.heads, -1).transpose(1, 2) for m in (self.q_proj, self.k_proj, self.v_proj))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.o_proj(y.transpose(1, 2).reshape(b, t, d))


class Block(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.ln1, self.attn = nn.LayerNorm(c.width), Attention(c)
        self.ln2, self.mlp = nn.LayerNorm(c.width), nn.Sequential(nn.Linear(c.width, 64), nn.GELU(), nn.Linear(64, c.width))

    def forward(self, x):
        x = x + self.attn(self.ln1(x))
        return x + self.mlp(self.ln2(x))


class GPT(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.tok, self.pos = nn.Embedding(c.vocab, c.width), nn.Embedding(c.block, c.width)
        self.blocks = nn.ModuleList([Block(c) for _ in range(c.layers)])
        self.ln_f, self.head = nn.LayerNorm(c.width), nn.Linear(c.width, c.vocab, bias=False)

    def forward(self, idx, labels=None):
        x = self.tok(idx) + self.pos(torch.arange(idx.size(1)))
        for block in self.blocks:
            x = block(x)
        logits = self.head(self.ln_f(x))
        loss = None
        if labels is not None:
            shift_logits, shift_labels = logits[:, :-1].contiguous(), labels[:, 1:].contiguous()
            loss = F.cross_entropy(shift_logits.view(-1, logits.size(-1)), shift_labels.view(-1), ignore_index=-100)
        return logits, loss


def pretraining_batch(n=16):
    start, step = torch.randint(0, cfg.vocab, (n, 1)), torch.randint(1, 4, (n, 1))
    return (start + step * torch.arange(cfg.block)) % cfg.vocab


def chat_batch(n=8):
    """A prompt of 8 words, an answer that gives them backwards; the prompt is no label."""
    prompt = torch.randint(3, cfg.vocab, (n, 8))
    ids = torch.cat([torch.ones(n, 1, dtype=torch.long), prompt, torch.full((n, 1), 2), prompt.flip(1)], 1)
    labels = ids.clone()
    labels[:, :10] = -100
    return ids, labels


model = GPT(cfg)
pretrain = torch.optim.AdamW(model.parameters(), lr=3e-3)
for _ in range(8):
    ids = pretraining_batch()
    _, loss = model(ids, ids)
    pretrain.zero_grad()
    loss.backward()
    pretrain.step()

for p in model.parameters():
    p.requires_grad = False
for block in model.blocks:
    block.attn.q_proj = LoRALinear(block.attn.q_proj, cfg.rank, cfg.alpha)
    block.attn.v_proj = LoRALinear(block.attn.v_proj, cfg.rank, cfg.alpha)
trainable = [p for p in model.parameters() if p.requires_grad]
print(sum(p.numel() for p in trainable), "of", sum(p.numel() for p in model.parameters()))
optimizer = torch.optim.AdamW(trainable, lr=cfg.lr, weight_decay=0.01)
scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda s: min(1.0, (s + 1) / 5))

model.train()
for step in range(cfg.steps):
    running = 0.0
    optimizer.zero_grad()
    for _ in range(cfg.accum):
        ids, labels = chat_batch()
        _, loss = model(ids, labels)
        loss = loss / cfg.accum
        loss.backward()
        running += loss.item()
    nn.utils.clip_grad_norm_(trainable, 1.0)
    optimizer.step()
    scheduler.step()
    if step % 10 == 0:
        print(step, running)
