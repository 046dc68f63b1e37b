"""Which instructions products of numbers below float32 are computed with: the first way that works on this machine.

A way is taken where the CPU has its features (`BADAK_CPU` may hide some), where the system permits it, and where a small product
by it was right once: the first time it is to be used in an installation it is checked, and what was found is kept next to the
compiled kernels. A way that fails is not taken, and that is said.
"""

import ctypes
import hashlib
import platform
import sys
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

from badak.core.errors import tr
from badak.kernels.numba.codegen.amx import has, target
from badak.kernels.numba.codegen.cache import Shelf, sources_of, to_stderr
from badak.kernels.numba.codegen.compile import FOLDER

_ARCH_PRCTL, _PERMIT, _TILES = 158, 0x1023, 18  # Linux's arch_prctl, ARCH_REQ_XCOMP_PERM, the state that tiles are


class Way(NamedTuple):
    """A way to compute a kind of product.

    features: what the CPU needs, by LLVM's names.   check(): whether a small product by this way is right; None for the way
    that needs no check, being built of others.   pays: whether it is faster here than the ways after it.
    """

    name: str
    features: tuple[str, ...] = ()
    check: Callable[[], bool] | None = None
    pays: bool = True


class Ways:
    """The ways of one kind of product, the fastest first; the last one always works."""

    def __init__(self, kind: str, source: str, *ways: Way) -> None:
        self.kind, self.source, self.ways = kind, source, ways
        self._chosen: Way | None = None
        KINDS[kind] = self

    def chosen(self) -> str:
        """The name of the way that is taken."""
        if self._chosen is None:
            self._chosen = next(way for way in self.ways if way.pays and self.why_not(way.name) == "")
        return self._chosen.name

    def expected(self) -> str:
        """As `chosen`, before anything was computed: what the CPU and the system say, not yet the check."""
        return self._chosen.name if self._chosen else next(way.name for way in self.ways if way.pays and not _missing(way))

    def why_not(self, name: str) -> str:
        """Why a way cannot be taken here; empty where it can."""
        way = next(way for way in self.ways if way.name == name)
        return _missing(way) or ("" if self._right(way) else "it is not right on this machine")

    def use(self, name: str) -> "_Using":
        """Take this way for the length of a `with` block: for tests and measurements."""
        return _Using(self, next(way for way in self.ways if way.name == name))

    def _right(self, way: Way) -> bool:
        if way.check is None:
            return True
        known = repr((target(), self.kind, way.name, sources_of(self.source)))
        name = f"{self.kind}-{way.name}-{hashlib.sha256(known.encode()).hexdigest()[:24]}.checked"
        shelf = None if FOLDER is None else Shelf(FOLDER)
        if shelf is not None and (shelf.folder / name).is_file() and shelf.get(name) == b"right":
            return True
        right = way.check()
        if not right:
            to_stderr(tr("products of {} by {} are wrong on this machine; another way is taken", self.kind, way.name))
        elif shelf is not None:
            shelf.put(name, b"right")
        return right


def _missing(way: Way) -> str:
    """What a way lacks here; empty where it has all that it needs."""
    lacking = [feature for feature in way.features if not has(feature)]
    if lacking:
        return f"this CPU lacks {', '.join(lacking)}"
    return "the system does not permit tile registers to this process" if "amx-tile" in way.features and not permitted() else ""


class _Using:
    def __init__(self, ways: Ways, way: Way) -> None:
        self.ways, self.before = ways, ways._chosen
        ways._chosen = way

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exc: object) -> None:
        self.ways._chosen = self.before


KINDS: dict[str, Ways] = {}  # by kind: "bfloat16", "int8"


@cache
def permitted() -> bool:
    """Whether the threads of this process may use tile registers; Linux has to be asked once, for all of them."""
    if not sys.platform.startswith("linux") or platform.machine() != "x86_64":
        return False
    return ctypes.CDLL(None).syscall(_ARCH_PRCTL, _PERMIT, _TILES) == 0


def describe() -> dict[str, str]:
    """The way of each kind of product: {"bfloat16": "amx", ...}, nothing being compiled or checked for it."""
    return {kind: ways.expected() for kind, ways in KINDS.items()}
