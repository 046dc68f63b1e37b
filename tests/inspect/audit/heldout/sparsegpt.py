"""A GPT with sparse experts: a router chooses two of six for each token, a loss that balances them, rotary by a cache of cos and sin, GQA by expand."""

import badak as torch
import badak.nn as nn
import badak.nn.functional as F


class Expert(nn.Module):
    def __init__(self, dim, hidden):
        super().__init__()
        self.w1 = nn.Linear(dim, hidden, bias=False)
        self.w2 = nn.Linear(hidden, dim, bias=False)
        self.w3 = nn.Linear(dim, hidden, bias=False)

    def forward(self, x):
        return self.w2(F.silu(self.w1(x)) * self.w3(x))


class SparseMoE(nn.Module):
    def __init__(self, dim, hidden, num_experts=6, top_k=2):
        super().__init__()
        self.num_experts, self.top_k = num_experts, top_k
        self.gate = nn.Linear(dim, num_experts, bias=False)
        self.experts = nn.ModuleList([Expert(dim, hidden) for _ in range(num_experts)])

    def forward(self, hidden_states):
        batch_size, sequence_length, dim = hidden_states.shape
        flat = hidden_states.view(-1, dim)
        router_logits = self.gate(flat)
        routing = F.softmax(router_logits, dim=1)
        weights, selected = torch.topk(routing, self.top_k, dim=-1)
        weights = weights / weights.sum(dim=-1, keepdim=True)
        final = torch.zeros_like(flat)
        for i, expert in enumerate(self.experts):
            token, slot = torch.where(selected == i)
            if token.numel() == 0:
                continue
            current = expert(flat[token]) * weights[token, slot].unsqueeze(-1)
            final = final.index_add(0, token, current)
        # Switch loss: share of tokens times mean probability
        share = F.one_hot(selected, self.num_experts).float().sum(1).mean(0)
        balance = self.num_experts * (share * routing.mean(0)).sum()
        return final.view(batch_size, sequence_length, dim), balance


class RotaryCache(nn.Module):
    def __init__(self, dim, max_len=64, base=10000):
        super().__init__()
        theta = 1.0 / base ** (torch.arange(0, dim, 2).float() / dim)
        angles = torch.einsum("i,j->ij", torch.arange(max_len).float(), theta)
        self.register_buffer("cos", angles.cos(), persistent=False)
        self.register_buffer("sin", angles.sin(), persistent=False)

    def forward(self, x):
        # x (B, T, H, D)
        T = x.shape[1]
        cos, sin = self.cos[None, :T, None, :], self.sin[None, :T, None, :]
        x1, x2 = x.float().reshape(*x.shape[:-1], -1, 2).unbind(-1)
        out = torch.stack([x1 * cos - x2 * sin, x2 * cos + x1 * sin], dim=-1)
        return out.flatten(3).type_as(x)


class Attention(nn.Module):
    def __init__(self, dim, n_heads, n_kv_heads, p):
        super().__init__()
        self.n_heads, self.n_kv_heads, self.head_dim = n_heads, n_kv_heads, dim // n_heads
        self.wq = nn.Linear(dim, n_heads * self.head_dim, bias=False)
        self.wkv = nn.Linear(dim, 2 * n_kv_heads * self.head_dim, bias=False)
        self.wo = nn.Linear(n_heads * self.head_dim, dim, bias=False)
        self.rotary = RotaryCache(self.head_dim)
        self.p = p

    def forward(self, x):
        B, T, _ = x.shape
        q = self.wq(x).view(B, T, self.n_heads, self.head_dim)
        k, v = self.wkv(x).view(B, T, 2, self.n_kv_heads, self.head_dim).unbind(2)
        q, k = self.rotary(q), self.rotary(k)
        rep = self.n_heads // self.n_kv_heads
        k = k.repeat_interleave(rep, dim=2)
        v = v.repeat_interleave(rep, dim=2)
        q, k, v = (t.transpose(1, 2) for t in (q, k, v))
        y = F.scaled_dot_product_attention(q, k, v, dropout_p=self.p if self.training else 0.0, is_causal=True)
        return self.wo(y.transpose(1, 2).reshape(B, T, -1))


class Block(nn.Module):
    def __init__(self, dim, n_heads, n_kv_heads, hidden, p):
        super().__init__()
        self.norm1, self.norm2 = nn.RMSNorm(dim), nn.RMSNorm(dim)
        self.attn = Attention(dim, n_heads, n_kv_heads, p)
        self.moe = SparseMoE(dim, hidden)

    def forward(self, x):
        x = x + self.attn(self.norm1(x))
        y, balance = self.moe(self.norm2(x))
        return x + y, balance


class SparseGPT(nn.Module):
    def __init__(self, vocab=72, dim=32, n_heads=4, n_kv_heads=2, depth=2, hidden=48, p=0.1):
        super().__init__()
        self.tok = nn.Embedding(vocab, dim)
        self.blocks = nn.ModuleList(Block(dim, n_heads, n_kv_heads, hidden, p) for _ in range(depth))
        self.norm = nn.RMSNorm(dim)
        self.out = nn.Linear(dim, vocab, bias=False)
        self.tok.weight = self.out.weight

    def forward(self, x, y=None):
        h = self.tok(x)
        total = 0.0
        for block in self.blocks:
            h, balance = block(h)
            total = total + balance
        logits = self.out(self.norm(h))
        if y is None:
            return logits, None
        loss = F.cross_entropy(logits.view(-1, logits.size(-1)), y.view(-1))
        return logits, loss + 0.01 * total


def get_batch(data, block_size, n):
    ix = torch.randint(len(data) - block_size, (n,))
    x = torch.stack([data[i : i + block_size] for i in ix])
    y = torch.stack([data[i + 1 : i + 1 + block_size] for i in ix])
    return x, y


def build():
    data = torch.randint(0, 72, (400,))
    x, y = get_batch(data, 14, 5)
    model = SparseGPT()
    decay = [p for p in model.parameters() if p.dim() >= 2]
    nodecay = [p for p in model.parameters() if p.dim() < 2]
    optimizer = torch.optim.AdamW([{"params": decay, "weight_decay": 0.1}, {"params": nodecay, "weight_decay": 0.0}], lr=3e-4)
    return {"model": model, "batch": (x, y), "optimizer": optimizer}
