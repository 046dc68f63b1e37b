"""What the CPU can do, by LLVM's names, and BADAK_CPU, which limits it: kernels as an older CPU would run them.

    BADAK_CPU=sse2 | avx2 | avx512 | avx512_vnni | avx512_bf16 | amx        the most that kernels use, on x86

Each word stands for itself and all before it. Compiled kernels are kept under names of their own for each.
"""

import os
import re

import llvmlite.binding as llvm
import numba

from badak.core import config
from badak.core.errors import ArgumentError, tr
from badak.core.portable import PORTABLE
from badak.kernels.numba.codegen.internals import target

# By level, the beginnings of LLVM's names of what it adds. A feature belongs to the last level that names it.
_LEVELS = {
    "sse2": "",
    "avx2": "avx|fma|f16c|vaes|vpclmul",
    "avx512": "avx512|evex512",
    "avx512_vnni": "avx512(vnni|ifma|vbmi|bitalg|vpop|vp2)",
    "avx512_bf16": "avx512bf16",
    "amx": "amx|avx512fp16|avx10|avxvnni|avxifma|avxne",
}


_EXACT = "avx512_vnni"  # above it, products of bfloat16 are rounded in another way than elsewhere


def _rank(level):
    return len(_LEVELS) if level is None else list(_LEVELS).index(level)


def limited(features, most):
    """The features without those of levels above `most`."""
    above = list(_LEVELS)[list(_LEVELS).index(most) + 1 :]
    return {name: on and not any(re.match(_LEVELS[level], name) for level in above) for name, on in features.items()}


def _features():
    """What kernels may use; nothing where LLVM cannot tell, or where nothing is compiled."""
    asked = config.word("CPU", tuple(_LEVELS), tr("then kernels use all that the CPU has"))
    if PORTABLE and _rank(asked) > _rank(_EXACT):
        asked = _EXACT
    if numba.config.DISABLE_JIT:
        return {}
    try:
        found = llvm.get_host_cpu_features()
    except RuntimeError:
        return {}
    return dict(found) if asked is None else _hold_to(limited(found, asked))


def _hold_to(features):
    """Let Numba compile for a CPU that has these features alone."""
    numba.config.CPU_FEATURES = ",".join(f"{'+' if on else '-'}{name}" for name, on in features.items())
    if target()[2] != numba.config.CPU_FEATURES:
        cause = tr("BADAK_CPU: Numba compiles for all that the CPU has since before badak; got {!r}", os.environ["BADAK_CPU"][:40])
        raise ArgumentError(cause, "import badak and call badak.kernels.use('numba') before anything else is compiled by Numba")
    return features


FEATURES = _features()


def pairs_in_every_cycle():
    """Whether this CPU starts an instruction of AVX512_BF16 in every cycle, twice the rate of float32.

    Xeons that have AMX do not: there it has half the rate of float32 (`python -m bench.peaks`). Of AMD's and of Cooper Lake it is
    taken to be so, without a measurement.
    """
    try:
        return llvm.get_host_cpu_name().startswith(("znver", "cooperlake"))
    except RuntimeError:
        return False
