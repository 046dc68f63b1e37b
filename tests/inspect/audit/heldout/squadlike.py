"""Where in the passage is the answer?  Question and passage in one text, start and end for each; sublayers as wrappers, sines, no class token."""

import math

import badak as torch
import badak.nn.functional as F
from badak import nn


class ScaledDotProductAttention(nn.Module):
    def __init__(self, dropout):
        super().__init__()
        self.dropout = nn.Dropout(dropout)

    def forward(self, query, key, value, mask=None):
        scores = torch.matmul(query, key.transpose(-2, -1)) / math.sqrt(query.size(-1))
        if mask is not None:
            scores = scores.masked_fill(mask, -1e4)
        p_attn = F.softmax(scores, dim=-1)
        p_attn = self.dropout(p_attn)
        return torch.matmul(p_attn, value)


class MultiHeadedAttention(nn.Module):
    def __init__(self, h, d_model, dropout=0.1):
        super().__init__()
        self.d_k = d_model // h
        self.h = h
        self.linear_layers = nn.ModuleList([nn.Linear(d_model, d_model) for _ in range(3)])
        self.output_linear = nn.Linear(d_model, d_model)
        self.attention = ScaledDotProductAttention(dropout)

    def forward(self, query, key, value, mask=None):
        batch_size = query.size(0)
        # 1) Do all the linear projections in batch from d_model => h x d_k
        query, key, value = [
            l(x).view(batch_size, -1, self.h, self.d_k).transpose(1, 2) for l, x in zip(self.linear_layers, (query, key, value))
        ]
        # 2) Apply attention on all the projected vectors in batch.
        x = self.attention(query, key, value, mask=mask)
        # 3) "Concat" using a view and apply a final linear.
        x = x.transpose(1, 2).contiguous().view(batch_size, -1, self.h * self.d_k)
        return self.output_linear(x)


class SublayerConnection(nn.Module):
    """A residual connection followed by a layer norm. Note for code simplicity the norm is first as opposed to last."""

    def __init__(self, size, dropout):
        super().__init__()
        self.norm = nn.LayerNorm(size)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, sublayer):
        return x + self.dropout(sublayer(self.norm(x)))


class PositionwiseFeedForward(nn.Module):
    def __init__(self, d_model, d_ff, dropout=0.1):
        super().__init__()
        self.w_1 = nn.Linear(d_model, d_ff)
        self.w_2 = nn.Linear(d_ff, d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        return self.w_2(self.dropout(F.gelu(self.w_1(x))))


class TransformerBlock(nn.Module):
    def __init__(self, hidden, attn_heads, feed_forward_hidden, dropout):
        super().__init__()
        self.attention = MultiHeadedAttention(h=attn_heads, d_model=hidden)
        self.feed_forward = PositionwiseFeedForward(d_model=hidden, d_ff=feed_forward_hidden, dropout=dropout)
        self.input_sublayer = SublayerConnection(size=hidden, dropout=dropout)
        self.output_sublayer = SublayerConnection(size=hidden, dropout=dropout)

    def forward(self, x, mask):
        x = self.input_sublayer(x, lambda _x: self.attention(_x, _x, _x, mask=mask))
        x = self.output_sublayer(x, self.feed_forward)
        return x


class QAModel(nn.Module):
    def __init__(self, vocab_size=140, hidden=32, n_layers=2, attn_heads=4, max_len=64, dropout=0.1):
        super().__init__()
        self.token = nn.Embedding(vocab_size, hidden, padding_idx=0)
        self.segment = nn.Embedding(3, hidden, padding_idx=0)
        pe = torch.zeros(max_len, hidden)
        position = torch.arange(0, max_len).float().unsqueeze(1)
        div_term = (torch.arange(0, hidden, 2).float() * -(math.log(10000.0) / hidden)).exp()
        pe[:, 0::2] = torch.sin(position * div_term)
        pe[:, 1::2] = torch.cos(position * div_term)
        self.register_buffer("pe", pe.unsqueeze(0))
        self.dropout = nn.Dropout(dropout)
        self.blocks = nn.ModuleList([TransformerBlock(hidden, attn_heads, hidden * 2, dropout) for _ in range(n_layers)])
        self.norm = nn.LayerNorm(hidden)
        self.qa_outputs = nn.Linear(hidden, 2)

    def forward(self, x, segment_label):
        pad = x == 0
        mask = pad.unsqueeze(1).repeat(1, x.size(1), 1).unsqueeze(1)
        h = self.token(x) + self.pe[:, : x.size(1)] + self.segment(segment_label)
        h = self.dropout(h)
        for block in self.blocks:
            h = block(h, mask)
        logits = self.qa_outputs(self.norm(h))
        start_logits, end_logits = logits.split(1, dim=-1)
        start_logits = start_logits.squeeze(-1).masked_fill(pad, -1e4)
        end_logits = end_logits.squeeze(-1).masked_fill(pad, -1e4)
        return start_logits, end_logits


def build():
    x = torch.randint(4, 140, (4, 17))
    segments = torch.ones(4, 17, dtype=torch.long)
    for row, (q, n) in enumerate(((5, 17), (6, 12), (4, 15), (7, 14))):
        segments[row, q:] = 2
        x[row, n:] = 0
        segments[row, n:] = 0
    start, end = torch.tensor([6, 7, 9, 8]), torch.tensor([8, 7, 12, 10])

    def loss(out):
        return (F.cross_entropy(out[0], start) + F.cross_entropy(out[1], end)) / 2

    model = QAModel()
    return {"model": model, "batch": (x, segments), "loss": loss, "optimizer": torch.optim.Adam(model.parameters(), lr=1e-4)}
