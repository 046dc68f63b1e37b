"""Runs every operation that a file of calls names, and writes a hash of its results and gradients: `test_portable.py` starts it.

    BADAK_PORTABLE=1 python portable_worker.py CALLS RESULTS

It stands alone: on AArch64 under qemu there is neither PyTorch nor pytest.
"""

import hashlib
import importlib
import pickle
import sys
import warnings

import badak  # before NumPy

# isort: split

import numpy as np

from badak.ops.op import Saved
from badak.ops.rows import Rows


def cotangent(y, rng):
    """A random dy that is the same on every CPU."""
    dy = rng.standard_normal(y.shape) + (1j * rng.standard_normal(y.shape) if y.dtype.kind == "c" else 0)
    return np.asarray(dy).astype(np.complex64 if y.dtype.kind == "c" else np.float32).astype(y.dtype)


def hash_of(array):
    """The bits of an array; those of a NaN are nobody's."""
    if array is None:
        return "-"
    array = np.ascontiguousarray(array)
    if array.dtype.kind in "fc":
        array = np.where(array != array, np.asarray(np.nan, array.dtype), array)
    return hashlib.sha256(array.tobytes()).hexdigest()[:12]


def ran(module, name, arrays, needs, attributes):
    """The hashes of an operation's results, and of its gradients."""
    op = importlib.import_module(module)
    for part in name.split("."):
        op = getattr(op, part)
    save = Saved(needs)
    y = op.forward(save, *arrays, **attributes)
    ys = y if isinstance(y, tuple) else (y,)
    rng = np.random.default_rng(7)
    dys = [cotangent(y, rng) if y.dtype.kind in "fc" else None for y in ys]
    dxs = ()
    if any(needs) and not all(dy is None for dy in dys):
        dxs = op.backward(save, *dys)
        dxs = dxs if isinstance(dxs, tuple) else (dxs,)
    dxs = [np.asarray(dx) if isinstance(dx, Rows) else dx for dx in dxs]
    return [*map(hash_of, ys), *(hash_of(dx) if wanted else "-" for dx, wanted in zip(dxs, save.needs))]


if __name__ == "__main__":
    badak.kernels.use("numba")
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    with open(sys.argv[1], "rb") as calls, open(sys.argv[2], "w") as results:
        for label, *call in pickle.load(calls):  # noqa: S301  (written by the test)
            print(label, *ran(*call), sep="\t", file=results, flush=True)
