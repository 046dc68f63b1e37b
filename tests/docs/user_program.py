"""A program as a user of badak writes it, for type checkers."""

from collections.abc import Iterator

import badak
from badak import Tensor, nn, optim
from badak.data import DataLoader, TensorDataset
from badak.nn import functional as F


class Attention(nn.Module):
    def __init__(self, d_model: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(d_model, 3 * d_model)
        self.out = nn.Linear(d_model, d_model)

    def forward(self, x: Tensor) -> Tensor:
        b, t, c = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, self.heads, c // self.heads).permute(2, 0, 3, 1, 4).unbind(0)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        out: Tensor = self.out(y.transpose(1, 2).reshape(b, t, c))
        return out


class Model(nn.Module):
    def __init__(self, vocab: int, d_model: int = 16) -> None:
        super().__init__()
        self.embed = nn.Embedding(vocab, d_model)
        self.blocks = nn.ModuleList([Attention(d_model, 2) for _ in range(2)])
        self.norm = nn.LayerNorm(d_model)
        self.head = nn.Linear(d_model, vocab, bias=False)

    def forward(self, ids: Tensor) -> Tensor:
        x = self.embed(ids)
        for block in self.blocks:
            x = x + block(x)
        logits: Tensor = self.head(self.norm(x))
        return logits


def batches(ids: Tensor, size: int) -> Iterator[Tensor]:
    for (rows,) in DataLoader(TensorDataset(ids), batch_size=size, shuffle=True):
        yield rows


def train(model: Model, ids: Tensor, epochs: int) -> float:
    optimizer = optim.AdamW(model.parameters(), lr=1e-2)
    schedule = optim.lr_scheduler.CosineAnnealingLR(optimizer, epochs)
    loss = badak.zeros(())
    for _ in range(epochs):
        for rows in batches(ids, 8):
            logits = model(rows[:, :-1])
            loss = F.cross_entropy(logits.flatten(0, 1), rows[:, 1:].flatten())
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
        schedule.step()
    return float(loss.item())


def main() -> None:
    badak.manual_seed(0)
    model = Model(vocab=20)
    ids = badak.arange(20).repeat(16, 1)
    before = train(model, ids, 1)
    after = train(model, ids, 10)
    with badak.no_grad():
        best: Tensor = model(ids[:1]).argmax(-1)
    print(after < before, best.shape, sum(p.numel() for p in model.parameters()))


if __name__ == "__main__":
    main()
