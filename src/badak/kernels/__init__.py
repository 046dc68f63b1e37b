"""Kernels: arrays in, arrays out; nothing here knows of tensors or graphs.

Two backends with the same names and signatures. `reference` is NumPy and *is the meaning* of each kernel; `numba` is
the same functions compiled. `of(array)` gives the backend that belongs to an array:

    kernels.of(x).layer_norm(x, w, b, eps)

For NumPy arrays it is `numba` where Numba is installed and `reference` elsewhere; the
environment variable BADAK_KERNELS=reference|numba and `use("reference")` decide otherwise. Integers, booleans and the
dtypes that have no compiled kernels get `reference`. A kernel of bfloat16 computes in float32 and rounds its results once, in
both; for float16, operations ask with copies in float32.
The choice is made at the first call, so that importing badak does not import Numba.
"""

import gc
import importlib
import os
import sys
from types import ModuleType
from typing import Any

import numpy as np

from badak.core.errors import ArgumentError
from badak.core.i18n import say, tr
from badak.core.portable import PORTABLE
from badak.core.signals import uninterrupted
from badak.kernels import reference as reference
from badak.kernels.half import BFLOAT16

__all__ = ["LARGE", "active", "info", "of", "reference", "use"]

BACKENDS = ("reference", "numba")
INSTALL = tr('pip install "badak[fast]"')
LARGE = 65_536  # elements of a sum from which on threads may pay; below, asking for a kernel costs more than it saves

_active: ModuleType | None = None  # the backend of NumPy arrays; None until the first call asks
_reason = ""


def of(array: Any) -> ModuleType:
    """The backend for `array`: a namespace of functions. Compiled kernels exist for float32, float64 and bfloat16.

    An array of another kind than NumPy's names its own: `array.kernels`.
    """
    if type(array) is np.ndarray and (array.dtype.char in "fd" or array.dtype == BFLOAT16):
        return _active or _decide()
    return getattr(array, "kernels", None) or reference


def active() -> ModuleType:
    """The backend of NumPy arrays."""
    return _active or _decide()


class use:
    """Choose the backend of NumPy arrays, for good or for the length of a `with` block.

        kernels.use("reference")
        with kernels.use("numba"): ...

    The choice holds for the whole process, not for one thread. Raises ArgumentError for an unknown or missing
    backend.
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
    """What computes on NumPy arrays: the backend and why it was chosen, products, threads, threading layer, cache."""
    chosen = _active or _decide()
    facts = {"kernels": chosen.__name__.rpartition(".")[2], "reason": _reason}
    if chosen is reference:
        blas = np.show_config(mode="dicts")["Build Dependencies"]["blas"]
        return facts | {"products": tr("{} {} (NumPy's)", blas["name"], blas["version"]), "threads": tr("as NumPy's BLAS decides")}
    return facts | {name: value for name, value in chosen.describe().items() if name != "set"}


def _decide() -> ModuleType:
    """The choice of the first call: BADAK_KERNELS; else numba; else reference, with one line on stderr."""
    global _active, _reason
    asked = os.environ.get("BADAK_KERNELS", "").strip().lower()
    if asked:
        _active, _reason = _load(asked, "BADAK_KERNELS"), f"BADAK_KERNELS={asked}"
        return _active
    try:
        _active, _reason = _import_numba(), "default"
    except ImportError as error:
        _refuse_reference("BADAK_KERNELS")
        _active, _reason = reference, f"Numba kernels not available: {error}"
        told = say("computing with the reference kernels of NumPy ({}). For the compiled ones: "
                   "{}; BADAK_KERNELS=reference silences this line.", error, INSTALL)  # fmt: skip
        sys.stderr.write(f"badak: {told}\n")
    return _active


def _refuse_reference(where: str) -> None:
    if PORTABLE:
        cause = tr("{}: the reference kernels multiply by BLAS, whose bits depend on the CPU, and BADAK_PORTABLE=1 is set", where)
        raise ArgumentError(cause, tr("{}, and the numba kernels", INSTALL))


def _import_numba() -> ModuleType:
    collects = gc.isenabled()
    gc.disable()  # nothing that the import makes is garbage, and looking for some takes a sixth of its time
    try:
        with uninterrupted():  # half imported, Numba is of no use to the process any more
            return importlib.import_module("badak.kernels.numba")
    finally:
        if collects:
            gc.enable()


def _load(name: str, where: str) -> ModuleType:
    if name not in BACKENDS:
        fix = tr("BADAK_KERNELS=reference or numba") if where == "BADAK_KERNELS" else tr('use("reference") or use("numba")')
        raise ArgumentError(tr("{}: expected reference or numba; got {!r}", where, name[:40]), fix)
    if name == "reference":
        _refuse_reference(where)
        return reference
    try:
        return _import_numba()
    except ImportError as error:
        cause = tr("{}: the Numba kernels cannot be imported ({})", where, error)
        raise ArgumentError(cause, tr('{}, or choose "reference"', INSTALL)) from error
