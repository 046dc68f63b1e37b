"""A language model with retention: decays instead of a softmax, pairs of neighbours turned, a norm for each head, a swish gate."""

import badak as torch
from badak import nn
from badak.nn import functional as F


def rotate_every_two(x):
    x1, x2 = x[..., ::2], x[..., 1::2]
    return torch.stack((-x2, x1), dim=-1).flatten(-2)


def theta_shift(x, sin, cos):
    return x * cos + rotate_every_two(x) * sin


class RetPosition(nn.Module):
    def __init__(self, size, heads):
        super().__init__()
        angle = 1.0 / (10000 ** torch.linspace(0, 1, size // 2))
        self.register_buffer("angle", angle.repeat_interleave(2))
        self.register_buffer("decay", torch.log(1 - 2 ** (-3 - torch.arange(heads, dtype=torch.float32))))

    def forward(self, slen):
        index = torch.arange(slen).to(self.decay)
        sin, cos = torch.sin(index[:, None] * self.angle[None, :]), torch.cos(index[:, None] * self.angle[None, :])
        mask = torch.tril(torch.ones(slen, slen)).bool()
        far = torch.masked_fill(index[:, None] - index[None, :], ~mask, float("inf"))
        mask = torch.exp(far * self.decay[:, None, None])
        mask = torch.nan_to_num(mask)
        return sin, cos, mask / mask.sum(dim=-1, keepdim=True).sqrt()


class MultiScaleRetention(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.heads, self.key_dim, self.scaling = heads, d // heads, (d // heads) ** -0.5
        self.q_proj, self.k_proj = nn.Linear(d, d, bias=False), nn.Linear(d, d, bias=False)
        self.v_proj, self.g_proj = nn.Linear(d, d, bias=False), nn.Linear(d, d, bias=False)
        self.out_proj = nn.Linear(d, d, bias=False)
        self.group_norm = nn.LayerNorm(d // heads, elementwise_affine=False)

    def forward(self, x, sin, cos, inner_mask):
        bsz, tgt_len, d = x.size()
        q, k, v, g = self.q_proj(x), self.k_proj(x), self.v_proj(x), self.g_proj(x)
        q = q.view(bsz, tgt_len, self.heads, self.key_dim).transpose(1, 2)
        k = (k * self.scaling).view(bsz, tgt_len, self.heads, self.key_dim).transpose(1, 2)
        v = v.view(bsz, tgt_len, self.heads, self.key_dim).transpose(1, 2)
        qr, kr = theta_shift(q, sin, cos), theta_shift(k, sin, cos)
        qk = qr @ kr.transpose(-1, -2) * inner_mask
        qk = qk / qk.detach().abs().sum(dim=-1, keepdim=True).clamp(min=1)
        output = self.group_norm(torch.matmul(qk, v).transpose(1, 2))
        output = F.silu(g) * output.reshape(bsz, tgt_len, d)
        return self.out_proj(output)


class GLU(nn.Module):
    def __init__(self, d, hidden):
        super().__init__()
        self.fc1, self.gate, self.fc2 = nn.Linear(d, hidden), nn.Linear(d, hidden), nn.Linear(hidden, d)

    def forward(self, x):
        return self.fc2(F.gelu(self.gate(x)) * self.fc1(x))


class DecoderLayer(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.retention, self.ffn = MultiScaleRetention(d, heads), GLU(d, 2 * d)
        self.retention_layer_norm, self.final_layer_norm = nn.LayerNorm(d), nn.LayerNorm(d)

    def forward(self, x, rel_pos):
        residual = x
        x = self.retention(self.retention_layer_norm(x), *rel_pos)
        x = residual + x
        residual = x
        x = self.ffn(self.final_layer_norm(x))
        return residual + x


class RetNet(nn.Module):
    def __init__(self, vocab=67, d=40, heads=4, depth=3):
        super().__init__()
        self.embed_tokens = nn.Embedding(vocab, d)
        self.rel_pos = RetPosition(d // heads, heads)
        self.layers = nn.ModuleList([DecoderLayer(d, heads) for _ in range(depth)])
        self.layer_norm = nn.LayerNorm(d)
        self.output_projection = nn.Linear(d, vocab, bias=False)

    def forward(self, prev_output_tokens):
        x = self.embed_tokens(prev_output_tokens)
        rel = self.rel_pos(x.size(1))
        for layer in self.layers:
            x = layer(x, rel)
        return self.output_projection(self.layer_norm(x))


def build():
    ids = torch.randint(67, (4, 15))
    labels = ids[:, 1:]
    loss = lambda out: F.cross_entropy(out[:, :-1].flatten(0, 1), labels.flatten())
    return {"model": RetNet(), "batch": {"prev_output_tokens": ids}, "loss": loss}
