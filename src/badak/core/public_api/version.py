"""Versions: badak's own, and the one that a program sees which asks torch for its version."""

import re

from badak.core.errors import package

BADAK = "0.1.0"
PYTORCH = "2.13.0"  # whose interface and numbers badak follows


class TorchVersion(str):
    """A version text that compares by its numbers: "2.13.0" >= "2.8", which as plain text would be less."""

    __slots__ = ()

    def _compared(self, other) -> tuple[list[int], list[int]]:
        texts = (str(self), ".".join(map(str, other)) if isinstance(other, tuple | list) else str(other))
        numbers = [[int(n) for n in re.findall(r"\d+", text.partition("+")[0])[:3]] for text in texts]
        mine, others = (n + [0] * (3 - len(n)) for n in numbers)
        return mine, others

    def __lt__(self, other):
        mine, its = self._compared(other)
        return mine < its

    def __le__(self, other):
        mine, its = self._compared(other)
        return mine <= its

    def __gt__(self, other):
        return not self <= other

    def __ge__(self, other):
        return not self < other

    def __eq__(self, other):
        return str(self) == str(other)

    def __ne__(self, other):
        return str(self) != str(other)

    __hash__ = str.__hash__


def version() -> str:
    """badak's version; for a program that knows it as torch, PyTorch's followed by it, such as "2.13.0+badak.0.1.0"."""
    return TorchVersion(f"{PYTORCH}+badak.{BADAK}") if package() == "torch" else BADAK
