"""The sizes that a config.json, or a GGUF file's facts, ask for, next to those that the tensors have, before anything is made."""

from typing import Any

from badak.core.errors import FileError

TABLES = 256 << 20  # bytes of tables that are computed, in any model
TOKENS = ("context", "window")  # sizes of which no tensor tells


def expect_sizes(config: Any, shapes: list[tuple[int, ...]], weights: int, where: Any, fix: str) -> None:
    """Refuse more layers than there are tensors, and what is wider than all of them, before anything of that size is built.

    weights: the bytes of all tensors.
    """
    widest = max((size for shape in shapes if 0 not in shape for size in shape), default=0)
    for name, size in vars(config).items():
        if name.endswith("layers") and size > len(shapes):
            raise FileError(f"{where}: {size:,} {name}, and {len(shapes)} tensors are there", fix)
        if type(size) is int and size > widest and not name.endswith(TOKENS):
            raise FileError(f"{where}: {name} is {size:,}, and no tensor is wider than {widest:,}", fix)
    tables = 4 * getattr(config, "computed", 0)  # such as angles by position, which no file holds
    if tables > max(TABLES, weights // 4):
        raise FileError(
            f"{where}: tables for {config.context:,} positions take {tables >> 20:,} MiB, the weights {weights >> 20:,} MiB", fix
        )
