"""Linear maps, matrix products and convolutions: each product is sent back along its other factor."""

import numpy as np

from badak.inspect.visualize.steps.row import Row, Steps, step, told_of

ROWS = "this row's part; the rows add up"
SAME = "the same for every output"
FIRST_OUTPUT = "the weights of the first output"


def _weights(row: Row) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """x (K,), w (N, K), b (N,) of a linear map."""
    if row.kind == "AddMM":
        b, x, w = row.x[0], row.x[1], row.run.inputs[2]
        assert x is not None and w is not None
        return x, w.T, b
    w = row.run.inputs[1]
    assert w is not None
    return row.given(), w, row.x[2]


def _back(dy: np.ndarray, w: np.ndarray) -> np.ndarray:
    """dy w in float64, piece by piece: a table of words is not held twice."""
    pieces = [dy[i : i + 1024] @ w[i : i + 1024].astype(np.float64) for i in range(0, len(w), 1024)]
    return np.sum(pieces, axis=0)


def linear(row: Row) -> Steps:
    x, w, b = _weights(row)
    first = w[0].astype(np.float64) * x
    return [
        step("x", "", x),
        step("w[0]", "", w[0], FIRST_OUTPUT),
        step("x[k] w[0,k]", "", first),
        step("sum", "sum_k x[k] w[0,k]", first.sum()),
        *_with_bias(row, b),
    ]


def _with_bias(row: Row, b: np.ndarray | None) -> Steps:
    """The output, and what is added to it."""
    bias = [] if b is None else [step("b[0]", "", b.reshape(-1)[:1])]
    return [*bias, step("y", "x w^T + b" if b is not None else "x w^T", row.y, SAME)]


def linear_back(row: Row) -> Steps:
    x, w, b = _weights(row)
    dy = row.came
    bias = [] if b is None else [step("db", "dy", dy, ROWS)]
    return [
        step("dx", "dy w", _back(dy, w), "every output sends back along its weights"),
        step("dw[0]", "dy[0] x", dy[0] * x, ROWS),
        *bias,
    ]


def _matrices(row: Row) -> tuple[np.ndarray, np.ndarray] | None:
    """The row (K,) of a, and the matrix b (K, N), of the first head, that made y; None where they are no rows and matrix."""
    a, b = row.run.inputs
    if a is None or b is None or a.ndim < 2 or b.ndim < 2 or row.place >= a.shape[-2]:
        return None
    one = a.reshape(-1, *a.shape[-2:])[0, row.place].astype(np.float64)
    matrix = b.reshape(-1, *b.shape[-2:])[0].astype(np.float64)
    return (one, matrix) if np.allclose(one @ matrix, row.y, rtol=1e-3, atol=1e-4) else None


@told_of(_matrices)
def matmul(row: Row, a: np.ndarray, b: np.ndarray) -> Steps:
    return [
        step("a", "", a, "one row, of the first head where there are heads"),
        step("b[:,0]", "", b[:, 0], "the first column"),
        step("sum", "sum_k a[k] b[k,0]", a @ b[:, 0]),
        step("y", "a b", row.y, "the same for every column"),
    ]


@told_of(_matrices)
def matmul_back(row: Row, a: np.ndarray, b: np.ndarray) -> Steps:
    if row.came.size != b.shape[1]:
        return []
    return [
        step("da", "dy b^T", row.came @ b.T, "every column sends back along itself"),
        step("db[:,0]", "dy[0] a", row.came[0] * a, ROWS),
    ]


# ---------------------------------------------------------------- convolutions


def _window(row: Row) -> tuple[np.ndarray, np.ndarray, np.ndarray | None] | None:
    """x (K,), the piece of the picture that is read at this place, w (M, K) and b (M,); None of more groups than one."""
    x, w = row.run.inputs[:2]
    assert x is not None and w is not None
    if row.setting("groups", 1) != 1:
        return None
    bias = row.run.inputs[2] if len(row.run.inputs) > 2 else None
    sizes = w.shape[2:]
    stride, padding, dilation = (_each(row.setting(name), len(sizes)) for name in ("stride", "padding", "dilation"))
    wide = np.pad(x[0].astype(np.float64), [(0, 0), *((p, p) for p in padding)])
    at = np.unravel_index(row.place, row.run.output.shape[2:])
    cut = tuple(slice(i * s, i * s + d * (n - 1) + 1, d) for i, s, d, n in zip(at, stride, dilation, sizes, strict=True))
    return wide[(slice(None), *cut)].reshape(-1), w.reshape(len(w), -1).astype(np.float64), bias


def _each(value: int | tuple[int, ...], count: int) -> tuple[int, ...]:
    return (value,) * count if isinstance(value, int) else tuple(value)


@told_of(_window)
def conv(row: Row, x: np.ndarray, w: np.ndarray, b: np.ndarray | None) -> Steps:
    return [
        step("x", "", x, "the piece that is read at this place, as one row"),
        step("w[0]", "", w[0], FIRST_OUTPUT),
        step("sum", "sum_k x[k] w[0,k]", w[0] @ x),
        *_with_bias(row, b),
    ]


@told_of(_window)
def conv_back(row: Row, x: np.ndarray, w: np.ndarray, b: np.ndarray | None) -> Steps:
    dy = row.came
    return [
        step("dx", "dy w", dy @ w, "to the piece that was read; where pieces overlap they add up"),
        step("dw[0]", "dy[0] x", dy[0] * x, "this place's part; the places add up"),
        *([] if b is None else [step("db", "dy", dy, "this place's part; the places add up")]),
    ]
