"""The sizes that a config.json asks for, next to those that the tensors have, before anything is made."""

from typing import Any

from badak.core.errors import FileError
from badak.tensor import Tensor

TABLES = 256 << 20  # bytes of tables that are computed, in any model
TOKENS = ("context", "window")  # sizes of which no tensor tells


def expect_sizes(config: Any, tensors: dict[str, Tensor], where: Any) -> None:
    """Refuse more layers than there are tensors, and what is wider than all of them, before anything of that size is built."""
    widest = max((size for x in tensors.values() if x.numel() for size in x.shape), default=0)
    fix = "the config.json that belongs to them"
    for name, size in vars(config).items():
        if name.endswith("layers") and size > len(tensors):
            raise FileError(f"{where}: {size:,} {name}, and {len(tensors)} tensors are there", fix)
        if type(size) is int and size > widest and not name.endswith(TOKENS):
            raise FileError(f"{where}: {name} is {size:,}, and no tensor is wider than {widest:,}", fix)
    _expect_tables(config, tensors, where)


def _expect_tables(config: Any, tensors: dict[str, Tensor], where: Any) -> None:
    """Refuse tables that no folder holds, such as angles by position, where they would be large next to what it does hold."""
    tables = 4 * getattr(config, "computed", 0)
    weights = sum(x.numel() * x.element_size() for x in tensors.values())
    if tables > max(TABLES, weights // 4):
        raise FileError(
            f"{where}: tables for {config.context:,} positions take {tables >> 20:,} MiB, the weights {weights >> 20:,} MiB",
            "the config.json that belongs to these weights",
        )
