"""What watching costs: `python -m tests.inspect.doctor.cost [ROUNDS]`. Blocks of 20 steps with and without the watch take turns.

Processor time, so that other programs count little; the median of the blocks. Said apart: what the end of the watch takes, where
the diagnoses judge, once; and a step afterwards.
"""

import sys
from time import process_time

import numpy as np

import badak
from badak import models, nn, optim
from badak.nn import functional as F

STEPS = 20


def gpt(d: int, layers: int, B: int, T: int):
    config = models.GPTConfig(vocab_size=97, context=T, d_model=d, heads=4, layers=layers, dropout=0.1)
    model = models.GPT(config)
    rng = np.random.default_rng(0)

    def loss():
        ids = badak.tensor(rng.integers(0, 97, (B, T + 1)))
        return F.cross_entropy(model(ids[:, :-1]).flatten(0, 1), ids[:, 1:].flatten())

    return model, loss


def mlp(d: int, layers: int, B: int):
    parts = [each for _ in range(layers) for each in (nn.Linear(d, d), nn.ReLU(), nn.Dropout(0.1))]
    model = nn.Sequential(*parts, nn.Linear(d, 10))
    return model, lambda: F.cross_entropy(model(badak.randn(B, d)), badak.randint(10, (B,)))


def trainer(model, loss):
    """Makes STEPS steps and gives the CPU time that they took."""
    optimizer = optim.AdamW(model.parameters(), lr=1e-3)

    def steps() -> float:
        start = process_time()
        for _ in range(STEPS):
            optimizer.zero_grad()
            loss().backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
        return process_time() - start

    return steps


CASES = {
    "GPT, d 32, 2 layers, 4 x 12": lambda: gpt(32, 2, 4, 12),
    "MLP, d 256, 4 layers, 64 rows": lambda: mlp(256, 4, 64),
    "GPT, d 128, 4 layers, 8 x 64": lambda: gpt(128, 4, 8, 64),
}


def main(rounds: int = 10) -> None:
    for name, make in CASES.items():
        steps = trainer(*make())
        steps(), steps()
        plain, watched, ends, after = [], [], [], []
        for _ in range(rounds):
            plain.append(steps())
            visit = badak.doctor(STEPS + 1, quiet=True)
            visit.__enter__()
            watched.append(steps())
            start = process_time()
            visit.__exit__(None, None, None)
            ends.append(process_time() - start)
            after.append(steps())
        base = np.median(plain)
        print(f"{name}: {base / STEPS * 1e3:.2f} ms a step; watched {np.median(watched) / base:.2f}, afterwards "
              f"{np.median(after) / base:.2f}; the end {np.median(ends) * 1e3:.0f} ms, once")  # fmt: skip


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
