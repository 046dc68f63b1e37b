"""The environment variables that badak reads. Those that are read by an import say in two lines on stderr what they cannot mean.

BADAK_KERNELS=reference|numba    which kernels compute               (kernels/)
BADAK_NUM_THREADS=n         threads of the fast ones            (kernels/numba/)
BADAK_CPU=avx2 ...          the most that they use of the CPU   (kernels/numba/codegen/cpu.py)
BADAK_PORTABLE=1            results have the same bits on every CPU (core/portable.py)
BADAK_DEBUG=1               errors name the lines of a program  (core/modes.py)
BADAK_COMPILE_CHECK=n       every n-th replay is checked        (compiler/check.py)
BADAK_CACHE=FOLDER          where downloaded data lies          (data/mnist.py)
BADAK_LANG=ko|en            the language of messages, help and reports, else the locale's  (core/i18n/)
BADAK_CUDA_AS_CPU=1         names of CUDA devices mean the CPU  (tensor/dtypes.py)
BADAK_DIST_CHECK=0          ranks do not compare what they are about to do (distributed/)
BADAK_ALONE=1               this process works by itself, whatever its starter says of others (distributed/places.py)
BADAK_BOARD                 where a rank tells its guard what it does; `badak launch` sets it
BADAK_API_KEY               what requests to `badak serve` must know (cli/serve.py)
BADAK_RUN_PROGRAM           the script of `badak run`, which sets it for processes that it starts
"""

import difflib
import os
import sys

from badak.core.errors import ArgumentError
from badak.core.i18n import say, tr

NAMES = (
    "KERNELS", "NUM_THREADS", "CPU", "DEBUG", "COMPILE_CHECK", "CACHE", "LANG", "RUN_PROGRAM", "CUDA_AS_CPU", "DIST_CHECK", "BOARD",
    "ALONE", "API_KEY", "PORTABLE",
)  # fmt: skip
_ON, _OFF = ("1", "true", "yes", "on"), ("", "0", "false", "no", "off")


def switch(name: str) -> bool:
    """Whether BADAK_`name` is on; nonsense is off, and said."""
    asked = os.environ.get(f"BADAK_{name}", "").strip().lower()
    if asked not in _ON + _OFF:
        _say(
            tr("BADAK_{}: expected 1 or 0; got {!r}, which counts as 0", name, asked[:40]),
            tr("BADAK_{}=1, or leave it unset", name),
        )
    return asked in _ON


def word(name: str, words: tuple[str, ...], unset: str) -> str | None:
    """Which of the words BADAK_`name` is; None where it is not set. `unset` says what is done then."""
    asked = os.environ.get(f"BADAK_{name}", "").strip().lower()
    if asked and asked not in words:
        expected = f"{', '.join(words[:-1])} or {words[-1]}"
        cause = tr("BADAK_{}: expected {}; got {!r}", name, expected, asked[:40])
        raise ArgumentError(cause, tr("BADAK_{}={}, or leave it unset: {}", name, words[1], unset))
    return asked or None


def look_for_misspelled() -> None:
    """Say which variable is nearly the name of one that badak reads. Others may belong to programs around it."""
    for name in os.environ:
        if name.startswith("BADAK_") and name[6:] not in NAMES:
            near = difflib.get_close_matches(name[6:46], NAMES, n=1, cutoff=0.7)
            if near:
                _say(tr("{}: nothing reads this variable", name), f"BADAK_{near[0]}")


def _say(cause: str, fix: str) -> None:
    sys.stderr.write(f"badak: {say(cause)}\n{say('fix:')} {say(fix)}\n")


look_for_misspelled()
