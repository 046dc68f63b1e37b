"""Are two questions the same?  One encoder for both, means over the words that are there, cosine of the two as the answer."""

import badak as torch
import badak.nn as nn
import badak.nn.functional as F


def scaled_dot_product(q, k, v, mask=None):
    d_k = q.size()[-1]
    attn_logits = torch.matmul(q, k.transpose(-2, -1))
    attn_logits = attn_logits / d_k**0.5
    if mask is not None:
        attn_logits = attn_logits.masked_fill(mask == 0, -9e15)
    attention = F.softmax(attn_logits, dim=-1)
    values = torch.matmul(attention, v)
    return values, attention


class MultiheadAttention(nn.Module):
    def __init__(self, embed_dim, num_heads):
        super().__init__()
        self.embed_dim = embed_dim
        self.num_heads = num_heads
        self.head_dim = embed_dim // num_heads
        # stack all weight matrices 1...h together for efficiency
        self.qkv_proj = nn.Linear(embed_dim, 3 * embed_dim)
        self.o_proj = nn.Linear(embed_dim, embed_dim)

    def forward(self, x, mask=None):
        batch_size, seq_length, _ = x.size()
        qkv = self.qkv_proj(x)
        # separate q, k, v from linear output
        qkv = qkv.reshape(batch_size, seq_length, self.num_heads, 3 * self.head_dim)
        qkv = qkv.permute(0, 2, 1, 3)  # [batch, head, seq_len, dims]
        q, k, v = qkv.chunk(3, dim=-1)
        values, _ = scaled_dot_product(q, k, v, mask=mask)
        values = values.permute(0, 2, 1, 3)  # [batch, seq_len, head, dims]
        values = values.reshape(batch_size, seq_length, self.embed_dim)
        return self.o_proj(values)


class EncoderBlock(nn.Module):
    def __init__(self, input_dim, num_heads, dim_feedforward, dropout=0.0):
        super().__init__()
        self.self_attn = MultiheadAttention(input_dim, num_heads)
        self.linear_net = nn.Sequential(
            nn.Linear(input_dim, dim_feedforward),
            nn.Dropout(dropout),
            nn.ReLU(inplace=True),
            nn.Linear(dim_feedforward, input_dim),
        )
        self.norm1 = nn.LayerNorm(input_dim)
        self.norm2 = nn.LayerNorm(input_dim)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, mask=None):
        attn_out = self.self_attn(x, mask=mask)
        x = x + self.dropout(attn_out)
        x = self.norm1(x)
        linear_out = self.linear_net(x)
        x = x + self.dropout(linear_out)
        x = self.norm2(x)
        return x


class SentenceEncoder(nn.Module):
    def __init__(self, vocab_size, dim, num_heads, num_layers, max_len=50):
        super().__init__()
        self.embed = nn.Embedding(vocab_size, dim, padding_idx=0)
        self.pos = nn.Parameter(torch.randn(max_len, dim) * 0.1)
        self.layers = nn.ModuleList([EncoderBlock(dim, num_heads, 2 * dim, 0.1) for _ in range(num_layers)])
        self.project = nn.Linear(dim, dim)

    def forward(self, ids):
        keep = ids != 0
        x = self.embed(ids) + self.pos[: ids.size(1)]
        for layer in self.layers:
            x = layer(x, mask=keep[:, None, None, :])
        keep = keep.unsqueeze(-1).float()
        mean = (x * keep).sum(dim=1) / keep.sum(dim=1)
        return self.project(mean)


class SiameseNetwork(nn.Module):
    def __init__(self, vocab_size=130, dim=32, num_heads=4, num_layers=2):
        super().__init__()
        self.encoder = SentenceEncoder(vocab_size, dim, num_heads, num_layers)
        self.scale = nn.Parameter(torch.tensor(5.0))
        self.bias = nn.Parameter(torch.zeros(1))

    def forward(self, question1, question2):
        a = self.encoder(question1)
        b = self.encoder(question2)
        return self.scale * F.cosine_similarity(a, b, dim=-1) + self.bias


def build():
    q1 = torch.randint(1, 130, (5, 10))
    q2 = torch.randint(1, 130, (5, 12))
    for row, (m, n) in enumerate(((10, 7), (6, 12), (8, 9), (5, 4), (9, 10))):
        q1[row, m:] = 0
        q2[row, n:] = 0
    duplicate = torch.tensor([1.0, 0.0, 0.0, 1.0, 1.0])
    model = SiameseNetwork()
    return {
        "model": model,
        "batch": {"question1": q1, "question2": q2},
        "loss": lambda logits: F.binary_cross_entropy_with_logits(logits, duplicate),
        "optimizer": torch.optim.Adam(model.parameters(), lr=2e-4),
    }
