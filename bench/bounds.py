"""How fast a step could be at best: its matrix products at the best rate that anybody reaches here, and the bytes it must move.

    bound = useful GEMM FLOPs / (GFLOP/s measured in the same run) + unavoidable bytes / (GB/s measured in the same run)

Useful means that causal attention counts as the triangle. The bytes are those of AdamW (28 per parameter: weight, gradient
and both moments are read, weight and moments written), or of a model that writes (each weight once for each token); weights
that fit into the last-level cache count nothing. The rates are the best of NumPy's, PyTorch's and badak's own (`rates.py`).
"""

from bench.workloads import Workload, parameter_count

CACHE_BYTES = 32e6  # about the last-level cache of a laptop or of a slice of a server


def flops(work: Workload) -> float:
    """Floating-point operations of the matrix products of one step; a multiplication with its addition counts 2."""
    if work.family == "write":
        return _writing(work)
    passes = 3 if work.trains else 1  # the product itself, and in training the two of its backward
    B, T, d, L = work.batch, work.T, work.d, work.layers
    rows = B * T
    block = 2 * rows * (4 * d * d + 2 * d * work.hidden) * passes
    full = 4 * B * T * T * d * passes  # scores and weighted values, every query against every key
    causal = full * (T + 1) / (2 * T)
    if work.family == "translate":
        cross = 2 * rows * 4 * d * d * passes
        return L * (block + full) + L * (block + causal + cross + full) + 2 * rows * d * work.vocab * passes
    total = L * (block + (causal if work.family == "gpt" else full))
    if work.family == "rows":  # the first layer's input needs no gradient
        return total + 2 * rows * work.row_width * d * (passes - 1) + 2 * rows * d * work.classes * passes
    return total if work.family == "encode" else total + 2 * rows * d * work.vocab * passes


def _writing(work: Workload) -> float:
    """T - prompt tokens with a cache: each position goes through the layers once, the head only where a token is chosen."""
    d, positions, new = work.d, work.T - 1, work.T - work.prompt
    layer = 2 * positions * (4 * d * d + 2 * d * work.hidden) + 4 * d * positions * (positions + 1) / 2
    return work.layers * layer + 2 * new * d * work.vocab


def traffic(work: Workload) -> tuple[str, float]:
    """Which of the memory rates counts, "read" or "update", and how many bytes must move at it."""
    parameters = parameter_count(work)
    if work.family == "write":
        return "read", 4.0 * parameters * (work.T - work.prompt) if 4 * parameters > CACHE_BYTES else 0.0
    if work.trains:
        return "update", 28.0 * parameters if 16 * parameters > CACHE_BYTES else 0.0
    return "read", 0.0


def bound_ms(work: Workload, rates: dict[str, float]) -> float:
    """The bound in milliseconds, at the rates of `rates.py`."""
    kind, moved = traffic(work)
    return flops(work) / (1e6 * rates["gflops"]) + moved / (1e6 * rates[f"{kind}_gb_s"])
