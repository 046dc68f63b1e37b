"""Transformer-XL by hand: (T, B), a memory of the segment before, distances with the biases u and v, a relative shift."""

import badak as torch
from badak import nn
from badak.nn import functional as F


class PositionalEmbedding(nn.Module):
    def __init__(self, demb):
        super().__init__()
        self.register_buffer("inv_freq", 1 / (10000 ** (torch.arange(0.0, demb, 2.0) / demb)))

    def forward(self, pos_seq):
        sinusoid = torch.outer(pos_seq, self.inv_freq)
        return torch.cat([sinusoid.sin(), sinusoid.cos()], dim=-1)


class PositionwiseFF(nn.Module):
    def __init__(self, d_model, d_inner):
        super().__init__()
        self.CoreNet = nn.Sequential(nn.Linear(d_model, d_inner), nn.ReLU(), nn.Linear(d_inner, d_model))
        self.layer_norm = nn.LayerNorm(d_model)

    def forward(self, inp):
        core_out = self.CoreNet(inp)
        return self.layer_norm(inp + core_out)


class RelAttn(nn.Module):
    def __init__(self, n_head, d_model, d_head):
        super().__init__()
        self.n_head, self.d_head = n_head, d_head
        self.q_net = nn.Linear(d_model, n_head * d_head, bias=False)
        self.kv_net = nn.Linear(d_model, 2 * n_head * d_head, bias=False)
        self.r_net = nn.Linear(d_model, n_head * d_head, bias=False)
        self.o_net = nn.Linear(n_head * d_head, d_model, bias=False)
        self.layer_norm = nn.LayerNorm(d_model)
        self.scale = 1 / (d_head**0.5)

    def _rel_shift(self, x):
        q, k = x.size(0), x.size(1)
        zero_pad = torch.zeros(q, 1, *x.size()[2:], dtype=x.dtype)
        x_padded = torch.cat([zero_pad, x], dim=1).view(k + 1, q, *x.size()[2:])
        return x_padded[1:].view(q, k, *x.size()[2:])

    def forward(self, w, r, r_w_bias, r_r_bias, attn_mask, mems):
        qlen, rlen, bsz = w.size(0), r.size(0), w.size(1)
        cat = torch.cat([mems, w], dim=0)
        k, v = self.kv_net(cat).chunk(2, dim=-1)
        klen = k.size(0)
        q = self.q_net(w).view(qlen, bsz, self.n_head, self.d_head)
        k = k.view(klen, bsz, self.n_head, self.d_head)
        v = v.view(klen, bsz, self.n_head, self.d_head)
        r_k = self.r_net(r).view(rlen, self.n_head, self.d_head)
        AC = torch.einsum("ibnd,jbnd->ijbn", q + r_w_bias, k)
        BD = torch.einsum("ibnd,jnd->ijbn", q + r_r_bias, r_k)
        BD = self._rel_shift(BD)
        score = (AC + BD) * self.scale
        score = score.masked_fill(attn_mask[:, :, None, None], -1e30)
        prob = F.softmax(score, dim=1)
        vec = torch.einsum("ijbn,jbnd->ibnd", prob, v)
        vec = vec.contiguous().view(qlen, bsz, self.n_head * self.d_head)
        return self.layer_norm(w + self.o_net(vec))


class RelLayer(nn.Module):
    def __init__(self, n_head, d_model, d_head, d_inner):
        super().__init__()
        self.dec_attn, self.pos_ff = RelAttn(n_head, d_model, d_head), PositionwiseFF(d_model, d_inner)

    def forward(self, x, *args):
        return self.pos_ff(self.dec_attn(x, *args))


class MemTransformerLM(nn.Module):
    def __init__(self, n_token=61, n_layer=2, n_head=4, d_model=32, mem_len=6):
        super().__init__()
        self.word_emb = nn.Embedding(n_token, d_model)
        self.pos_emb = PositionalEmbedding(d_model)
        self.r_w_bias = nn.Parameter(torch.randn(n_head, d_model // n_head) * 0.2)
        self.r_r_bias = nn.Parameter(torch.randn(n_head, d_model // n_head) * 0.2)
        self.layers = nn.ModuleList([RelLayer(n_head, d_model, d_model // n_head, 64) for _ in range(n_layer)])
        self.out = nn.Linear(d_model, n_token)
        self.n_layer, self.d_model, self.mem_len = n_layer, d_model, mem_len

    def forward(self, data, target=None):
        qlen, bsz = data.size()
        mems = [torch.zeros(self.mem_len, bsz, self.d_model) for _ in range(self.n_layer)]
        klen = qlen + self.mem_len
        mask = torch.triu(torch.ones(qlen, klen), diagonal=1 + self.mem_len).bool()
        mask[:, : self.mem_len] = True
        r = self.pos_emb(torch.arange(klen - 1, -1, -1.0))
        core = self.word_emb(data) * self.d_model**0.5
        for layer, mem in zip(self.layers, mems):
            core = layer(core, r, self.r_w_bias, self.r_r_bias, mask, mem)
        logits = self.out(core)
        if target is None:
            return logits
        return F.cross_entropy(logits.view(-1, logits.size(-1)), target.reshape(-1)), logits


def build():
    text = torch.randint(61, (15, 4))
    return {"model": MemTransformerLM(), "batch": {"data": text[:-1], "target": text[1:]}}
