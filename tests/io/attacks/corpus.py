"""Forged files, each made by a program that can be read, with what the reader must say of it.

`CORPUS[reader][name]` is (bytes or, where they take long, a function that makes them; words of the complaint).
`test_attacks.py` reads each in a process with limits.
"""

from collections.abc import Callable

from tests.io.attacks.bombs import BOMBS
from tests.io.attacks.images import PICTURES
from tests.io.attacks.numbers import IDX, IDX_GZIP
from tests.io.attacks.objects import OBJECTS
from tests.io.attacks.pickles import ARCHIVES, LIES, NUMBERS, archive, whole
from tests.io.attacks.settings import SETTINGS, VOCABULARIES
from tests.io.attacks.tensors import TENSORS
from tests.io.attacks.zips import ZIPS

CORPUS: dict[str, dict[str, tuple[bytes | Callable[[], bytes], str]]] = {
    "pt": {
        **{name: (archive(whole(body), NUMBERS), says) for name, (body, says) in LIES.items() if says is not None},
        **{name: (archive(whole(body), NUMBERS), says) for name, (body, says) in BOMBS.items()},
        **ARCHIVES,
        **ZIPS,
    },
    "whole": OBJECTS,
    "safetensors": TENSORS,
    "idx": IDX,
    "gzip": IDX_GZIP,
    "picture": PICTURES,
    "config": SETTINGS,
    "vocabulary": VOCABULARIES,
}
