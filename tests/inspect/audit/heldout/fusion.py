"""Sales of the next days (after the Temporal Fusion Transformer): chosen variables, an LSTM over past and future."""

import badak as torch
import badak.nn.functional as F
from badak import nn


class Gated(nn.Module):
    def __init__(self, width, dropout=0.1):
        super().__init__()
        self.a, self.b = nn.Linear(width, width), nn.Linear(width, width)
        self.gate, self.norm, self.drop = nn.Linear(width, 2 * width), nn.LayerNorm(width), nn.Dropout(dropout)

    def forward(self, x, context=None):
        h = self.a(x) if context is None else self.a(x) + context
        h = self.drop(self.b(F.elu(h)))
        return self.norm(x + F.glu(self.gate(h), dim=-1))


class Selection(nn.Module):
    def __init__(self, count, width):
        super().__init__()
        self.each = nn.ModuleList([nn.Linear(1, width) for _ in range(count)])
        self.choose = nn.Linear(count * width, count)
        self.mix = Gated(width)

    def forward(self, x):  # (B, T, count)
        parts = torch.stack([layer(x[..., i : i + 1]) for i, layer in enumerate(self.each)], dim=-2)
        shares = self.choose(parts.flatten(-2)).softmax(dim=-1)
        return self.mix((parts * shares.unsqueeze(-1)).sum(dim=-2))


class SharedValues(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.size = heads, width // heads
        self.q, self.k = nn.Linear(width, width), nn.Linear(width, width)
        self.v, self.o = nn.Linear(width, self.size), nn.Linear(self.size, width)

    def forward(self, asks, x):
        b, t, _ = asks.shape
        n = x.shape[1]
        q = self.q(asks).view(b, t, self.heads, self.size).transpose(1, 2)
        k = self.k(x).view(b, n, self.heads, self.size).transpose(1, 2)
        scores = q @ k.transpose(2, 3) / self.size**0.5
        late = torch.arange(n)[None] > torch.arange(n - t, n)[:, None]
        weights = scores.masked_fill(late, float("-inf")).softmax(dim=-1).mean(dim=1)
        return self.o(weights @ self.v(x))


class Fusion(nn.Module):
    def __init__(self, past=4, future=2, shops=7, width=24, heads=4, days=5):
        super().__init__()
        self.days = days
        self.shop = nn.Embedding(shops, width)
        self.shop_start = nn.Linear(width, width)
        self.past, self.future = Selection(past, width), Selection(future, width)
        self.encoder, self.decoder = nn.LSTM(width, width, batch_first=True), nn.LSTM(width, width, batch_first=True)
        self.gate_lstm, self.norm_lstm = nn.Linear(width, 2 * width), nn.LayerNorm(width)
        self.enrich = Gated(width)
        self.attention = SharedValues(width, heads)
        self.gate_attention, self.norm_attention = nn.Linear(width, 2 * width), nn.LayerNorm(width)
        self.feed = Gated(width)
        self.quantiles = nn.Linear(width, 3)

    def forward(self, shop, past, future):
        s = self.shop(shop)
        x, y = self.past(past), self.future(future)
        start = torch.tanh(self.shop_start(s)).unsqueeze(0)
        h, state = self.encoder(x, (start, start))
        g, _ = self.decoder(y, state)
        h, x = torch.cat([h, g], dim=1), torch.cat([x, y], dim=1)
        h = self.norm_lstm(x + F.glu(self.gate_lstm(h), dim=-1))
        h = self.enrich(h, s.unsqueeze(1))
        last = h[:, -self.days :]
        a = self.attention(last, h)
        last = self.norm_attention(last + F.glu(self.gate_attention(a), dim=-1))
        return self.quantiles(self.feed(last))


def build():
    return {
        "model": Fusion(),
        "batch": {"shop": torch.randint(0, 7, (6,)), "past": torch.randn(6, 12, 4), "future": torch.randn(6, 5, 2)},
    }
