import re
from collections.abc import Iterable

import numpy as np

from badak.core.errors import tr
from badak.inspect.doctor.diagnoses.diagnosis import Diagnosis, Findings, Visit
from badak.inspect.doctor.given import shapes_of
from badak.inspect.doctor.names import averages_two, weights_of
from badak.inspect.doctor.report import Finding
from badak.inspect.doctor.source import named_line
from badak.nn import Module
from badak.nn.parameter import is_lazy

LEAST, TIMES = 5, 2.0  # writes, and how far an average may be from what it is one of
STILL = 2e-5  # how far a copy moves at least, of what parts it from the weights


class NoAverage(Diagnosis):
    """A copy that is written in each step as an average of the model, and is none: it stands still, shrinks, or grows."""

    code = "BADAK-262"
    title = "an average of the weights that is none"

    def look(self, visit: Visit) -> Findings:
        given = visit.watch.given
        modules = {id(m): m for m in [*visit.watch.called.values(), *visit.alive] if isinstance(m, Module)}
        used = [*visit.watch.called.values(), *(m for m, _ in visit.watch.inside.values())]
        models = [m for m in used if any(id(p) in visit.trained for p in weights_of(m))]
        yield from self.told(visit, "average")
        yield from self.of_itself(visit)
        yield from self.turned_round(visit, modules, models)
        yield from self.shares(visit, modules, models)
        for copy in modules.values():
            known = [each for p in weights_of(copy) if (each := given.history(p)) is not None and each[2] >= LEAST]
            if not known or any(id(p) in visit.trained for p in weights_of(copy)):
                continue
            if not any(first.any() for _, first, _ in known):  # one that begins at 0, and is scaled by its user
                continue
            twins = [m for m in models if type(m) is type(copy) and shapes_of(m) == shapes_of(copy)]
            several = [[(p._array, q._array) for p, q in zip(weights_of(copy), weights_of(twin))] for twin in twins]
            if any(all(np.array_equal(a, b) for a, b in pairs) for pairs in several):
                continue
            like = [m for m in modules.values() if m is not copy and type(m) is type(copy) and shapes_of(m) == shapes_of(copy)]
            if any(all(np.array_equal(p._array, q._array) for p, q in zip(weights_of(copy), weights_of(m))) for m in like):
                continue
            own = {id(p) for p in weights_of(copy) if given.history(p) is not None}
            found = [self.judged(type(copy).__name__, pairs, known) for pairs in several] if len(own) == len(known) else []
            if found and all(each is not None for each in found):
                yield from [each for each in found if each is not None][:1]
                return
        yield from self.loose(visit, modules.values(), models)

    def of_itself(self, visit: Visit) -> Findings:
        """copy.load_state_dict(model.state_dict()), where both names are of one model."""
        for each in visit.watch.given.loaded:
            names = re.search(r"([\w.]+)\.load_state_dict\(([\w.]+)\.state_dict\(\)", named_line(each.place))
            if each.own and names and names[1] != names[2]:
                yield self.found(
                    each.place,
                    tr("{} and {} are one {}, which is given its own weights: what should be its copy is the model", names[1],
                       names[2], each.kind.__name__),
                    tr("copy.deepcopy(model), or another one of its class, moves by itself"),
                )  # fmt: skip
                return

    def turned_round(self, visit: Visit, modules: dict[int, Module], models: list[Module]) -> Findings:
        """The model is written in each step, next to its optimizer, and its copy never is."""
        given = visit.watch.given
        for model in models:
            own = weights_of(model)
            times = [each[2] for p in own if id(p) in visit.trained and (each := given.history(p)) is not None]
            if 2 * sum(n >= LEAST for n in times) < len(own) or len(own) < 2:
                continue
            like = [m for m in modules.values() if m is not model and type(m) is type(model) and shapes_of(m) == shapes_of(model)]
            if not like and all(each is not None for each in map(given.history, own)) and averages_two():
                yield self.found(
                    "",
                    tr(
                        "{} is averaged with itself, {} times: what should be its copy is the model",
                        type(model).__name__,
                        max(times),
                    ),
                    tr("copy.deepcopy(model) makes one that moves by itself"),
                    times=max(times),
                )
                return
            idle = [m for m in like if not any(id(p) in visit.trained or given.history(p) is not None for p in weights_of(m))]
            if idle and len(idle) == len(like):
                yield self.found(
                    "",
                    tr("the weights of {}, which an optimizer has, are written {} times outside of it, "
                       "and those of its copy never", type(model).__name__, max(times)),
                    tr("average.mul_(a).add_(weights, alpha=1 - a): the copy is what moves"),
                    times=max(times),
                )  # fmt: skip
                return

    def shares(self, visit: Visit, modules: dict[int, Module], models: list[Module]) -> Findings:
        """Less than half of a copy stays in each step: the share of the average and that of the new weights are exchanged."""
        stays = visit.watch.given.stays
        for copy in modules.values():
            known = [stays.get(id(p._array)) or stays.get(id(p), []) for p in weights_of(copy)]
            like = any(type(m) is type(copy) and m is not copy and shapes_of(m) == shapes_of(copy) for m in models)
            own = like and not any(id(p) in visit.trained for p in weights_of(copy))
            if own and known and all(len(each) >= LEAST and 0 < max(each) < 0.5 for each in known):
                yield self.found(
                    "",
                    tr("of the copy of {} {:.2g} stays in each step, and the rest is the newest weights: it averages nothing",
                       type(copy).__name__, known[0][-1]),
                    tr("average = m * average + (1 - m) * weights, with m near 1"),
                    share=known[0][-1],
                )  # fmt: skip
                return

    def loose(self, visit: Visit, modules: Iterable[Module], models: list[Module]) -> Findings:
        """Copies of the weights in a dict or a list."""
        own = [t for m in modules for t in (*m._parameters.values(), *m._buffers.values()) if t is not None]
        inside = {id(t._array) for t in own if not is_lazy(t)}
        every = [each for key, each in visit.watch.given.written.items() if key not in inside and each[2] >= LEAST]
        for model in models:
            weights, left, known = [p._array for p in weights_of(model)], iter(every), []
            for w in weights:  # in the order in which they were written first, buffers among them
                known += next(([each] for each in left if each[0].shape == w.shape), [])
            began = [(first, w) for (_, first, _), w in zip(known, weights)]
            if (
                len(known) == len(weights) > 1
                and cosine(began) > 0.5  # else they are gradients, or moments of an optimizer of one's own
                and (found := self.judged(type(model).__name__, list(zip([each[0] for each in known], weights)), known))
            ):
                yield found
                return

    def judged(self, name: str, pairs: list[tuple[np.ndarray, np.ndarray]], known: list[tuple]) -> Finding | None:
        """What is to be said of copies and the weights that they are averages of."""
        first = norm(each for _, each, _ in known)
        if not norm(b for _, b in pairs) < TIMES * max(first, 1e-30):  # the weights themselves grow, or are no numbers
            return None
        times = norm(a for a, _ in pairs) / max(norm(b for _, b in pairs), 1e-30)
        moved, apart = norm(array - first for array, first, _ in known), norm(a - b for a, b in pairs)
        if moved == 0.0 or moved < STILL * apart and apart > 1e-3 * norm(a for a, _ in pairs):
            said = tr("the copy of {} is written {} times and never changes", name, known[0][2])
        elif moved > 0.02 * first and len(pairs) == len(known) and toward(pairs, known) < 0.05:
            said = tr("the copy of {} is written {} times and comes no nearer to the weights", name, known[0][2])
        elif not 1 / TIMES < times < TIMES:
            said = tr(
                "the weights of the copy of {} are {:.2g} times as large as those that it should be an average of", name, times
            )
        else:
            return None
        fix = tr("average = a * average + (1 - a) * weights: average.mul_(a).add_(weights, alpha=1 - a)")
        return self.found("", said, fix, times=times)


def cosine(ways: list[tuple[np.ndarray, np.ndarray]]) -> float:
    """The cosine between two lists of arrays."""
    return sum(float(np.vdot(a, b)) for a, b in ways) / max(norm(a for a, _ in ways) * norm(b for _, b in ways), 1e-30)


def toward(pairs: list[tuple[np.ndarray, np.ndarray]], known: list[tuple]) -> float:
    """The cosine between where copies went and where the weights are from where the copies began."""
    return cosine([(a - first, b - first) for (a, b), (_, first, _) in zip(pairs, known)])


def norm(arrays: Iterable[np.ndarray]) -> float:
    """The norm of all numbers of them."""
    return float(np.sqrt(sum(np.square(x.astype(np.float64)).sum() for x in arrays)))
