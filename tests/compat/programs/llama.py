"""A decoder in the style of LLaMA: RMSNorm, rotary positions in complex numbers, grouped heads, a cache, inference_mode."""

import torch
from torch import nn

torch.manual_seed(3)
torch.set_printoptions(precision=3, sci_mode=False)
torch.set_float32_matmul_precision("high")


class RMSNorm(nn.Module):
    def __init__(self, dim: int, eps: float = 1e-6):
        super().__init__()
        self.eps, self.weight = eps, nn.Parameter(torch.ones(dim))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return (x.float() * torch.rsqrt(x.float().pow(2).mean(-1, keepdim=True) + self.eps)).type_as(x) * self.weight


def frequencies(dim: int, end: int, theta: float = 10000.0) -> torch.Tensor:
    freqs = 1.0 / (theta ** (torch.arange(0, dim, 2)[: (dim // 2)].float() / dim))
    freqs = torch.outer(torch.arange(end, device=freqs.device), freqs).float()
    return torch.polar(torch.ones_like(freqs), freqs)


def rotate(x: torch.Tensor, freqs: torch.Tensor) -> torch.Tensor:
    x_ = torch.view_as_complex(x.float().reshape(*x.shape[:-1], -1, 2))
    freqs = freqs.view(*[d if i in (1, x_.ndim - 1) else 1 for i, d in enumerate(x_.shape)])
    return torch.view_as_real(x_ * freqs).flatten(3).type_as(x)


class Attention(nn.Module):
    def __init__(self, dim, heads, kv_heads, length):
        super().__init__()
        self.heads, self.kv_heads, self.head_dim = heads, kv_heads, dim // heads
        self.wq = nn.Linear(dim, dim, bias=False)
        self.wk, self.wv = (nn.Linear(dim, kv_heads * self.head_dim, bias=False) for _ in range(2))
        self.wo = nn.Linear(dim, dim, bias=False)
        self.register_buffer("cache_k", torch.zeros(2, length, kv_heads, self.head_dim), persistent=False)
        self.register_buffer("cache_v", torch.zeros(2, length, kv_heads, self.head_dim), persistent=False)

    def forward(self, x, start, freqs, mask):
        B, T, _ = x.shape
        q, k, v = self.wq(x), self.wk(x), self.wv(x)
        q = rotate(q.view(B, T, self.heads, self.head_dim), freqs)
        k, v = (z.view(B, T, self.kv_heads, self.head_dim) for z in (k, v))
        k = rotate(k, freqs)
        if not self.training:
            self.cache_k[:B, start : start + T] = k
            self.cache_v[:B, start : start + T] = v
            k, v = self.cache_k[:B, : start + T], self.cache_v[:B, : start + T]
        k, v = (z.repeat_interleave(self.heads // self.kv_heads, dim=2) for z in (k, v))
        q, k, v = (z.transpose(1, 2) for z in (q, k, v))
        scores = q @ k.transpose(2, 3) / self.head_dim**0.5
        if mask is not None:
            scores = scores + mask
        y = nn.functional.softmax(scores.float(), dim=-1).type_as(q) @ v
        return self.wo(y.transpose(1, 2).contiguous().view(B, T, -1))


class Llama(nn.Module):
    def __init__(self, vocab=31, dim=32, layers=2, length=16):
        super().__init__()
        self.tok_embeddings, self.output = nn.Embedding(vocab, dim), nn.Linear(dim, vocab, bias=False)
        self.layers = nn.ModuleList(
            nn.ModuleList(
                [
                    RMSNorm(dim),
                    Attention(dim, 4, 2, length),
                    RMSNorm(dim),
                    nn.Sequential(nn.Linear(dim, 64), nn.SiLU(), nn.Linear(64, dim)),
                ]
            )
            for _ in range(layers)
        )
        self.norm, self.freqs = RMSNorm(dim), frequencies(dim // 4, length * 2)

    def forward(self, tokens, start=0):
        h, T = self.tok_embeddings(tokens), tokens.shape[1]
        freqs, mask = self.freqs[start : start + T], None
        if T > 1:
            mask = torch.triu(torch.full((T, T), float("-inf"), device=tokens.device), diagonal=1)
            mask = torch.hstack([torch.zeros((T, start)), mask]).type_as(h)
        for norm_a, attend, norm_b, feed in self.layers:
            h = h + attend(norm_a(h), start, freqs, mask)
            h = h + feed(norm_b(h))
        return self.output(self.norm(h)).float()


model = Llama()
tokens = torch.randint(0, 31, (2, 9))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2, betas=(0.9, 0.95), fused=False)
model = torch.compile(model, dynamic=False, fullgraph=True, disable=True)
for step in range(5):
    logits = model(tokens[:, :-1])
    loss = nn.functional.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, round(loss.item(), 4))
model.eval()


@torch.inference_mode()
def generate(prompt, count):
    logits = model(prompt, 0)
    for position in range(prompt.shape[1], prompt.shape[1] + count):
        following = torch.argmax(logits[:, -1], dim=-1, keepdim=True)
        prompt = torch.cat([prompt, following], dim=1)
        logits = model(following, position)
    return prompt


made = generate(tokens[:, :4], 5)
print(made)
with torch.no_grad():
    whole = model(made)
print("the cache gives what the whole gives:", torch.equal(whole.argmax(-1)[:, 3:-1], made[:, 4:]))
print(whole[0, -1, :6], sorted(model.state_dict())[:3])
