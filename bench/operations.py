"""`python -m bench.operations`: what one operation costs besides its numbers, with PyTorch and with badak, interleaved.

Each operation runs on tensors so small that only the way to the kernel counts, on one thread: forward without a gradient, forward
while the graph is recorded, and forward and backward. `python -m bench.operations torch|badak` is the process of one library.
"""

import argparse
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
WAYS = "forward", "recorded", "forward and backward"


class Repeated:
    """One operation, `TIMES` times, on matrices of 8 x 8."""

    parameters = 0

    def __init__(self, work: dict):
        import torch

        torch.manual_seed(0)
        self.torch, self.call, self.way = torch, OPERATIONS[work["name"]], work["way"]
        self.x, self.w = (torch.randn(8, 8, requires_grad=True) for _ in range(2))
        self.dy = torch.ones_like(self.call(torch, self.x, self.w))

    def step(self) -> float:
        """A number of the last result."""
        torch, call, x, w, dy = self.torch, self.call, self.x, self.w, self.dy
        if self.way == "forward and backward":
            for _ in range(TIMES):
                x.grad = w.grad = None
                y = call(torch, x, w)
                y.backward(dy)
            return float(x.grad.sum())
        with torch.set_grad_enabled(self.way == "recorded"):
            for _ in range(TIMES):
                y = call(torch, x, w)
        return float(y.detach().sum())


def main() -> None:
    """Measure, write, print."""
    from badak.inspect.profiling.machine import describe
    from badak.inspect.profiling.peer import Peer, interleave
    from badak.inspect.profiling.timing import Timing
    from bench.__main__ import commit

    rows = []
    peers = {library: Peer([sys.executable, "-m", "bench.operations", library], 1) for library in ("badak", "torch")}
    for name in OPERATIONS:
        row: dict[str, Any] = {"name": name}
        for way in WAYS:
            for peer in peers.values():
                peer.ask("build", work={"name": name, "way": way})
                peer.timing = Timing()
            values = [peer.ask("steps", count=2)["values"][0] for peer in peers.values()]
            np.testing.assert_allclose(*values, rtol=1e-4, atol=1e-5, err_msg=name)
            interleave(list(peers.values()), 3, 0.1)
            row[way] = {library: round(peer.timing.as_dict()["ms"] * 1e3 / TIMES, 2) for library, peer in peers.items()}
        rows.append(row)
    for peer in peers.values():
        peer.close()
    date = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    document = {"date": date, "commit": commit(), "machine": describe(), "rows": rows}
    keep(place("operations"), document)
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
    wanted = parser.parse_args()
    serve_one(wanted.library) if wanted.library else main()
