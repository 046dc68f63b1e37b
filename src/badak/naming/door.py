"""The `__getattr__` of badak's packages: what stands elsewhere is brought, what is missing is explained."""

import sys
from collections.abc import Callable

from badak.naming.missing import absent
from badak.naming.table import PLACES, reach
from badak.naming.version import version


def door(module: str, like: str = "") -> Callable[[str], object]:
    """The function that a module `badak.<...>` takes as its `__getattr__`; like: a module whose names it has as well."""
    space = module.partition(".")[2]

    def __getattr__(name: str) -> object:  # noqa: N807  (it becomes one)
        if f"{module}.{name}" == "badak.__version__":
            return version()
        target = PLACES.get(f"{module}.{name}")
        there = reach(target) if target else getattr(sys.modules.get(like), name, None)
        if there is None:
            raise absent(space, name, sys.modules.get(module))
        return there

    return __getattr__
