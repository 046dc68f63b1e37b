"""The workloads: what is trained and what is asked, on which data, from which weights. No library enters here.

Every peer gets these arrays, so the losses of two peers can be compared step by step.
Every training step is forward, backward and AdamW; there is no dropout and no clipping.
"""

from dataclasses import dataclass, replace

import numpy as np

BETAS, EPS, WEIGHT_DECAY = (0.9, 0.999), 1e-8, 0.01


@dataclass(frozen=True)
class Workload:
    """One row of the table. T is the length of a sequence, of both sides where there are two."""

    name: str
    title: str
    family: str  # "rows", "gpt", "bert", "translate", "write", "encode"; "attention" alone for scale.py
    d: int
    heads: int
    layers: int  # of each side
    batch: int
    T: int
    vocab: int = 0
    context: int = 0  # rows of the table of positions, T where it is 0
    feedforward: int = 0  # 4 d where it is 0
    tied: bool = True  # the head of a GPT is its token embedding
    lr: float = 1e-3
    checked_steps: int = 5
    prompt: int = 8  # tokens that are given to a model that writes; it adds T - prompt
    classes: int = 10
    row_width: int = 28

    @property
    def trains(self) -> bool:
        return self.family not in ("write", "encode")

    @property
    def hidden(self) -> int:
        return self.feedforward or 4 * self.d

    @property
    def positions(self) -> int:
        return self.context or self.T


WORKLOADS = {
    each.name: each
    for each in [
        Workload("W1", "train an encoder on MNIST's rows, width 32, 64 x 28", "rows", 32, 4, 2, 64, 28),
        Workload("W1b", "the same, width 256", "rows", 256, 4, 2, 64, 28),
        Workload("W2", "train a GPT, width 256, 3 layers, 10 x 16", "gpt", 256, 4, 3, 10, 16, vocab=80, tied=False),
        Workload("W3", "train a BERT, width 128, 2 layers, 10 x 24", "bert", 128, 8, 2, 10, 24, vocab=100),
        Workload("W4", "train a GPT, width 128, 4 layers, 12 x 64", "gpt", 128, 4, 4, 12, 64, vocab=65),
        Workload("W5", "train a GPT, width 384, 6 layers, 8 x 256", "gpt", 384, 6, 6, 8, 256, vocab=65),
        Workload("W6", "train an encoder-decoder, width 256, 3 + 3 layers, 32 x 32", "translate", 256, 8, 3, 32, 32, vocab=8000),
        Workload("W7", "train GPT-2 (124 M parameters), 1 x 256", "gpt", 768, 12, 12, 1, 256, vocab=50257, context=1024, lr=1e-4,
                 checked_steps=3),
        Workload("I1", "write 128 tokens with a GPT of 10.8 M parameters", "write", 384, 6, 6, 1, 136, vocab=65, context=256),
        Workload("I2", "write 128 tokens with GPT-2 (124 M parameters)", "write", 768, 12, 12, 1, 136, vocab=50257, context=1024),
        Workload("I3", "encode 32 sentences of 64 tokens, width 384, 6 layers", "encode", 384, 12, 6, 32, 64, vocab=30522,
                 context=512),
    ]
}  # fmt: skip


def shrunk(work: Workload) -> Workload:
    """The same kind of work, done in milliseconds: for testing the machinery, not for measuring."""
    small = min(work.vocab, 11)
    return replace(work, d=16, heads=2, layers=2, batch=2, T=min(work.T, 12), vocab=small, context=16 if work.context else 0)


def data(work: Workload) -> dict[str, np.ndarray]:
    """The batch: the same one at every step."""
    random = np.random.RandomState(1234)
    B, T, V = work.batch, work.T, work.vocab
    if work.family == "rows":
        pictures = random.randn(B, T, work.row_width).astype(np.float32)
        return {"x": pictures, "y": random.randint(0, work.classes, B).astype(np.int64)}
    if work.family == "write":
        return {"x": random.randint(1, V, (1, work.prompt)).astype(np.int64)}
    tokens = random.randint(0, V, (B, T + 1)).astype(np.int64)
    x, y = np.ascontiguousarray(tokens[:, :-1]), np.ascontiguousarray(tokens[:, 1:])
    if work.family == "encode":
        return {"x": x}
    if work.family == "bert":
        return {"x": x, "segment": np.repeat((np.arange(T) >= T // 2)[None].astype(np.int64), B, 0), "y": y}
    if work.family == "translate":
        return {"source": random.randint(0, V, (B, T)).astype(np.int64), "x": x, "y": y}
    return {"x": x, "y": y}


def sinusoid(T: int, d: int) -> np.ndarray:
    """The table of positions (T, d) of "Attention Is All You Need"."""
    angle = np.arange(T)[:, None] / np.power(10000, 2 * (np.arange(d)[None] // 2) / d)
    angle[:, 0::2], angle[:, 1::2] = np.sin(angle[:, 0::2]), np.cos(angle[:, 1::2])
    return angle.astype(np.float32)


def shapes(work: Workload) -> dict[str, tuple[int, ...]]:
    """Name -> shape of every weight, as the hand-written models of `models.py` call them; matrices are (out, in)."""
    found: dict[str, tuple[int, ...]] = {}
    d, V = work.d, work.vocab

    def linear(name: str, out: int, width: int) -> None:
        found.update({f"{name}.weight": (out, width), f"{name}.bias": (out,)})

    def norm(name: str) -> None:
        found.update({f"{name}.weight": (d,), f"{name}.bias": (d,)})

    def block(name: str, cross: bool = False) -> None:
        linear(f"{name}.attention.qkv", 3 * d, d)
        linear(f"{name}.attention.out", d, d)
        if cross:
            linear(f"{name}.cross.q", d, d)
            linear(f"{name}.cross.kv", 2 * d, d)
            linear(f"{name}.cross.out", d, d)
            norm(f"{name}.norm3")
        linear(f"{name}.up", work.hidden, d)
        linear(f"{name}.down", d, work.hidden)
        norm(f"{name}.norm1")
        norm(f"{name}.norm2")

    if work.family == "rows":
        linear("rows", d, work.row_width)
        linear("head", work.classes, work.T * d)
    elif work.family == "translate":
        found |= {"source.weight": (V, d), "target.weight": (V, d)}
        norm("encoder_norm")
        norm("decoder_norm")
        linear("head", V, d)
    else:
        found |= {"token.weight": (V, d), "position.weight": (work.positions, d)}
        norm("norm")
    if work.family in ("bert", "encode"):
        found["segment.weight"] = (2, d)
    if work.family == "bert" or (work.family == "gpt" and not work.tied):
        linear("head", V, d)
    for i in range(work.layers):
        if work.family == "translate":
            block(f"encoder.{i}")
            block(f"decoder.{i}", cross=True)
        else:
            block(f"blocks.{i}")
    return found


def weights(work: Workload, seed: int = 7) -> dict[str, np.ndarray]:
    """The initial weights of every peer: norms about 1, biases about 0, matrices as usual for the family."""
    random = np.random.Generator(np.random.PCG64(seed))
    found = {}
    for name, shape in shapes(work).items():
        value = random.standard_normal(shape, dtype=np.float32)
        if len(shape) == 1:
            value *= np.float32(0.01)
            if "norm" in name and name.endswith("weight"):
                value += np.float32(1)
        else:
            table = name.split(".")[0] in ("source", "target")
            deviation = 0.02 if work.family not in ("rows", "translate") or table else shape[1] ** -0.5
            value *= np.float32(deviation)
        found[name] = value
    return found


def parameter_count(work: Workload) -> int:
    return sum(int(np.prod(shape)) for shape in shapes(work).values())
