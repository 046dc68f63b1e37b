"""Whether all that the code of a step reads is as it was, asked before each replay.

Most are words of memory (`words.py`), compared in compiled code; the others are compared by identity, those of one kind together.
Only where that finds a difference are they looked at one by one, and numbers and texts compared by their value.
"""

from collections import Counter, OrderedDict
from collections.abc import Iterable
from itertools import chain, repeat
from operator import attrgetter, is_
from typing import Any

from badak.compiler.places import (
    MISSING,
    Cell,
    Class,
    ClassEntry,
    Code,
    Consumed,
    Entry,
    Items,
    Kind,
    Mapping,
    Members,
    Place,
    Size,
    TypeOf,
    all_alike,
)  # fmt: skip
from badak.compiler.words import Words

_contents = attrgetter("cell_contents")
_code, _defaults, _keywords = attrgetter("__code__"), attrgetter("__defaults__"), attrgetter("__kwdefaults__")
_own_dict = object.__getattribute__


class Snapshot:
    """What places held at one moment."""

    def __init__(self, places: Iterable[Place]):
        self.held = {place.key: (place, place.now()) for place in places}

    def changed(self, consumed: bool = True, besides=()) -> str:
        """Where something else is now, in words; "" where nothing is. consumed: look at iterators and the like, too."""
        for key, (place, before) in self.held.items():
            if (consumed or not isinstance(place, Consumed)) and key not in besides and not all_alike(before, place.now()):
                return place.where
        return ""

    def places(self) -> list[tuple[tuple, Place]]:
        """(key, place) of all."""
        return [(key, place) for key, (place, _) in self.held.items()]

    def look_again(self) -> None:
        """Take what the consumed have come to for what they held."""
        for key, (place, _) in self.held.items():
            if isinstance(place, Consumed):
                self.held[key] = place, place.now()

    def common(self, places: dict[tuple, Place]) -> list[tuple[Place, list]]:
        """The places that are in both: what both recordings have read was there before them."""
        return [held for key, held in self.held.items() if key in places]


class Guards:
    """Places, and what has to be found there."""

    def __init__(self, held: Iterable[tuple[Place, list]]):
        self.held: list[list[Any]] = [[place, before] for place, before in held if not isinstance(place, Consumed)]
        self.failed = ""  # the place that was another one when it was last asked, in words
        self._restless: Counter = Counter()
        self._take_words()

    def __len__(self) -> int:
        return len(self.held)

    def _take_words(self) -> None:
        self._words = Words(self.held, self._restless)
        self._others = Identities(self._words.others)

    def hold(self) -> bool:
        """Whether everything is as it was."""
        if self._words.same() and self._others.are_same():
            return True
        try:
            if not self._look_closer():
                return False
        except Exception:  # whatever an object of the program answers when it is looked at
            return False
        if self._words.have_changed():
            self._take_words()
        else:
            self._others = Identities(self._words.others)
        return True

    def _look_closer(self) -> bool:
        """Whether what has another identity is equal all the same."""
        found = [place.now() for place, _ in self.held]
        for (place, before), now in zip(self.held, found):
            if not all_alike(before, now):
                self.failed = place.where
                return False
        for each, now in zip(self.held, found):
            each[1] = now
        return True


class Identities:
    """What places hold, compared by identity: those of one kind together."""

    def __init__(self, held: list[list]):
        of: dict[type, list] = {
            kind: [] for kind in (Entry, Mapping, Class, ClassEntry, Items, Members, Cell, Code, TypeOf, Kind, Size)
        }
        self.rest: list[tuple[Place, list]] = []
        for place, before in held:
            group = of[type(place)] if _is_usual(place, before) else self.rest
            group.append((place, before))
        self.owners, self.names, self.entries = _containers(of[Entry]), [place.name for place, _ in of[Entry]], _firsts(of[Entry])
        self.of_classes = [(vars(place.container).get, place.name) for place, _ in of[ClassEntry]]
        self.class_entries = _firsts(of[ClassEntry])
        classes = [(vars(place.container), before) for place, before in of[Class]]
        named = [(place.container, before) for place, before in of[Mapping]] + classes
        self.sized = [each for each, _ in named] + _containers(of[Items] + of[Members] + of[Size])
        self.sizes = [len(before) // 2 for _, before in named] + [len(before) for _, before in of[Items] + of[Members]]
        self.sizes += _firsts(of[Size])
        self.mappings = [each for each, before in named if before]
        self.keys = [x for _, before in named for x in before[: len(before) // 2]]
        self.values = [x for _, before in named for x in before[len(before) // 2 :]]
        self.lists, self.items = _containers(of[Items]), [x for _, before in of[Items] for x in before]
        self.cells, self.variables = _containers(of[Cell]), _firsts(of[Cell])
        self.functions = _containers(of[Code])
        self.codes, self.defaults, self.keywords = (list(map(part, self.functions)) for part in (_code, _defaults, _keywords))
        self.objects, self.kinds = _containers(of[TypeOf] + of[Kind]), _firsts(of[TypeOf] + of[Kind])
        self.with_dict = [x for x in _containers(of[TypeOf]) if _has_dict(x)]
        self.dicts = [_own_dict(x, "__dict__") for x in self.with_dict]

    def are_same(self) -> bool:
        """Whether everything is the very same, or, of kinds that are looked at one by one, equal."""
        try:
            return (
                all(map(is_, map(dict.get, self.owners, self.names, repeat(MISSING)), self.entries))
                and all(get(name, MISSING) is value for (get, name), value in zip(self.of_classes, self.class_entries))
                and list(map(len, self.sized)) == self.sizes
                and all(map(is_, chain.from_iterable(map(_values, self.mappings)), self.values))
                and all(map(is_, chain.from_iterable(self.mappings), self.keys))
                and all(map(is_, chain.from_iterable(self.lists), self.items))
                and all(map(is_, map(_contents, self.cells), self.variables))
                and all(map(is_, map(type, self.objects), self.kinds))
                and all(map(is_, map(_own_dict, self.with_dict, repeat("__dict__")), self.dicts))
                and all(map(is_, map(_code, self.functions), self.codes))
                and all(map(is_, map(_defaults, self.functions), self.defaults))
                and all(map(is_, map(_keywords, self.functions), self.keywords))
                and all(all_alike(before, place.now()) for place, before in self.rest)
            )
        except Exception:  # an empty cell; another thread changes a dict; whatever an object of the program answers
            return False


def _containers(group: list) -> list[Any]:
    return [place.container for place, _ in group]


def _firsts(group: list) -> list[Any]:
    return [before[0] for _, before in group]


def _is_usual(place: Place, before: list) -> bool:
    """Whether a place is of a kind that is compared together: its container is what it seems, and no class of the program's."""
    kind = type(place)
    if kind is Entry:
        return isinstance(place.container, dict)
    if kind is Mapping:
        return type(place.container) in (dict, OrderedDict)
    if kind is Items:
        return type(place.container) is list
    if kind is Members:
        return type(place.container) is set and not before
    if kind is Code:
        return not place.container.__kwdefaults__
    return kind in (Cell, Class, ClassEntry, TypeOf, Kind, Size)


def _values(mapping) -> Any:
    return mapping.values()


def _has_dict(thing: Any) -> bool:
    try:
        return isinstance(_own_dict(thing, "__dict__"), dict)
    except AttributeError:
        return False
