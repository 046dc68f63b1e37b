"""BADAK_PORTABLE=1: the same program gives the same bits on x86 with AVX2 or AVX-512, and on AArch64.

badak's own kernels then compute every number in the order in which it is written (`kernels/numba/codegen/`). NumPy and its BLAS
choose their code by the CPU as they are imported; they are held to AVX2 here. What differs on AArch64 nevertheless declares itself
with `portable` (`ops/op.py`).
"""

import os
import platform
import sys

from badak.core import config
from badak.core.errors import ArgumentError, tr

__all__ = ["HELD", "PORTABLE"]

PORTABLE = config.switch("PORTABLE")
HELD = {  # what NumPy and OpenBLAS read when they are imported; NumPy's names before and after 2.4
    "NPY_DISABLE_CPU_FEATURES": "X86_V4 AVX512_ICL AVX512_SPR AVX512F AVX512CD AVX512_SKX AVX512_CLX AVX512_CNL",
    "OPENBLAS_CORETYPE": "Haswell",
}


def _hold() -> None:
    """Hold NumPy and OpenBLAS to AVX2, on x86."""
    if platform.machine().lower() not in ("x86_64", "amd64"):
        return
    missing = {name: value for name, value in HELD.items() if os.environ.get(name) != value}
    if missing and "numpy" in sys.modules:
        assigned = [f'{name}="{value}"' for name, value in missing.items()]
        cause = tr("BADAK_PORTABLE: NumPy was imported before badak, and computes as this CPU does it")
        raise ArgumentError(cause, tr("import badak first, or start with {}", " ".join(assigned)))
    os.environ.update(missing)


if PORTABLE:
    _hold()
