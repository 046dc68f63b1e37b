"""Each kernel, forward and backward, against its reference twin and PyTorch's: `python -m bench.kernels [options]`. First come
the matrix products in every way, on one thread and on all, with their share of the machine's peak (`bench.products`).

One process, float32, the three in turn in every round, and the fastest round of each: other processes can only slow a
round down. The rate counts the floating-point operations of matrix products (GFLOP/s) or the bytes that the kernel has to
read and write (GB/s), and the last column compares it with the best that this machine did in the same run: SGEMM on
2048 x 512 x 2048, or reading and writing 128 MiB. Small rows live in cache and may pass 100 %.
"""

import argparse
import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from time import perf_counter

import numpy as np
import torch
import torch.nn.functional as F

from badak.kernels import numba, reference
from badak.kernels.update import Update
from bench import products

FLOAT = 4  # bytes
rng = np.random.default_rng(0)


@dataclass(frozen=True)
class Case:
    """One row: what to run in each of the three, and its work."""

    name: str
    shape: str
    ours: Callable[[object], Callable[[], object]]  # of a kernel set
    torch: Callable[[], object]
    flops: float = 0.0
    bytes: float = 0.0


@dataclass(frozen=True)
class Row:
    """Milliseconds of each, how many times as fast as PyTorch, the rate, and its share of the machine's."""

    name: str
    shape: str
    fast_ms: float
    plain_ms: float
    torch_ms: float
    over_torch: float
    rate: str
    of_machine: float


def normal(*shape):
    return rng.standard_normal(shape).astype(np.float32)


def pair(name, shape, forward, backward, torch_forward, inputs, dy, flops=0.0, moved=(0, 0), back=2.0):
    """The rows of a kernel and its gradient; `moved` are the floats that each reads and writes, `back` the factor of flops."""
    tensors = [torch.from_numpy(x).requires_grad_() for x in inputs]
    gradient = torch.from_numpy(dy)
    kept = torch_forward(*tensors)

    def without_graph():
        with torch.no_grad():
            torch_forward(*tensors)

    yield Case(name, shape, lambda k: partial(forward, k), without_graph, flops, FLOAT * moved[0])
    yield Case(
        f"{name} backward",
        shape,
        lambda k: partial(backward, k),
        lambda: torch.autograd.grad(kept, tensors, gradient, retain_graph=True),
        back * flops,
        FLOAT * moved[1],
    )


def attention(b, t, h, d):
    """Causal, on the strided views of a packed (B, T, 3, H, D) projection; half of the products' triangle counts."""
    packed = normal(b, t, 3, h, d)
    q, k, v = (packed[:, :, i].transpose(0, 2, 1, 3) for i in range(3))
    dout = normal(b, t, h, d).transpose(0, 2, 1, 3)
    out, lse, _ = reference.attention(q, k, v, causal=0)
    yield from pair(
        "attention",
        f"{b} x {t}, {h} heads of {d}",
        lambda s: s.attention(q, k, v, causal=0),
        lambda s: s.attention_backward(dout, None, q, k, v, lse, None, None, 0, None, None, 0.0, (True, True, True, False)),
        partial(F.scaled_dot_product_attention, is_causal=True),
        [q, k, v],
        dout,
        flops=2 * b * h * t * (t + 1) * d,
        back=2.5,
    )


def by_rows():
    n, c = 4096, 1024
    size = n * c
    x, dy, w, bias = normal(n, c), normal(n, c), normal(c), normal(c)
    _, mean, rstd = reference.layer_norm(x, w, bias, 1e-5)
    shape = f"{n} x {c}"
    yield from pair(
        "layer_norm",
        shape,
        lambda s: s.layer_norm(x, w, bias, 1e-5),
        lambda s: s.layer_norm_backward(dy, x, w, mean, rstd, (True,) * 3),
        lambda x, w, b: F.layer_norm(x, (c,), w, b),
        [x, w, bias],
        dy,
        moved=(2 * size, 3 * size),
    )
    _, root = reference.rms_norm(x, w, 1e-5)
    yield from pair(
        "rms_norm",
        shape,
        lambda s: s.rms_norm(x, w, 1e-5),
        lambda s: s.rms_norm_backward(dy, x, w, root, (True,) * 2),
        lambda x, w: F.rms_norm(x, (c,), w, 1e-5),
        [x, w],
        dy,
        moved=(2 * size, 3 * size),
    )
    for name in ("softmax", "log_softmax"):
        y = getattr(reference, name)(x)
        yield from pair(
            name,
            shape,
            lambda s, name=name: getattr(s, name)(x),
            lambda s, name=name, y=y: getattr(s, f"{name}_backward")(dy, y),
            partial(getattr(torch, name), dim=-1),
            [x],
            dy,
            moved=(2 * size, 3 * size),
        )
    n, v = 1024, 8000
    logits, target, dloss = normal(n, v), rng.integers(0, v, n), normal(n)
    loss, lse = reference.cross_entropy(logits, target)
    yield from pair(
        "cross_entropy",
        f"{n} x {v}",
        lambda s: s.cross_entropy(logits, target),
        lambda s: s.cross_entropy_backward(dloss, logits, target, lse, None, -100, 0.0),
        lambda x: F.cross_entropy(x, torch.from_numpy(target), reduction="none"),
        [logits],
        dloss,
        moved=(n * v, 2 * n * v),
    )


def elementwise():
    x, dy = normal(4096, 1024), normal(4096, 1024)
    size, shape = x.size, "4096 x 1024"
    for kind in ("none", "tanh"):
        yield from pair(
            f"gelu {kind}",
            shape,
            lambda s, kind=kind: s.gelu(x, kind),
            lambda s, kind=kind: s.gelu_backward(dy, x, kind),
            partial(F.gelu, approximate=kind),
            [x],
            dy,
            moved=(2 * size, 3 * size),
        )
    yield from pair(
        "silu",
        shape,
        lambda s: s.silu(x),
        lambda s: s.silu_backward(dy, x),
        F.silu,
        [x],
        dy,
        moved=(2 * size, 3 * size),
    )
    for name in ("relu", "tanh", "sigmoid"):
        y = getattr(reference, name)(x)
        yield from pair(
            name,
            shape,
            lambda s, name=name: getattr(s, name)(x),
            lambda s, name=name, y=y: getattr(s, f"{name}_backward")(dy, y),
            getattr(torch, name),
            [x],
            dy,
            moved=(2 * size, 3 * size),
        )
    keep = rng.random(x.shape) < 0.9
    tx, tkeep = torch.from_numpy(x), torch.from_numpy(keep)
    yield Case(
        "dropout, given mask",
        shape,
        lambda s: lambda: s.dropout(x, keep, 0.1),
        lambda: torch.where(tkeep, tx * (1 / 0.9), 0.0),
        bytes=(2 * FLOAT + 1) * size,
    )


def look_ups_and_updates():
    vocabulary, c, n = 8000, 384, 2048
    w, ids, dy = normal(vocabulary, c), rng.integers(0, vocabulary, n), normal(n, c)
    yield from pair(
        "embedding",
        f"{n} of {vocabulary} x {c}",
        lambda s: s.embedding(w, ids),
        lambda s: s.embedding_backward(dy, ids, vocabulary),
        lambda w: F.embedding(torch.from_numpy(ids), w),
        [w],
        dy,
        moved=(2 * n * c, vocabulary * c + 2 * n * c),
    )
    size = 4_000_000
    param, grad, slots = normal(size), normal(size), [normal(size), np.abs(normal(size)), None]
    (update,) = [each for each in Update.all if each.name == "adam"]
    numbers, memo = [(1e-3,) * len(update.scalars)], {}
    weight = torch.nn.Parameter(torch.from_numpy(param.copy()))
    weight.grad = torch.from_numpy(grad)
    theirs = torch.optim.AdamW([weight], lr=1e-3, fused=True)
    columns = [each if each is None else [each] for each in slots]
    yield Case(
        "adamw",
        f"{size:,}",
        lambda s: lambda: s.update_all(update, [param], [grad], columns, numbers, memo),
        theirs.step,
        bytes=7 * FLOAT * size,
    )


def cases():
    for shape in [(32, 128, 8, 32), (8, 256, 6, 64), (2, 1024, 12, 64), (12, 64, 4, 32)]:
        yield from attention(*shape)
    yield from by_rows()
    yield from elementwise()
    yield from look_ups_and_updates()


def fastest(runs, rounds):
    """Seconds of the fastest round of each run, in turn within every round."""
    for run in runs:
        run()
    taken = [float("inf")] * len(runs)
    for _ in range(rounds):
        for i, run in enumerate(runs):
            start = perf_counter()
            run()
            taken[i] = min(taken[i], perf_counter() - start)
    return taken


def machine(rounds):
    """(FLOP/s, bytes/s) at best, of this run's own kernels and of PyTorch's."""
    a, b = normal(2048, 512), normal(512, 2048)
    x = np.ones(32 * 2**20, np.float32)
    ta, tb, tx, ty = torch.from_numpy(a), torch.from_numpy(b), torch.from_numpy(x), torch.empty(x.size)
    product = min(fastest([lambda: numba.matmul(a, b), lambda: ta @ tb], rounds))
    copy = min(fastest([lambda: torch.add(tx, 1.0, out=ty), lambda: np.add(x, 1, out=ty.numpy())], rounds))
    return 2 * 2048 * 512 * 2048 / product, 2 * FLOAT * x.size / copy


def measure(case, rounds, best):
    fast_s, plain_s, torch_s = fastest([case.ours(numba), case.ours(reference), case.torch], rounds)
    work, unit, top = (case.flops, "GFLOP/s", best[0]) if case.flops else (case.bytes, "GB/s", best[1])
    return Row(
        case.name,
        case.shape,
        1e3 * fast_s,
        1e3 * plain_s,
        1e3 * torch_s,
        torch_s / fast_s,
        f"{work / fast_s / 1e9:.0f} {unit}",
        work / fast_s / top,
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--only", default="", help="rows whose name contains this")
    parser.add_argument("--json", metavar="FILE", help="also write the rows there")
    parser.add_argument("--no-products", action="store_true", help="leave the products out")
    options = parser.parse_args()
    if not options.no_products:
        products.tables(sorted({1, options.threads}), options.rounds, options.only)
        print()
    torch.set_num_threads(options.threads)
    numba.set_num_threads(options.threads)
    best = machine(options.rounds)
    reached = f"{best[0] / 1e9:.0f} GFLOP/s, {best[1] / 1e9:.0f} GB/s"
    print(f"{options.threads} threads; {numba.describe()['products']}; machine at best {reached}\n")
    print(f"{'kernel':24}{'shape':26}{'fast ms':>9}{'plain':>9}{'torch':>9}{'torch/fast':>12}{'rate':>14}{'of best':>9}")
    rows = []
    for case in cases():
        if options.only in case.name:
            row = measure(case, options.rounds, best)
            rows.append(row)
            print(
                f"{row.name:24}{row.shape:26}{row.fast_ms:9.3f}{row.plain_ms:9.3f}{row.torch_ms:9.3f}{row.over_torch:12.2f}"
                f"{row.rate:>14}{row.of_machine:9.0%}",
                flush=True,
            )
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump([asdict(row) for row in rows], file, indent=1)


if __name__ == "__main__":
    main()
