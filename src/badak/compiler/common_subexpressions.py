"""What a step computes twice from the same: each layer its mask from the same position, say. A replay does it once."""

from badak.core.errors import tr


class CommonSubexpressions:
    """The results of operations without gradient, by what they did to which memory.

    The first of two recordings finds out what is computed twice; `wanted` tells the second, which keeps that alone.
    """

    def __init__(self, origins, wanted=None):
        self.origins = origins
        self.wanted: set = set() if wanted is None else wanted
        self._finds_out = wanted is None
        self._found: dict = {}  # what was done: the numbers of the memory that it made, and the arrays where they are kept
        self._writes: dict = {}  # number of memory: how often it was changed
        self._used: set = set()  # numbers of the memory of results that stand for two

    def seen(self, what, read, made) -> list | None:
        """(number of its memory, the array or None) of each result of the same thing on the same values before; None where
        there was none, and `made` is it from now on."""
        what = what, tuple(self._writes.get(self.origins.key(array), 0) for array in read)
        before = self._found.get(what)
        if before is None:
            kept = what in self.wanted and not self._finds_out
            self._found[what] = [(self.origins.key(array), array if kept else None) for array in made]
            return None
        if self._finds_out:
            self.wanted.add(what)
        self._used.update(key for key, _ in before)
        self._used.update(map(self.origins.key, made))
        return before

    def changed(self, arrays, refuse) -> None:
        """These arrays got other values. Where one stands for two results, only one of them was meant."""
        for array in arrays:
            key = self.origins.key(array)
            self._writes[key] = self._writes.get(key, 0) + 1
            if key in self._used:
                refuse(tr("it changes a result in place that it computed twice"))
            self._found = {what: made for what, made in self._found.items() if all(each != key for each, _ in made)}

    def forget(self) -> None:
        """Anything may have changed."""
        self._found.clear()
