"""What the parts of the generator share: chance, names, sizes, and tensors that stand outside of a step."""

import random
from dataclasses import dataclass

from tests.programs.source import Block


@dataclass(frozen=True)
class Value:
    """A float tensor in a program: its name and its shape. own: it is the result of an operation, to be changed in place."""

    name: str
    shape: tuple[int, ...]
    own: bool = True


class Drawing:
    """Chance that is decided by a seed, and the program that comes of it."""

    def __init__(self, seed: int):
        self.random = random.Random(seed)
        self.program = Block()
        self.setup: Block = self.program  # where constants are made
        self.large = self.chance(0.12)  # big enough for several threads
        self.only_badak = False  # it uses names that PyTorch does not have
        self._count = 0

    def chance(self, p: float) -> bool:
        """True with probability p."""
        return self.random.random() < p

    def one(self, *options):
        """One of these."""
        return self.random.choice(options)

    def number(self, low: int, high: int) -> int:
        """An integer, low and high included."""
        return self.random.randint(low, high)

    def name(self, start: str) -> str:
        """A new name."""
        self._count += 1
        return f"{start}{self._count}"

    def size(self) -> int:
        """The size of an axis."""
        return self.one(32, 48, 64) if self.large else self.one(1, 2, 3, 3, 4, 4, 5, 6, 8)

    def shape(self, rank: int | None = None) -> tuple[int, ...]:
        """A shape."""
        return tuple(self.size() for _ in range(self.one(1, 2, 2, 3, 3) if rank is None else rank))

    def axis(self, shape: tuple[int, ...]) -> int:
        """An axis of it, from the front or from the back."""
        return self.number(-len(shape), len(shape) - 1)

    def constant(self, shape: tuple[int, ...]) -> str:
        """The name of a tensor of this shape that is made before the step."""
        name = self.name("c")
        self.setup.add(f"{name} = draw{one_tuple(shape)}")
        return name

    def ids(self, n: int, shape: tuple[int, ...]) -> str:
        """The name of integers 0..n-1 that are made before the step."""
        name = self.name("ids")
        self.setup.add(f"{name} = ints({', '.join(map(str, (n, *shape)))})")
        return name


def one_tuple(shape: tuple[int, ...]) -> str:
    """A shape as the arguments of a call: (2, 3), (2), ()."""
    return f"({', '.join(map(str, shape))})"
