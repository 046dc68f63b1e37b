"""What a step of n ranks takes, from a few constants: seconds of compute, of a message, of a byte. Pencil and paper suffice.

    step(n) = compute + max(0, sum(n) - hidden)             efficiency(n) = compute / step(n)

    ring   2 (n - 1) (a + N / n b)                          a row of N bytes goes round in n pieces, twice
    tree   2 log2(n) (a + N / b)                            whole rows, up a tree and down again
    ours   (n - 1) (a + N / n b) + (n - 1) (a + N / n b)    each gets its part of all rows, adds it, sends it to all

a: seconds before the first byte, b: bytes a second of one rank, in each direction at once. A sum adds N (n - 1) / n bytes' worth of
numbers (N log2(n) by tree) at `added` bytes a second. `python -m bench.ranks model` draws docs/img/ranks.png.
"""

import math
from dataclasses import dataclass, replace
from pathlib import Path

PICTURE = Path(__file__).resolve().parents[1] / "docs" / "img" / "ranks.png"


@dataclass(frozen=True)
class Network:
    """a: seconds of a message, b: bytes a second, added: bytes a second that a rank adds."""

    a: float
    b: float
    added: float = math.inf


@dataclass(frozen=True)
class Job:
    """A training: tokens of a rank in a step, FLOPs a second of a rank, bytes of a gradient's number.

    hides: the share of compute in which sums can go on.
    """

    parameters: float
    tokens: float
    rate: float
    width: int = 4
    hides: float = 0.0

    @property
    def compute(self) -> float:
        """Seconds: 6 FLOPs for each parameter and token, forward and backward."""
        return 6 * self.parameters * self.tokens / self.rate

    @property
    def nbytes(self) -> float:
        """Of all gradients."""
        return self.parameters * self.width


def ring(nbytes: float, n: int, net: Network) -> float:
    """Seconds of a sum over n ranks in a ring."""
    return 2 * (n - 1) * (net.a + nbytes / n / net.b) + (n - 1) / n * nbytes / net.added


def tree(nbytes: float, n: int, net: Network) -> float:
    """Whole rows to neighbours, then to neighbours of pairs, and back."""
    return math.ceil(math.log2(n)) * (2 * (net.a + nbytes / net.b) + nbytes / net.added) if n > 1 else 0.0


def ours(nbytes: float, n: int, net: Network) -> float:
    """Parts to their ranks, then to all: as many messages and bytes as a ring, in an order that is a tree's."""
    return ring(nbytes, n, net)


def halving(nbytes: float, n: int, net: Network) -> float:
    """Halves to neighbours, then quarters to neighbours of pairs ..., and back: a ring's bytes with a tree's messages."""
    return 2 * math.ceil(math.log2(n)) * net.a + (n - 1) / n * nbytes * (2 / net.b + 1 / net.added) if n > 1 else 0.0


def by_machines(nbytes: float, n: int, net: Network, inside: Network, k: int = 8) -> float:
    """k ranks of a machine add among themselves; each sums its k-th part with the other machines, over the one wire of all k."""
    if n <= k:
        return ours(nbytes, n, inside)
    between = replace(net, b=net.b / k)
    return ours(nbytes, k, inside) + halving(nbytes / k, n // k, between)


def step(job: Job, n: int, total: float) -> float:
    """Seconds of a step whose sum takes `total`."""
    return job.compute + max(0.0, total - job.hides * job.compute)


def efficiency(job: Job, n: int, net: Network, how=ours) -> float:
    """Weak scaling: the step of one rank by that of n."""
    return job.compute / step(job, n, how(job.nbytes, n, net) if n > 1 else 0.0)


def holds_to(job: Job, net: Network, how=ours, least: float = 0.9, most: int = 1 << 20) -> int:
    """The largest power of two of ranks with at least this efficiency; 1 where two are too many."""
    n = 1
    while n < most and efficiency(job, 2 * n, net, how) >= least:
        n *= 2
    return n


WIRE = Network(a=5e-6, b=12.5e9, added=8e9)  # 100 Gbit/s
SIZES = {"124 M": 124e6, "1.5 B": 1.5e9}
RATES = {"64 cores like this one, 6 TFLOP/s": 6e12, "an accelerator, 100 TFLOP/s": 1e14}
TOKENS = 8192
WAYS = {
    "ours (ring's bytes)": lambda job: efficient(job),
    "tree of whole rows": lambda job: efficient(job, tree),
    "ours, halving's messages": lambda job: efficient(job, halving),
    "ours, bf16 gradients": lambda job: efficient(replace(job, width=2)),
    "ours, half of compute hides sums": lambda job: efficient(replace(job, hides=0.5)),
    "ours, 4 times the batch": lambda job: efficient(replace(job, tokens=4 * job.tokens)),
}


def efficient(job: Job, how=ours):
    """efficiency as a function of n."""
    return lambda n: efficiency(job, n, WIRE, how)


def table() -> list[str]:
    """Efficiency at 1,000 ranks, for each size, rate and way: rows of Markdown."""
    heads = [f"{size}, {rate.split(',')[1].strip()}" for size in SIZES for rate in RATES]
    lines = ["| efficiency at 1,000 ranks | " + " | ".join(heads) + " |", "| --- |" + " ---: |" * len(heads)]
    for name, way in WAYS.items():
        found = [way(Job(p, TOKENS, rate))(1000) for p in SIZES.values() for rate in RATES.values()]
        lines.append(f"| {name} | " + " | ".join(f"{each:.2f}" for each in found) + " |")
    return lines


def draw(path: Path = PICTURE) -> None:
    """Efficiency against ranks."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 7), layout="constrained")
    axes = figure.subplots(2, 2, sharex=True, sharey=True)
    ranks = [2**i for i in range(10)] + [1000]
    for row, (size, parameters) in zip(axes, SIZES.items()):
        for ax, (where, rate) in zip(row, RATES.items()):
            for (name, way), style in zip(WAYS.items(), ("-", ":", "--", "-", "-.", "-")):
                line = way(Job(parameters, TOKENS, rate))
                ax.plot(ranks, [line(n) for n in ranks], style, label=name)
            ax.axhline(0.9, color="0.8", zorder=0)
            ax.set(xscale="log", ylim=(0, 1.03), title=f"{size} parameters, {where}")
    for ax in axes[1]:
        ax.set_xlabel("ranks, one a machine, 100 Gbit/s")
    for ax in axes[:, 0]:
        ax.set_ylabel("efficiency in weak scaling")
    axes[0][0].legend(fontsize=8, loc="lower left")
    figure.savefig(path, dpi=110)


def check(found: dict) -> list[str]:
    """Measured steps of 1, 2 and 4 ranks next to what the constants say: rows of Markdown. found: `bench.ranks check`."""
    lines = ["| model | ranks | predicted | measured |", "| --- | ---: | ---: | ---: |"]
    net = Network(**found["constants"])
    for name, each in found["works"].items():
        for n in (1, 2, 4):
            shares = max(1, n // found["cores"])  # ranks of a core take turns
            one = each["alone"] if n == 1 else each["apart"]
            predicted = shares * (one + (ours(each["bytes"], n, net) + each["buckets"] * net.a if n > 1 else 0.0))
            lines.append(f"| {name} | {n} | {predicted * 1e3:.1f} ms | {each[str(n)] * 1e3:.1f} ms |")
    return lines
