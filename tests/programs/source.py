"""A program as a tree of statements, so that one of them can be left out."""

from collections.abc import Iterator


class Block:
    """Statements, and blocks of them, below a header such as `def step(x):`; the program itself has no header."""

    def __init__(self, header: str = "", items: list | None = None):
        self.header, self.items = header, [] if items is None else items

    def add(self, *items) -> "Block":
        """These statements or blocks at the end; gives the last of them."""
        self.items += items
        return self.items[-1] if self.items else self

    def block(self, header: str) -> "Block":
        """A new block at the end."""
        return self.add(Block(header))

    def lines(self, depth: int = 0) -> Iterator[str]:
        """The source, line by line."""
        if self.header:
            yield "    " * depth + self.header
            depth += 1
        for item in self.items:
            if isinstance(item, Block):
                yield from item.lines(depth)
            else:
                yield from ("    " * depth + line for line in item.splitlines())
        if self.header and not self.items:
            yield "    " * depth + "pass"

    def __str__(self) -> str:
        return "\n".join(self.lines()) + "\n"

    def count(self) -> int:
        """How many statements and blocks stand below it."""
        return sum(1 + (item.count() if isinstance(item, Block) else 0) for item in self.items)

    def without(self, first: int, last: int) -> "Block":
        """The same without items number first to last - 1, counted through the tree from the top."""
        return self._without(range(first, last), iter(range(1 << 30)))

    def _without(self, dropped, numbers) -> "Block":
        kept = []
        for item in self.items:
            gone = next(numbers) in dropped
            rest = item._without(dropped, numbers) if isinstance(item, Block) else item
            if not gone:
                kept.append(rest)
        return Block(self.header, kept)


def parsed(text: str) -> Block:
    """A written program as a tree; each line that is more than a line (brackets, strings) must be a statement of its own."""
    root = Block()
    path = [(-1, root)]  # (indentation, block), innermost last
    for line in text.splitlines():
        if not line.strip() or line.strip().startswith("#"):
            continue
        indent = len(line) - len(line.lstrip())
        while indent <= path[-1][0]:
            path.pop()
        line = line.strip()
        if line.endswith(":"):
            path.append((indent, path[-1][1].block(line)))
        else:
            path[-1][1].add(line)
    return root
