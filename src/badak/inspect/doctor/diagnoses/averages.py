from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from badak.inspect.doctor.diagnoses.diagnosis import Diagnosis
from badak.inspect.doctor.given import shapes_of
from badak.inspect.doctor.names import weights_of
from badak.inspect.doctor.report import Finding
from badak.nn import Module

if TYPE_CHECKING:
    from badak.inspect.doctor.session import Visit

LEAST, TIMES = 5, 2.0  # writes, and how far an average may be from what it is one of


class NoAverage(Diagnosis):
    """A copy that is written in each step as an average of the model, and is none: it stands still, shrinks, or grows."""

    code = "BADAK-262"
    title = "an average of the weights that is none"

    def look(self, visit: "Visit") -> Iterator[Finding]:
        written = visit.watch.given.written
        modules = {id(m): m for m in [*visit.watch.called.values(), *visit.alive] if isinstance(m, Module)}
        models = [m for m in visit.watch.called.values() if any(id(p) in visit.trained for p in weights_of(m))]
        for copy in modules.values():
            own = [p for p in weights_of(copy) if id(p._array) in written and written[id(p._array)][2] >= LEAST]
            if not own or any(id(p) in visit.trained for p in weights_of(copy)):
                continue
            if not any(written[id(p._array)][1].any() for p in own):  # one that begins at 0, and is scaled by its user
                continue
            twin = next((m for m in models if type(m) is type(copy) and shapes_of(m) == shapes_of(copy)), None)
            if twin is None or all(np.array_equal(a._array, b._array) for a, b in zip(weights_of(copy), weights_of(twin))):
                continue
            name, times = type(copy).__name__, size(copy) / max(size(twin), 1e-30)
            if all(np.array_equal(p._array, written[id(p._array)][1]) for p in own):
                said = f"the copy of {name} is written {written[id(own[0]._array)][2]} times and never changes"
            elif not 1 / TIMES < times < TIMES:
                said = f"the weights of the copy of {name} are {times:.2g} times as large as those that it should be an average of"
            else:
                continue
            yield self.found(
                "", said, "average = a * average + (1 - a) * weights: average.mul_(a).add_(weights, alpha=1 - a)", times=times
            )
            return


def size(module: Module) -> float:
    """The norm of all its weights."""
    return float(np.sqrt(sum(np.square(p._array.astype(np.float64)).sum() for p in weights_of(module))))
