"""Summaries: encoder and decoder in the manner of BART, one table for both sides, F.scaled_dot_product_attention with masks of True = attend."""

from __future__ import annotations

import badak as torch
import badak.nn.functional as F
from badak import Tensor, nn


class MHA(nn.Module):
    def __init__(self, d_model: int, num_heads: int, dropout: float = 0.1):
        super().__init__()
        assert d_model % num_heads == 0
        self.num_heads = num_heads
        self.head_dim = d_model // num_heads
        self.dropout = dropout
        self.q_proj = nn.Linear(d_model, d_model)
        self.k_proj = nn.Linear(d_model, d_model)
        self.v_proj = nn.Linear(d_model, d_model)
        self.out_proj = nn.Linear(d_model, d_model)

    def _shape(self, t: Tensor) -> Tensor:
        return t.unflatten(-1, (self.num_heads, self.head_dim)).transpose(1, 2)

    def forward(self, x: Tensor, kv: Tensor | None = None, mask: Tensor | None = None, causal: bool = False) -> Tensor:
        kv = x if kv is None else kv
        q, k, v = self._shape(self.q_proj(x)), self._shape(self.k_proj(kv)), self._shape(self.v_proj(kv))
        p = self.dropout if self.training else 0.0
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, dropout_p=p, is_causal=causal)
        return self.out_proj(y.transpose(1, 2).flatten(2))


class EncoderLayer(nn.Module):
    def __init__(self, d_model: int, num_heads: int, ffn: int, dropout: float):
        super().__init__()
        self.self_attn = MHA(d_model, num_heads, dropout)
        self.self_attn_layer_norm = nn.LayerNorm(d_model)
        self.fc1, self.fc2 = nn.Linear(d_model, ffn), nn.Linear(ffn, d_model)
        self.final_layer_norm = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        x = self.self_attn_layer_norm(x + self.dropout(self.self_attn(x, mask=mask)))
        y = self.fc2(F.gelu(self.fc1(x)))
        return self.final_layer_norm(x + self.dropout(y))


class DecoderLayer(nn.Module):
    def __init__(self, d_model: int, num_heads: int, ffn: int, dropout: float):
        super().__init__()
        self.self_attn = MHA(d_model, num_heads, dropout)
        self.self_attn_layer_norm = nn.LayerNorm(d_model)
        self.encoder_attn = MHA(d_model, num_heads, dropout)
        self.encoder_attn_layer_norm = nn.LayerNorm(d_model)
        self.fc1, self.fc2 = nn.Linear(d_model, ffn), nn.Linear(ffn, d_model)
        self.final_layer_norm = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor, memory: Tensor, memory_mask: Tensor) -> Tensor:
        residual = x
        x = self.self_attn(x, causal=True)
        x = self.self_attn_layer_norm(residual + self.dropout(x))
        residual = x
        x = self.encoder_attn(x, kv=memory, mask=memory_mask)
        x = self.encoder_attn_layer_norm(residual + self.dropout(x))
        residual = x
        x = self.fc2(F.gelu(self.fc1(x)))
        return self.final_layer_norm(residual + self.dropout(x))


class Summarizer(nn.Module):
    def __init__(
        self,
        vocab: int = 105,
        d_model: int = 32,
        heads: int = 4,
        layers: int = 2,
        ffn: int = 64,
        max_len: int = 64,
        pad_id: int = 1,
    ):
        super().__init__()
        self.pad_id = pad_id
        self.shared = nn.Embedding(vocab, d_model, padding_idx=pad_id)
        self.enc_pos = nn.Embedding(max_len, d_model)
        self.dec_pos = nn.Embedding(max_len, d_model)
        self.encoder = nn.ModuleList([EncoderLayer(d_model, heads, ffn, 0.1) for _ in range(layers)])
        self.decoder = nn.ModuleList([DecoderLayer(d_model, heads, ffn, 0.1) for _ in range(layers)])
        self.embed_norm_enc = nn.LayerNorm(d_model)
        self.embed_norm_dec = nn.LayerNorm(d_model)
        self.lm_head = nn.Linear(d_model, vocab, bias=False)
        self.lm_head.weight = self.shared.weight

    def forward(self, input_ids: Tensor, decoder_input_ids: Tensor) -> Tensor:
        mask = (input_ids != self.pad_id)[:, None, None, :]
        x = self.embed_norm_enc(self.shared(input_ids) + self.enc_pos(torch.arange(input_ids.size(1))))
        for layer in self.encoder:
            x = layer(x, mask)
        y = self.embed_norm_dec(self.shared(decoder_input_ids) + self.dec_pos(torch.arange(decoder_input_ids.size(1))))
        for layer in self.decoder:
            y = layer(y, x, mask)
        return self.lm_head(y)


def shift_right(labels: Tensor, start: int) -> Tensor:
    out = labels.new_full(labels.shape, start)
    out[:, 1:] = labels[:, :-1]
    return out


def build():
    docs = torch.randint(4, 105, (4, 16))
    summaries = torch.randint(4, 105, (4, 9))
    for i, (n, m) in enumerate(((16, 9), (11, 6), (14, 8), (9, 5))):
        docs[i, n:] = 1
        summaries[i, m - 1] = 2
        summaries[i, m:] = 1
    decoder_input_ids = shift_right(summaries, 2)
    model = Summarizer()

    def loss(logits):
        return F.cross_entropy(logits.transpose(1, 2), summaries, ignore_index=1)

    batch = {"input_ids": docs, "decoder_input_ids": decoder_input_ids}
    return {"model": model, "batch": batch, "loss": loss, "optimizer": torch.optim.AdamW(model.parameters(), lr=3e-5)}
