"""What a store holds, and the commands that read and change it: each a list of texts and numbers, which JSON can carry.

Values are bytes; here each byte is the letter of its number (Latin-1).
"""

from collections import deque
from typing import Any

CHANGES = frozenset({"set", "add", "compare_set", "delete", "append", "push", "pop", "join", "leave"})


class Contents:
    """Keys with values, queues of values, and how many processes have come and gone."""

    def __init__(self) -> None:
        self.values: dict[str, str] = {}
        self.queues: dict[str, deque[str]] = {}
        self.joined = self.left = 0
        self.made = False  # whether one of them made the file

    def do(self, command: str, *args: Any) -> Any:
        """Carry out a command, and give its answer; None for a key that there is not."""
        return getattr(self, f"_{command}")(*args)

    def _set(self, *pairs: str) -> None:
        self.values.update(zip(pairs[::2], pairs[1::2]))

    def _get(self, *keys: str) -> list[str] | None:
        return [self.values[key] for key in keys] if all(key in self.values for key in keys) else None

    def _check(self, *keys: str) -> bool:
        return all(key in self.values for key in keys)

    def _add(self, key: str, amount: int) -> int | None:
        try:
            total = int(self.values.get(key, "0")) + amount
        except ValueError:
            return None
        self.values[key] = str(total)
        return total

    def _compare_set(self, key: str, expected: str, desired: str) -> str:
        if self.values.get(key, "") != expected:
            return self.values.get(key, expected)
        self.values[key] = desired
        return desired

    def _delete(self, key: str) -> bool:
        return self.values.pop(key, None) is not None

    def _append(self, key: str, value: str) -> None:
        self.values[key] = self.values.get(key, "") + value

    def _keys(self) -> list[str]:
        return list(self.values)

    def _push(self, key: str, value: str) -> None:
        self.queues.setdefault(key, deque()).append(value)

    def _pop(self, key: str) -> str | None:
        return self.queues[key].popleft() if self.queues.get(key) else None

    def _length(self, key: str) -> int:
        return len(self.queues.get(key, ()))

    def _join(self, made: bool = False) -> int:
        self.made |= made is True
        self.joined += 1
        return self.joined

    def _leave(self) -> bool:
        """Whether all that came have left."""
        self.left += 1
        return self.left >= self.joined

    def _present(self) -> int:
        return self.joined
