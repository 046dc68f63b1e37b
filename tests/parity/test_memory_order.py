"""The order in memory of what public functions give, for PyTorch's own samples of them: as they are, turned, channels-last.

Where PyTorch's result is row-major, badak's is: what can be viewed there can be viewed here. Where PyTorch's is not, badak's is
the same or, for the functions of BY_ROWS, row-major.
"""

import functools
import itertools
from fnmatch import fnmatch

import numpy as np
import pytest
import torch

import badak
from tests.test_order import order
from tests.tiers import thinned
from tests.torch_samples import lists

# PyTorch's samples take seconds to import: `make check` has the rows of tests/samples.
pytestmark = pytest.mark.slow

COLUMNS = "PyTorch leaves what LAPACK made column by column"
SORTED = "values are sorted row by row, in row-major copies"
BY_ROWS = {
    "stft": "of signals that are no rows PyTorch leaves the axis along which frames were cut where it lay",
    "fft.*": "PyTorch leaves the axis that was transformed innermost",
    "linalg.*": COLUMNS,
    "cholesky*": COLUMNS,
    "geqrf": COLUMNS,
    "lu": COLUMNS,
    "lu_solve": COLUMNS,
    "ormqr": COLUMNS,
    "triangular_solve": COLUMNS,
    "qr": COLUMNS,
    "svd": COLUMNS,
    "nn.functional.pad": "mirrored and repeated edges are gathered axis by axis, each time into rows",
    "msort": SORTED,
    "put": "positions count in row-major order, and so does the result lie",
    "addr": "added to the outer product as to every product, whose order counts",
    "normal": "numbers are drawn in row-major order, as PyTorch draws them for the seed",
}
UNFINISHED = ("_", "ops.aten", "torch.ops", "jiterator", "sparse", "masked.", "signal.")  # tests of PyTorch's own workings


def find(name: str):
    """badak's function of this name, or the method; None where there is none."""
    try:
        return functools.reduce(getattr, name.split("."), badak)
    except AttributeError:
        return getattr(badak.Tensor, name, None) if "." not in name else None


def ops():
    return [
        op for op in lists().op_db if not op.name.startswith(UNFINISHED) and callable(find(op.name)) and not op.variant_test_name
    ]


def mapped(function, x):
    """x with every tensor in it replaced by function(tensor)."""
    if isinstance(x, torch.Tensor):
        return function(x.detach())
    if type(x) in (list, tuple):
        return type(x)(mapped(function, part) for part in x)
    return {name: mapped(function, part) for name, part in x.items()} if type(x) is dict else x


def turned(t):
    back = tuple(range(t.ndim))[::-1]
    return t.permute(back).contiguous().permute(back)


def channels_last(t):
    return t.movedim(1, -1).contiguous().movedim(-1, 1) if t.ndim > 2 else t


def ours(x):
    """The same call for badak: its tensors on the same memory, its dtypes; TypeError where it has none of a kind."""
    if isinstance(x, torch.Tensor):
        return badak.from_numpy(x.numpy())
    if isinstance(x, torch.dtype | torch.memory_format):
        return getattr(badak, str(x).partition(".")[2])
    if type(x) in (list, tuple):
        return type(x)(ours(part) for part in x)
    return {name: ours(part) for name, part in x.items()} if type(x) is dict else x


def tensors_in(y, kind):
    return [part for part in (y if isinstance(y, tuple | list) else (y,)) if isinstance(part, kind)]


@pytest.mark.thin(90)
@pytest.mark.parametrize("op", ops(), ids=lambda op: op.name)
def test_public_functions_leave_results_as_pytorch_does(op):
    kept = any(fnmatch(op.name, names) for names in BY_ROWS)
    dtype = torch.float64 if torch.float64 in op.supported_dtypes("cpu") else torch.int64
    for sample in thinned(itertools.islice(op.sample_inputs("cpu", dtype, requires_grad=False), 8), 3):
        for layout in (lambda t: t, turned, channels_last):
            hint = "channels_last" in str(sample.kwargs.get("memory_format"))  # about the speed of PyTorch's own kernels
            x, args, named = (mapped(layout, part) for part in (sample.input, sample.args, sample.kwargs))
            try:
                with torch.no_grad():
                    expected = tensors_in(op(x, *args, **named), torch.Tensor)
                found = tensors_in(find(op.name)(ours(x), *ours(args), **ours(named)), badak.Tensor)
            except Exception:  # a call that one of the two refuses: other tests look at what it says
                continue
            for a, b in zip(expected, found):
                if tuple(a.shape) != tuple(b.shape):
                    continue  # another test's affair
                theirs, mine = order(a.shape, a.stride()), order(b.shape, b.stride())
                rows = order(b.shape, [step // 8 for step in np.empty(tuple(b.shape)).strides])
                place = f"{tuple(b.shape)} from {[t.stride() for t in tensors_in([x, *args], torch.Tensor)]}, {sample.kwargs}"
                assert mine == theirs or ((kept or hint) and mine == rows), place


LINES = {  # of (N, C, L) whose channels lie side by side: what a dropout behind it draws depends on where its result lies
    "avg_pool1d": lambda t, x: t.nn.functional.avg_pool1d(x, 2),
    "max_pool1d": lambda t, x: t.nn.functional.max_pool1d(x, 2),
    "max_pool1d with indices": lambda t, x: t.nn.functional.max_pool1d(x, 2, return_indices=True)[1].float(),
    "adaptive_avg_pool1d": lambda t, x: t.nn.functional.adaptive_avg_pool1d(x, 3),
    "adaptive_max_pool1d": lambda t, x: t.nn.functional.adaptive_max_pool1d(x, 3),
    "conv1d": lambda t, x: t.nn.functional.conv1d(x, t.ones(4, 3, 2)),
    "conv1d of turned weights": lambda t, x: t.nn.functional.conv1d(x, t.ones(4, 2, 3).transpose(1, 2)),
    "lp_pool1d": lambda t, x: t.nn.functional.lp_pool1d(x, 2.0, 2),
}


@pytest.mark.parametrize("wanted", [False, True], ids=["no gradient", "gradient"])
@pytest.mark.parametrize("name", LINES)
def test_a_dropout_behind_turned_lines_draws_as_in_pytorch(name, wanted):
    found = []
    for t in (torch, badak):
        t.manual_seed(3)
        x = (t.arange(48.0).reshape(2, 8, 3) + 1).transpose(1, 2).detach().requires_grad_(wanted)
        found.append(t.nn.functional.dropout(LINES[name](t, x), 0.5).detach().flatten().tolist())
    assert found[0] == pytest.approx(found[1], rel=1e-6)
