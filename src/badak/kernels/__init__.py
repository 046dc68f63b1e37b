"""Kernels: arrays in, arrays out; nothing here knows of tensors or graphs.

Two sets with the same names and signatures. `plain` is NumPy and *is the meaning* of each kernel; `fast` is
the same functions compiled by Numba. `of(array)` gives the set that belongs to an array:

    kernels.of(x).layer_norm(x, w, b, eps)

For NumPy arrays it is `fast` where Numba is installed and `plain` elsewhere; the
environment variable BADAK_KERNELS=plain|fast and `use("plain")` decide otherwise. Integers, booleans and the
dtypes that have no compiled kernels get `plain`. A kernel of bfloat16 computes in float32 and rounds its results once, in both
sets; for float16, operations ask with copies in float32.
The choice is made at the first call, so that importing badak does not import Numba.
"""

import importlib
import os
import sys
from types import ModuleType
from typing import Any

import numpy as np

from badak.errors import ArgumentError
from badak.interrupt import uninterrupted
from badak.kernels import plain as plain
from badak.kernels.half import BFLOAT16
from badak.language import say

__all__ = ["LARGE", "active", "info", "of", "plain", "use"]

SETS = ("plain", "fast")
INSTALL = 'pip install "badak[fast]"'
LARGE = 65_536  # elements of a sum from which on threads may pay; below, asking for a kernel costs more than it saves

_active: ModuleType | None = None  # the set for NumPy arrays; None until the first call asks
_reason = ""


def of(array: Any) -> ModuleType:
    """The kernel set for `array`: a namespace of functions. Fast kernels exist for float32, float64 and bfloat16.

    An array of another kind than NumPy's names its own: `array.kernels`.
    """
    if type(array) is np.ndarray and (array.dtype.char in "fd" or array.dtype == BFLOAT16):
        return _active or _decide()
    return getattr(array, "kernels", None) or plain


def active() -> ModuleType:
    """The kernel set of NumPy arrays."""
    return _active or _decide()


class use:
    """Choose the kernel set of NumPy arrays, for good or for the length of a `with` block.

        kernels.use("plain")
        with kernels.use("fast"): ...

    The choice holds for the whole process, not for one thread. Raises ArgumentError for an unknown or missing
    set.
    """

    def __init__(self, name: str) -> None:
        global _active, _reason
        self._before = _active, _reason
        _active, _reason = _load(name, "kernels.use"), "kernels.use"

    def __enter__(self) -> ModuleType:
        assert _active is not None
        return _active

    def __exit__(self, *exc: object) -> None:
        global _active, _reason
        _active, _reason = self._before


def info() -> dict[str, str]:
    """What computes on NumPy arrays: the kernel set and why it was chosen, products, threads, threading layer, cache."""
    chosen = _active or _decide()
    facts = {"kernels": chosen.__name__.rpartition(".")[2], "reason": _reason}
    if chosen is plain:
        blas = np.show_config(mode="dicts")["Build Dependencies"]["blas"]
        return facts | {"products": f"{blas['name']} {blas['version']} (NumPy's)", "threads": "as NumPy's BLAS decides"}
    return facts | {name: value for name, value in chosen.describe().items() if name != "set"}


def _decide() -> ModuleType:
    """The choice of the first call: BADAK_KERNELS; else fast; else plain, with one line on stderr."""
    global _active, _reason
    asked = os.environ.get("BADAK_KERNELS", "").strip().lower()
    if asked:
        _active, _reason = _load(asked, "BADAK_KERNELS"), f"BADAK_KERNELS={asked}"
        return _active
    try:
        _active, _reason = _import_fast(), "default"
    except ImportError as error:
        _active, _reason = plain, f"fast kernels not available: {error}"
        told = say(
            f"computing with the plain NumPy kernels ({error}). For the fast ones: "
            f"{INSTALL}; BADAK_KERNELS=plain silences this line."
        )
        sys.stderr.write(f"badak: {told}\n")
    return _active


def _import_fast() -> ModuleType:
    with uninterrupted():  # half imported, Numba is of no use to the process any more
        return importlib.import_module("badak.kernels.fast")


def _load(name: str, where: str) -> ModuleType:
    if name not in SETS:
        fix = "BADAK_KERNELS=plain or fast" if where == "BADAK_KERNELS" else 'use("plain") or use("fast")'
        raise ArgumentError(f"{where}: expected plain or fast; got {name[:40]!r}", fix)
    if name == "plain":
        return plain
    try:
        return _import_fast()
    except ImportError as error:
        raise ArgumentError(f"{where}: the fast kernels cannot be imported ({error})", f'{INSTALL}, or choose "plain"') from error
