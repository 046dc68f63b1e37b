"""A GPT whose weights are bare parameters for each head, as TransformerLens lays them out: W_Q, W_K, W_V, W_O, W_E, W_pos, W_U and einsum."""

from dataclasses import dataclass

import badak as torch
import badak.nn as nn
import badak.nn.functional as F


@dataclass
class Config:
    d_model: int = 32
    layer_norm_eps: float = 1e-5
    d_vocab: int = 67
    init_range: float = 0.1
    n_ctx: int = 32
    d_head: int = 8
    d_mlp: int = 96
    n_heads: int = 4
    n_layers: int = 2


class LayerNorm(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.cfg = cfg
        self.w = nn.Parameter(torch.ones(cfg.d_model))
        self.b = nn.Parameter(torch.zeros(cfg.d_model))

    def forward(self, residual):
        residual_mean = residual.mean(dim=-1, keepdim=True)
        residual_std = (residual.var(dim=-1, keepdim=True, unbiased=False) + self.cfg.layer_norm_eps).sqrt()
        residual = (residual - residual_mean) / residual_std
        return residual * self.w + self.b


class Embed(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.W_E = nn.Parameter(torch.empty((cfg.d_vocab, cfg.d_model)))
        nn.init.normal_(self.W_E, std=cfg.init_range)

    def forward(self, tokens):
        return self.W_E[tokens]


class PosEmbed(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.W_pos = nn.Parameter(torch.empty((cfg.n_ctx, cfg.d_model)))
        nn.init.normal_(self.W_pos, std=cfg.init_range)

    def forward(self, tokens):
        batch, seq_len = tokens.shape
        return self.W_pos[:seq_len].unsqueeze(0).expand(batch, -1, -1)


class Attention(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.cfg = cfg
        self.W_Q = nn.Parameter(torch.empty((cfg.n_heads, cfg.d_model, cfg.d_head)))
        self.W_K = nn.Parameter(torch.empty((cfg.n_heads, cfg.d_model, cfg.d_head)))
        self.W_V = nn.Parameter(torch.empty((cfg.n_heads, cfg.d_model, cfg.d_head)))
        self.W_O = nn.Parameter(torch.empty((cfg.n_heads, cfg.d_head, cfg.d_model)))
        self.b_Q = nn.Parameter(torch.zeros((cfg.n_heads, cfg.d_head)))
        self.b_K = nn.Parameter(torch.zeros((cfg.n_heads, cfg.d_head)))
        self.b_V = nn.Parameter(torch.zeros((cfg.n_heads, cfg.d_head)))
        self.b_O = nn.Parameter(torch.zeros((cfg.d_model)))
        for w in (self.W_Q, self.W_K, self.W_V, self.W_O):
            nn.init.normal_(w, std=cfg.init_range)
        self.register_buffer("IGNORE", torch.tensor(float("-inf")))

    def forward(self, normalized_resid_pre):
        q = torch.einsum("bpd,ndh->bpnh", normalized_resid_pre, self.W_Q) + self.b_Q
        k = torch.einsum("bpd,ndh->bpnh", normalized_resid_pre, self.W_K) + self.b_K
        v = torch.einsum("bpd,ndh->bpnh", normalized_resid_pre, self.W_V) + self.b_V
        attn_scores = torch.einsum("bqnh,bknh->bnqk", q, k)
        attn_scores_masked = self.apply_causal_mask(attn_scores / self.cfg.d_head**0.5)
        attn_pattern = attn_scores_masked.softmax(-1)
        z = torch.einsum("bknh,bnqk->bqnh", v, attn_pattern)
        return torch.einsum("bqnh,nhd->bqd", z, self.W_O) + self.b_O

    def apply_causal_mask(self, attn_scores):
        all_ones = torch.ones(attn_scores.size(-2), attn_scores.size(-1))
        mask = torch.triu(all_ones, diagonal=1).bool()
        return attn_scores.masked_fill(mask, float("-inf"))


class MLP(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.W_in = nn.Parameter(torch.empty((cfg.d_model, cfg.d_mlp)))
        self.W_out = nn.Parameter(torch.empty((cfg.d_mlp, cfg.d_model)))
        self.b_in = nn.Parameter(torch.zeros((cfg.d_mlp)))
        self.b_out = nn.Parameter(torch.zeros((cfg.d_model)))
        nn.init.normal_(self.W_in, std=cfg.init_range)
        nn.init.normal_(self.W_out, std=cfg.init_range)

    def forward(self, normalized_resid_mid):
        pre = torch.einsum("bpd,dm->bpm", normalized_resid_mid, self.W_in) + self.b_in
        post = F.gelu(pre, approximate="tanh")
        return torch.einsum("bpm,md->bpd", post, self.W_out) + self.b_out


class TransformerBlock(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.ln1 = LayerNorm(cfg)
        self.attn = Attention(cfg)
        self.ln2 = LayerNorm(cfg)
        self.mlp = MLP(cfg)

    def forward(self, resid_pre):
        resid_mid = self.attn(self.ln1(resid_pre)) + resid_pre
        resid_post = self.mlp(self.ln2(resid_mid)) + resid_mid
        return resid_post


class Unembed(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.W_U = nn.Parameter(torch.empty((cfg.d_model, cfg.d_vocab)))
        self.b_U = nn.Parameter(torch.zeros((cfg.d_vocab), requires_grad=False))
        nn.init.normal_(self.W_U, std=cfg.init_range)

    def forward(self, normalized_resid_final):
        return torch.einsum("bpd,dv->bpv", normalized_resid_final, self.W_U) + self.b_U


class DemoTransformer(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.cfg = cfg
        self.embed = Embed(cfg)
        self.pos_embed = PosEmbed(cfg)
        self.blocks = nn.ModuleList([TransformerBlock(cfg) for _ in range(cfg.n_layers)])
        self.ln_final = LayerNorm(cfg)
        self.unembed = Unembed(cfg)

    def forward(self, tokens):
        residual = self.embed(tokens) + self.pos_embed(tokens)
        for block in self.blocks:
            residual = block(residual)
        return self.unembed(self.ln_final(residual))


def get_log_probs(logits, tokens):
    log_probs = logits.log_softmax(dim=-1)
    return log_probs[:, :-1].gather(dim=-1, index=tokens[:, 1:].unsqueeze(-1)).squeeze(-1)


def build():
    cfg = Config()
    tokens = torch.randint(0, cfg.d_vocab, (4, 13))
    model = DemoTransformer(cfg)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=1e-2)
    return {"model": model, "batch": tokens, "loss": lambda logits: -get_log_probs(logits, tokens).mean(), "optimizer": optimizer}
