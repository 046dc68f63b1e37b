import sys
from collections.abc import Iterator
from typing import Any

from badak.core.errors import tr
from badak.inspect.doctor.diagnoses.diagnosis import Diagnosis, Findings, Visit
from badak.inspect.doctor.source import is_ours

LEAST = 12  # words of a table


class SameNumber(Diagnosis):
    """A table numbers words one after the other, and gives two of them one number: a model cannot tell them apart."""

    code = "BADAK-269"
    title = "two words have one number"

    def look(self, visit: Visit) -> Findings:
        for name, table in tables_of(visit):
            first: dict[int, str] = {}
            twice = [(first[n], word, n) for word, n in table.items() if first.setdefault(n, word) != word]
            if 0 < len(twice) <= 2 and 0 <= min(first) and max(first) < len(table) + 2:
                one, two, number = twice[0]
                yield self.found(
                    "",
                    tr("of {:,} words in {} {!r} and {!r} have the number {}, and the others each one of their own", len(table),
                       name, one, two, number),
                    tr("vocab[word] = len(vocab), before anything else is put in"),
                    number=number,
                )  # fmt: skip
                return


def tables_of(visit: Visit) -> Iterator[tuple[str, dict[str, int]]]:
    """The tables of words and numbers among the names of the program, and in what its own classes and datasets hold."""
    names = dict(getattr(sys.modules.get("__main__"), "__dict__", {}))
    held: list[tuple[str, Any]] = [*names.items()]
    owners = [each for each in names.values() if is_ours(type(each))] + [loader.dataset for loader in visit.loaders]
    held += [pair for owner in owners for pair in getattr(owner, "__dict__", {}).items()]
    for name, each in held:
        if isinstance(each, dict) and len(each) >= LEAST and all(type(k) is str and type(v) is int for k, v in each.items()):
            yield name, each
