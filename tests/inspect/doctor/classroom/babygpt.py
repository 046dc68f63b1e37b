"""A GPT of two blocks on patterned ids: accumulation over micro batches, warmup and cosine by hand, an estimate of both losses."""

import math

import torch
import torch.nn as nn
from torch.nn import functional as F

torch.manual_seed(1337)
batch_size, block_size, n_embd, n_head, n_layer, vocab_size = 8, 24, 32, 4, 2, 40
max_iters, grad_accum, warmup_iters, min_lr, max_lr = 36, 2, 4, 3e-4, 3e-3
follow = torch.stack([torch.randperm(vocab_size) for _ in range(2)])
ids = [3]
for _ in range(6000):
    ids.append(int(follow[int(torch.rand(1) < 0.25)][ids[-1]]))
data = torch.tensor(ids)
n = int(0.9 * len(data))
splits = {"train": data[:n], "val": data[n:]}


def get_batch(split):
    source = splits[split]
    ix = torch.randint(len(source) - block_size - 1, (batch_size,))
    x = torch.stack([source[i : i + block_size] for i in ix])
    y = torch.stack([source[i + 1 : i + 1 + block_size] for i in ix])
    return x, y


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.ln_1, self.ln_2 = nn.LayerNorm(n_embd), nn.LayerNorm(n_embd)
        self.c_attn, self.c_proj = nn.Linear(n_embd, 3 * n_embd), nn.Linear(n_embd, n_embd)
        self.mlp = nn.Sequential(nn.Linear(n_embd, 4 * n_embd), nn.GELU(), nn.Linear(4 * n_embd, n_embd), nn.Dropout(0.1))

    def forward(self, x):
        B, T, C = x.size()
        q, k, v = self.c_attn(self.ln_1(x)).split(n_embd, dim=2)
        q, k, v = (z.view(B, T, n_head, C // n_head).transpose(1, 2) for z in (q, k, v))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.c_proj(y.transpose(1, 2).contiguous().view(B, T, C))
        return x + self.mlp(self.ln_2(x))


class GPT(nn.Module):
    def __init__(self):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(vocab_size, n_embd), nn.Embedding(block_size, n_embd)
        self.h, self.ln_f = nn.ModuleList([Block() for _ in range(n_layer)]), nn.LayerNorm(n_embd)
        self.lm_head = nn.Linear(n_embd, vocab_size, bias=False)
        self.apply(self._init_weights)

    def _init_weights(self, module):
        if isinstance(module, (nn.Linear, nn.Embedding)):
            nn.init.normal_(module.weight, mean=0.0, std=0.02)

    def forward(self, idx, targets=None):
        x = self.wte(idx) + self.wpe(torch.arange(idx.size(1)))
        for block in self.h:
            x = block(x)
        logits = self.lm_head(self.ln_f(x))
        if targets is None:
            return logits, None
        return logits, F.cross_entropy(logits.view(-1, logits.size(-1)), targets.view(-1))


model = GPT()
optimizer = torch.optim.AdamW(model.parameters(), lr=max_lr, betas=(0.9, 0.95), weight_decay=0.1)


def get_lr(it):
    if it < warmup_iters:
        return max_lr * (it + 1) / warmup_iters
    ratio = (it - warmup_iters) / (max_iters - warmup_iters)
    return min_lr + 0.5 * (1 + math.cos(math.pi * ratio)) * (max_lr - min_lr)


@torch.no_grad()
def estimate_loss():
    model.eval()
    out = {}
    for split in splits:
        out[split] = sum(model(*get_batch(split))[1].item() for _ in range(4)) / 4
    model.train()
    return out


for it in range(max_iters):
    for group in optimizer.param_groups:
        group["lr"] = get_lr(it)
    if it % 12 == 0:
        print(it, estimate_loss())
    optimizer.zero_grad(set_to_none=True)
    for _micro in range(grad_accum):
        xb, yb = get_batch("train")
        logits, loss = model(xb, yb)
        (loss / grad_accum).backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
