"""The sizes that a config.json, or a GGUF file's facts, ask for, next to those that the tensors have, before anything is made."""

from typing import Any

from badak.core.errors import FileError, tr

TABLES = 256 << 20  # bytes of tables that are computed, in any model
TOKENS = ("context", "window")  # sizes of which no tensor tells


def expect_sizes(config: Any, shapes: list[tuple[int, ...]], weights: int, where: Any, fix: str) -> None:
    """Refuse more layers than there are tensors, and what is wider than all of them, before anything of that size is built.

    weights: the bytes of all tensors.
    """
    widest = max((size for shape in shapes if 0 not in shape for size in shape), default=0)
    for name, size in vars(config).items():
        if name.endswith("layers") and size > len(shapes):
            raise FileError(tr("{}: {:,} {}, and {} tensors are there", where, size, name, len(shapes)), fix)
        if type(size) is int and size > widest and not name.endswith(TOKENS):
            raise FileError(tr("{}: {} is {:,}, and no tensor is wider than {:,}", where, name, size, widest), fix)
    tables = 4 * getattr(config, "computed", 0)  # such as angles by position, which no file holds
    if tables > max(TABLES, weights // 4):
        cause = tr(
            "{}: tables for {:,} positions take {:,} MiB, the weights {:,} MiB", where, config.context, tables >> 20, weights >> 20
        )
        raise FileError(cause, fix)
