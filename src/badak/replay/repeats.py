"""What a step computes twice from the same: each layer its mask from the same position, say. A replay does it once."""

from badak.replay.origins import owner_of


class Repeats:
    """The results of operations without gradient, by what they did to which memory."""

    def __init__(self, origins):
        self.origins = origins
        self._found: dict = {}
        self._writes: dict = {}  # id of an owner: how often its memory was changed
        self._used: set = set()  # ids of the owners of results that stand for two

    def seen(self, what, read, made):
        """The results of the same thing on the same values before; None where there was none, and `made` is it from now on."""
        writes = tuple(self._writes.get(id(owner_of(array)), 0) for array in read)
        before = self._found.setdefault((what, writes), made)
        if before is made:
            return None
        self._used.update(id(owner_of(array)) for array in (*before, *made))
        return before

    def changed(self, arrays, refuse) -> None:
        """These arrays got other values. Where one stands for two results, only one of them was meant."""
        for array in arrays:
            owner = id(owner_of(array))
            self._writes[owner] = self._writes.get(owner, 0) + 1
            if owner in self._used:
                refuse("it changes a result in place that it computed twice")
            self._found = {
                what: made for what, made in self._found.items() if all(id(owner_of(each)) != owner for each in made)
            }

    def forget(self) -> None:
        """Anything may have changed."""
        self._found.clear()
