"""`torch.utils.serialization.config`: how files are written and read where a call does not say; `serialization` sets it."""

import os
from enum import Enum
from mmap import MAP_PRIVATE

from badak.core.errors import ArgumentError, tr


class LoadEndianness(Enum):
    """In which order the bytes of a number lie in a file that does not say it."""

    NATIVE = 1
    LITTLE = 2
    BIG = 3


class load:  # noqa: N801  (PyTorch's name)
    """Of load: whether files are mapped, and in which order their bytes lie."""

    mmap = False
    endianness: LoadEndianness | None = None  # None: LITTLE
    mmap_flags = MAP_PRIVATE


class save:  # noqa: N801  (PyTorch's name)
    """Of save. compute_crc32 is remembered, without effect: every record has its CRC."""

    compute_crc32 = True


skipped: list[bool] = []  # the blocks of serialization.skip_data that are entered


def only_weights(asked: bool | None, unset: bool) -> bool:
    """weights_only of a load: what is asked for, where PyTorch's environment variables do not decide; `unset` for None."""
    forced, freed = (_is_on(f"TORCH_FORCE_{name}WEIGHTS_ONLY_LOAD") for name in ("", "NO_"))
    if forced and freed:
        cause = tr(
            "Only one of `TORCH_FORCE_WEIGHTS_ONLY_LOAD` or `TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD` should be set, but both were set."
        )
        raise ArgumentError(cause, "unset TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD")
    if forced:
        return True
    if asked is None:
        return unset and not freed
    return bool(asked)


def _is_on(name: str) -> bool:
    return os.environ.get(name, "0") in ("1", "y", "yes", "true")
