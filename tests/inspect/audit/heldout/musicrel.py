"""Notes one after the other, as the Music Transformer writes them: distances by a relative shift of q E^T, post norms."""

import math

import badak as torch
from badak import nn


class RelativeGlobalAttention(nn.Module):
    def __init__(self, h=4, d=64, max_seq=64):
        super().__init__()
        self.max_seq, self.h, self.d, self.dh = max_seq, h, d, d // h
        self.Wq, self.Wk, self.Wv = nn.Linear(d, d), nn.Linear(d, d), nn.Linear(d, d)
        self.fc = nn.Linear(d, d)
        self.E = nn.Parameter(torch.randn(max_seq, d // h) * 0.3)

    def forward(self, inputs, mask):
        q, k, v = inputs
        q = self.Wq(q).reshape(q.shape[0], q.shape[1], self.h, -1).permute(0, 2, 1, 3)
        k = self.Wk(k).reshape(k.shape[0], k.shape[1], self.h, -1).permute(0, 2, 1, 3)
        v = self.Wv(v).reshape(v.shape[0], v.shape[1], self.h, -1).permute(0, 2, 1, 3)
        self.len_k, self.len_q = k.size(2), q.size(2)
        E = self._get_left_embedding(self.len_q)
        QE = torch.einsum("bhld,md->bhlm", q, E)
        Srel = self._skewing(self._qe_masking(QE))
        QKt = torch.matmul(q, k.permute(0, 1, 3, 2))
        logits = (QKt + Srel) / math.sqrt(self.dh)
        logits = logits + (mask.to(torch.float32) * -1e9)
        attention_weights = torch.softmax(logits, -1)
        attention = torch.matmul(attention_weights, v).permute(0, 2, 1, 3)
        return self.fc(attention.reshape(attention.size(0), -1, self.d))

    def _get_left_embedding(self, len_q):
        return self.E[max(0, self.max_seq - len_q) :, :]

    def _skewing(self, tensor):
        padded = torch.nn.functional.pad(tensor, [1, 0, 0, 0, 0, 0, 0, 0])
        reshaped = padded.reshape(padded.size(0), padded.size(1), padded.size(-1), padded.size(-2))
        return reshaped[:, :, 1:, :]

    @staticmethod
    def _qe_masking(qe):
        n = qe.size(-1)
        keep = (torch.arange(n)[None, :] + torch.arange(qe.size(-2))[:, None]) >= n - 1
        return keep.to(qe.dtype) * qe


class EncoderLayer(nn.Module):
    def __init__(self, d_model, h, max_seq, rate=0.1):
        super().__init__()
        self.rga = RelativeGlobalAttention(h=h, d=d_model, max_seq=max_seq)
        self.FFN_pre, self.FFN_suf = nn.Linear(d_model, d_model // 2), nn.Linear(d_model // 2, d_model)
        self.layernorm1, self.layernorm2 = nn.LayerNorm(d_model, eps=1e-6), nn.LayerNorm(d_model, eps=1e-6)
        self.dropout1, self.dropout2 = nn.Dropout(rate), nn.Dropout(rate)

    def forward(self, x, mask):
        attn_out = self.rga([x, x, x], mask)
        out1 = self.layernorm1(self.dropout1(attn_out) + x)
        ffn_out = torch.relu(self.FFN_pre(out1))
        ffn_out = self.FFN_suf(ffn_out)
        return self.layernorm2(out1 + self.dropout2(ffn_out))


class MusicTransformer(nn.Module):
    def __init__(self, embedding_dim=48, vocab_size=53, num_layer=3, max_seq=32):
        super().__init__()
        self.max_seq, self.embedding_dim = max_seq, embedding_dim
        self.embedding = nn.Embedding(vocab_size, embedding_dim)
        self.enc_layers = nn.ModuleList([EncoderLayer(embedding_dim, 4, max_seq) for _ in range(num_layer)])
        self.dropout = nn.Dropout(0.1)
        self.fc = nn.Linear(embedding_dim, vocab_size)

    def forward(self, x):
        n = x.shape[1]
        look_ahead = torch.triu(torch.ones(n, n), diagonal=1)
        x = self.embedding(x.to(torch.long))
        x = x * math.sqrt(self.embedding_dim)
        x = self.dropout(x)
        for layer in self.enc_layers:
            x = layer(x, look_ahead)
        return self.fc(x).contiguous()


def build():
    return {"model": MusicTransformer(), "batch": (torch.randint(53, (3, 18)),)}
