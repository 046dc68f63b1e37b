"""Small helpers that code for PyTorch takes from torch.nn.modules.utils."""

from collections.abc import Callable, Iterable


def _ntuple(n: int, name: str = "parse") -> Callable:
    def parse(x) -> tuple:
        return tuple(x) if isinstance(x, Iterable) else (x,) * n

    parse.__name__ = name
    return parse


_single, _pair, _triple, _quadruple = (_ntuple(n) for n in (1, 2, 3, 4))


def consume_prefix_in_state_dict_if_present(state_dict: dict, prefix: str) -> None:
    """Take `prefix` off the keys of a state_dict that begin with it, in place and in order, and off its metadata."""
    for entries in (state_dict, getattr(state_dict, "_metadata", {})):
        renamed = {_without(key, prefix): value for key, value in entries.items()}
        entries.clear()
        entries.update(renamed)


def _without(key: str, prefix: str) -> str:
    return "" if key == prefix.rstrip(".") else key.removeprefix(prefix)
