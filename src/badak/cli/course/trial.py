"""A small language model that trains with the learner's function: the last part of a check.

It reads sequences of period three, one layer of causal attention, and learns to go on with them. B = 16, T = 12, C = 32, H = 2,
V = 8, 40 steps of AdamW.
"""

import math
from collections.abc import Callable
from typing import Any

from badak import nn
from badak.autograd.use import use
from badak.cli.course.exercise import Both, Refused
from badak.nn import functional as F
from badak.nn.position import sinusoids
from badak.optim import AdamW
from badak.tensor import Tensor, arange, cat, randint, tensor
from badak.tensor.generator import Generator
from badak.tensor.random import fork_rng, manual_seed

B, T, C, H, V, STEPS = 16, 12, 32, 2, 8, 40
RATE = 1e-2


def attend(q: Tensor, k: Tensor, v: Tensor, keep: Tensor) -> Tensor:
    """Attention of simple operations, so that each can be replaced."""
    scores = (q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])).masked_fill(~keep, -math.inf)
    return F.softmax(scores, -1) @ v


class TinyModel(nn.Module):
    """An embedding, one layer of attention, a head. `parts` are functions that take the place of its own."""

    def __init__(self, parts: dict[str, Callable[..., Any]]):
        super().__init__()
        self.parts = parts
        self.embedding = nn.Embedding(V, C)
        self.qkv, self.out = nn.Linear(C, 3 * C), nn.Linear(C, C)
        self.norm, self.head = nn.LayerNorm(C), nn.Linear(C, V)

    def forward(self, ids: Tensor) -> Tensor:
        length = ids.shape[1]
        x = self.embedding(ids) + self.parts.get("positions", sinusoids)(length, C).float()
        q, k, v = (part.reshape(-1, length, H, C // H).transpose(1, 2) for part in self.qkv(x).chunk(3, -1))
        rotate = self.parts.get("rotate")
        if rotate is not None:
            q, k = rotate(q), rotate(k)
        keep = self.parts["mask"](ids) if "mask" in self.parts else (arange(length)[:, None] >= arange(length))
        mixed = self.parts.get("attend", attend)(q, k, v, keep).transpose(1, 2).reshape(-1, length, C)
        mixed = self.out(mixed)
        return self.head(self.norm(x + (self.parts["drop"](mixed) if "drop" in self.parts else mixed)))


def batch(generator: Generator, length: int = T + 1) -> Tensor:
    """(B, length) tokens of period three."""
    start = randint(1, V, (B, 3), generator=generator)
    return cat([start] * math.ceil(length / 3), 1)[:, :length]


def losses(parts: dict[str, Callable[..., Any]] | None = None) -> list[float]:
    """The loss of each step. The same seed gives the same initial weights and batches, whatever `parts` do."""
    parts = parts or {}
    with fork_rng():
        manual_seed(0)
        model, generator = TinyModel(parts), Generator().manual_seed(1)
        weights = list(model.parameters())
        optimizer = AdamW(weights, lr=RATE)
        update, rate, out = parts.get("update"), parts.get("rate"), []
        for step in range(1, STEPS + 1):
            ids = batch(generator)
            loss = parts.get("loss", F.cross_entropy)(model(ids[:, :-1]).reshape(-1, V), ids[:, 1:].reshape(-1))
            optimizer.zero_grad()
            loss.backward()
            if rate is not None:
                optimizer.param_groups[0]["lr"] = rate(step)
            if update is not None:
                update(step, weights)
            else:
                optimizer.step()
            out.append(loss.item())
    return out


def trained(parts: dict[str, Callable[..., Any]], own: dict[str, Callable[..., Any]] | None = None) -> str:
    """One line on a training with `parts`; Refused where it goes another way than with badak's `own`."""
    return _compared(losses(parts), losses(own))


def used(function: Callable[..., Any], operation: str, parts: dict | None = None) -> str:
    """One line on a training in which the function replaces badak's operation, everywhere."""
    with use(function, operation) as replaced:
        mine = losses(parts)
    assert replaced.calls, f"the training never called {operation}"
    return _compared(mine, losses(parts))


def _compared(mine: list[float], own: list[float]) -> str:
    bad = next((i for i, (a, b) in enumerate(zip(mine, own)) if not abs(a - b) <= 0.02 + 0.1 * b), None)
    if bad is not None:
        raise Refused(
            Both(f"a small model trains differently with it: at step {bad + 1} the loss is {mine[bad]:.4f}, not {own[bad]:.4f}",
                 f"작은 모델이 다르게 학습됩니다: {bad + 1}번째 스텝의 손실이 {mine[bad]:.4f}, 기대값은 {own[bad]:.4f}입니다"),
            Both("check it with shapes of four axes, and with gradients", "축이 네 개인 형상과 기울기로도 확인해 보세요"),
        )  # fmt: skip
    return str(Both(f"a small model trains with it: loss {mine[0]:.3f} -> {mine[-1]:.3f} in {len(mine)} steps",
                    f"작은 모델이 이 함수로 학습했습니다: {len(mine)} 스텝에 손실 {mine[0]:.3f} -> {mine[-1]:.3f}"))  # fmt: skip


def draw(*shape: int, seed: int = 0, grad: bool = False, scale: float = 1.0) -> Tensor:
    """Normal numbers of float32, the same each time."""
    from_seed = Generator().manual_seed(seed + 17 * len(shape) + sum(shape))
    return (Tensor.new_empty(tensor(0.0), shape).normal_(generator=from_seed) * scale).requires_grad_(grad)
