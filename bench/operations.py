"""`python -m bench.operations [--large]`: what single operations cost with PyTorch and with badak, interleaved.

Each operation runs forward without a gradient, forward while the graph is recorded, and forward and backward. They run on tensors
so small that only the way to the kernel counts, on one thread; with --large on 1,000 x 1,000 numbers, on all threads: what
programs use and the workloads of `python -m bench` do not. `python -m bench.operations torch|badak` is the process of one library.
"""

import argparse
import os
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import numpy as np

from bench.peers import prepare
from bench.places import keep, place

TIMES = 200  # of an operation in a step
OPERATIONS: dict[str, Callable] = {
    "a + b": lambda torch, x, w: x + w,
    "a * 2.0": lambda torch, x, w: x * 2.0,
    "exp": lambda torch, x, w: x.exp(),
    "gelu": lambda torch, x, w: torch.nn.functional.gelu(x),
    "sum": lambda torch, x, w: x.sum(),
    "mean(-1)": lambda torch, x, w: x.mean(-1),
    "amax(-1)": lambda torch, x, w: x.amax(-1),
    "softmax(-1)": lambda torch, x, w: x.softmax(-1),
    "layer_norm": lambda torch, x, w: torch.nn.functional.layer_norm(x, (8,)),
    "transpose": lambda torch, x, w: x.transpose(0, 1),
    "reshape": lambda torch, x, w: x.reshape(4, 16),
    "x[2:5]": lambda torch, x, w: x[2:5],
    "cat": lambda torch, x, w: torch.cat((x, w)),
    "where": lambda torch, x, w: torch.where(x > 0, x, w),
    "a @ b": lambda torch, x, w: x @ w,
    "linear": lambda torch, x, w: torch.nn.functional.linear(x, w),
    "masked_fill": lambda torch, x, w: x.masked_fill(x > 0, 0.0),
    "to(float64)": lambda torch, x, w: x.to(torch.float64),
}
LARGE: dict[str, Callable] = {
    **{
        f"F.{name}": lambda torch, x, w, i, name=name: getattr(torch.nn.functional, name)(x)
        for name in "relu leaky_relu elu hardswish hardsigmoid softplus mish silu gelu logsigmoid softsign glu".split()
    },
    **{
        name: lambda torch, x, w, i, name=name: getattr(x, name)()
        for name in "abs sign square sqrt exp log1p sin tanh erf erfc lgamma std median".split()
    },
    "clamp": lambda torch, x, w, i: x.clamp(-1.0, 1.0),
    "logaddexp": lambda torch, x, w, i: torch.logaddexp(x, w),
    "remainder": lambda torch, x, w, i: torch.remainder(x, w),
    "lerp": lambda torch, x, w, i: torch.lerp(x, w, 0.1),
    "where": lambda torch, x, w, i: torch.where(x > 1, x, w),
    "sum(0)": lambda torch, x, w, i: x.sum(0),
    "amax(1)": lambda torch, x, w, i: x.amax(1),
    "norm(1)": lambda torch, x, w, i: x.norm(dim=1),
    "logsumexp(1)": lambda torch, x, w, i: x.logsumexp(1),
    "cumsum(1)": lambda torch, x, w, i: x.cumsum(1),
    "cumprod(1)": lambda torch, x, w, i: x.cumprod(1),
    "sort(1)": lambda torch, x, w, i: x.sort(1).values,
    "topk(10)": lambda torch, x, w, i: x.topk(10).values,
    "kthvalue(5)": lambda torch, x, w, i: x.kthvalue(5).values,
    "gather(1)": lambda torch, x, w, i: x.gather(1, i),
    "scatter(1)": lambda torch, x, w, i: x.scatter(1, i, w),
    "scatter_add(0)": lambda torch, x, w, i: x.scatter_add(0, i, w),
    "index_add(0)": lambda torch, x, w, i: x.index_add(0, i[0], w),
    "index_select(0)": lambda torch, x, w, i: x.index_select(0, i[0]),
    "x[mask]": lambda torch, x, w, i: x[w > 0.9],
    "repeat_interleave(2)": lambda torch, x, w, i: x.repeat_interleave(2, 0),
    "roll": lambda torch, x, w, i: x.roll(3, 1),
    "cdist": lambda torch, x, w, i: torch.cdist(x[:, :64], w[:, :64]),
    "cosine_similarity": lambda torch, x, w, i: torch.nn.functional.cosine_similarity(x, w),
    "huber_loss": lambda torch, x, w, i: torch.nn.functional.huber_loss(x, w),
    "smooth_l1_loss": lambda torch, x, w, i: torch.nn.functional.smooth_l1_loss(x, w),
    "l1_loss": lambda torch, x, w, i: torch.nn.functional.l1_loss(x, w),
    "kl_div": lambda torch, x, w, i: torch.nn.functional.kl_div(x, w.detach()),
    "bce_with_logits": lambda torch, x, w, i: torch.nn.functional.binary_cross_entropy_with_logits(x, w.detach()),
    "embedding_bag": lambda torch, x, w, i: torch.nn.functional.embedding_bag(i[:64, :100], x),
    "grid_sample": lambda torch, x, w, i: torch.nn.functional.grid_sample(_image(x), _image(w)[:1, :2].movedim(1, -1)),
    "adaptive_max_pool2d": lambda torch, x, w, i: torch.nn.functional.adaptive_max_pool2d(_image(x), 7),
    "interpolate": lambda torch, x, w, i: torch.nn.functional.interpolate(_image(x), scale_factor=2.0, mode="bilinear"),
    "half": lambda torch, x, w, i: x.half(),
}  # fmt: skip


def _image(x):
    return x.reshape(1, 25, 200, 200)


WAYS = "forward", "recorded", "forward and backward"


class Repeated:
    """One operation: on matrices of 8 x 8, `TIMES` times, or of 1,000 x 1,000, once."""

    parameters = 0

    def __init__(self, work: dict):
        import torch

        torch.manual_seed(0)
        size, self.times, self.way = 1000 if work["large"] else 8, 1 if work["large"] else TIMES, work["way"]
        x, w = (torch.rand(size, size) + 0.2 for _ in range(2))
        self.inputs = [torch, x.requires_grad_(), w.requires_grad_()]
        self.call = (LARGE if work["large"] else OPERATIONS)[work["name"]]
        if work["large"]:
            self.inputs.append(torch.randint(0, size, (size, size)))
        self.torch, self.dy = torch, torch.ones_like(self.call(*self.inputs))

    def step(self) -> float:
        """A number of the last result."""
        torch, call, inputs, dy = self.torch, self.call, self.inputs, self.dy
        x, w = inputs[1:3]
        if self.way == "forward and backward":
            for _ in range(self.times):
                x.grad = w.grad = None
                y = call(*inputs)
                y.backward(dy)
            return float(x.grad.double().sum())
        with torch.set_grad_enabled(self.way == "recorded"):
            for _ in range(self.times):
                y = call(*inputs)
        return float(y.detach().double().sum())


def main(large: bool) -> None:
    """Measure, write, print."""
    from badak.inspect.profiling.machine import describe
    from badak.inspect.profiling.peer import Peer, interleave
    from badak.inspect.profiling.timing import Timing
    from bench.__main__ import commit

    rows, threads, times = [], (os.cpu_count() or 1) if large else 1, 1 if large else TIMES
    peers = {library: Peer([sys.executable, "-m", "bench.operations", library], threads) for library in ("badak", "torch")}
    for name in LARGE if large else OPERATIONS:
        row: dict[str, Any] = {"name": name}
        for way in WAYS:
            for peer in peers.values():
                peer.ask("build", work={"name": name, "way": way, "large": large})
                peer.timing = Timing()
            values = [peer.ask("steps", count=2)["values"][0] for peer in peers.values()]
            np.testing.assert_allclose(*values, rtol=1e-4, atol=1e-5 * (1 if not large else 1e3), err_msg=name)
            interleave(list(peers.values()), 3, 0.1)
            row[way] = {library: round(peer.timing.as_dict()["ms"] * 1e3 / times, 2) for library, peer in peers.items()}
        rows.append(row)
    for peer in peers.values():
        peer.close()
    date = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    document = {"date": date, "commit": commit(), "machine": describe(), "rows": rows}
    keep(place("large-operations" if large else "operations"), document)
    print(markdown(document))


def markdown(document: dict) -> str:
    """The table."""
    lines = [
        "| operation | " + " | ".join(f"{way}: badak | PyTorch" for way in WAYS) + " |",
        "| --- |" + " ---: |" * 2 * len(WAYS),
    ]
    for row in document["rows"]:
        cells = [f"{row[way][library]:.1f}" for way in WAYS for library in ("badak", "torch")]
        lines.append(f"| `{row['name']}` | {' | '.join(cells)} |")
    means = [np.exp(np.mean([np.log(row[way]["badak"] / row[way]["torch"]) for row in document["rows"]])) for way in WAYS]
    said = ", ".join(f"{way} {mean:.2f}" for way, mean in zip(WAYS, means))
    return "\n".join([*lines, "", f"badak / PyTorch in the geometric mean: {said}. Measured {document['date']}."])


def serve_one(library: str) -> None:
    """The process of one library."""
    if library == "torch":
        from bench.world_works import without_badak

        without_badak()
    from badak.inspect.profiling.worker import serve

    prepare(library)
    serve(Repeated)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m bench.operations", description=__doc__)
    parser.add_argument("library", nargs="?", choices=("torch", "badak"), help="be the process of one library")
    parser.add_argument("--large", action="store_true", help="on 1,000 x 1,000 numbers")
    wanted = parser.parse_args()
    serve_one(wanted.library) if wanted.library else main(wanted.large)
