"""What watching costs: `python -m tests.doctor.cost`. Blocks of steps with and without the watch take turns; best of each.

Processor time, so that other programs count little. The ratio of the whole watch (its end included, where the diagnoses
judge) is said beside that of a step in the midst of it.
"""

import io
import sys
from time import process_time

import numpy as np

import badak
from badak import models, nn, optim
from badak.nn import functional as F


def trainer(d: int, layers: int, B: int, T: int):
    config = models.GPTConfig(vocab_size=97, context=T, d_model=d, heads=4, layers=layers, dropout=0.1)
    model = models.GPT(config)
    optimizer = optim.AdamW(model.parameters(), lr=1e-3)
    rng = np.random.default_rng(0)

    def steps(n: int) -> float:
        start = process_time()
        for _ in range(n):
            ids = badak.tensor(rng.integers(0, 97, (B, T + 1)))
            loss = F.cross_entropy(model(ids[:, :-1]).flatten(0, 1), ids[:, 1:].flatten())
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
        return process_time() - start

    return steps


def main(rounds: int = 6, n: int = 20) -> None:
    for name, size in {"d 32, 2 layers, 4 x 12": (32, 2, 4, 12), "d 128, 4 layers, 8 x 64": (128, 4, 8, 64)}.items():
        steps = trainer(*size)
        steps(30)
        plain, watched, whole, after = [], [], [], []
        for _ in range(rounds):
            plain.append(steps(n))
            start = process_time()
            with badak.doctor(n + 1, quiet=True, file=io.StringIO()) as _:
                watched.append(steps(n))
            whole.append(process_time() - start)
            after.append(steps(n))
        base = min(plain)
        print(f"{name}: {base / n * 1e3:.2f} ms a step; watched {min(watched) / base:.2f}, with the end {min(whole) / base:.2f}, "
              f"afterwards {min(after) / base:.2f}")  # fmt: skip


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
