import re
from dataclasses import replace
from typing import Any

import numpy as np

from badak.core.errors import tr
from badak.data import Dataset
from badak.inspect.doctor.diagnoses.diagnosis import Diagnosis, Findings, Visit
from badak.inspect.doctor.facts import Tested
from badak.inspect.doctor.graph import memory
from badak.inspect.doctor.grouping import grouped
from badak.inspect.doctor.names import held_back
from badak.inspect.doctor.report import Finding
from badak.inspect.doctor.rows import says_test
from badak.inspect.doctor.source import own_text
from badak.inspect.doctor.whole import scaling
from badak.tensor import Tensor

LEAST = 8  # rows
MASK = re.compile(r"mask", re.IGNORECASE)


class TestedOnTrain(Diagnosis):
    """What is called a test is asked about rows that the model was trained on: it says how well it remembers."""

    code = "BADAK-238"
    title = "tested on what it was trained on"

    def look(self, visit: Visit) -> Findings:
        yield from self.told(visit, "chosen")
        yield from self.scaled(visit)
        models = grouped((tested.module, tested) for step in [*visit.steps, visit.watch.open] for tested in step.tested)
        learners = {id(call.module) for step in visit.steps for call in step.calls if call.grad}
        yield from self.of_the_memory(visit)
        found = (self.judged(visit, every) for model, every in models.items() if model in learners)
        yield from [each for each in found if each is not None][:1] or self.masked(visit)

    def scaled(self, visit: Visit) -> Findings:
        """The rows that are learnt were scaled by the numbers of those of a test as well; by the text, where they are not seen."""
        folds = "fold" in own_text().lower()  # of rows that were put apart from those of a test before
        if not folds and (told := scaling(visit, "all")):
            fix = tr("split first; take the mean and the spread of the rows of the training alone")
            yield self.found("", told[0], fix, learnt=told[1], tested=told[2])
        else:
            yield from self.told(visit, "scaled")

    def of_the_memory(self, visit: Visit) -> Findings:
        """Half of the rows that the dataset of a test holds are rows that the dataset of the training holds, in one memory; or most
        of what it makes its examples of, files or texts, is in the list of that of the training."""
        learnt, asked = visit.watch.rows.loaded, visit.watch.rows.loaded_for_tests
        one = next(iter(learnt.values())) if len(learnt) == 1 else None
        alone = len(asked) == 1 and says_test(own_text())
        for test, said in asked.values() if one is not None else ():
            pairs = [(a, b) for a in held_by(one) for b in held_by(test) if said and not learnt.keys() & asked.keys()]
            known = [(shared_rows(a, b), len(b)) for a, b in pairs if memory(a) != memory(b)]
            known += [listed_in(one, test)] if test is not one and (said or alone) else []
            for of, rows in (each for each in known if 2 * each[0] >= each[1] and each[0] >= LEAST):
                yield self.found(
                    "",
                    tr("{:,} of {:,} rows of the dataset that the model is tested with are rows of the one that it learns from "
                       "({})", of, rows, said[:60] or type(test).__name__),
                    tr("rows that no step has seen: random_split(data, [0.8, 0.2]), and test on the second part"),
                    rows=rows, known=of,
                )  # fmt: skip
                return

    def masked(self, visit: Visit) -> Findings:
        """The labels of a test are picked by the mask of the training, and by no other."""
        rows = visit.watch.rows
        said = [(words, n) for _, words, n, _ in rows.masks_of_tests if words]
        if len(said) < 3:
            return
        asked = {loss.labels_at for step in visit.steps for loss in step.trained}
        every = {labels for _, _, _, labels in rows.masks_of_tests}
        left = [name for name in held_back() if MASK.search(name)]
        if {mask for mask, _, _, _ in rows.masks_of_tests} <= rows.masks:
            cause = tr("each test picks its {} labels by a mask by which those of the training are picked ({})", said[0][1],
                       said[0][0][:60])  # fmt: skip
        elif every & asked and not rows.masks:
            cause = tr("each test picks {} of the labels, and the training asks for all of them ({})", said[0][1], said[0][0][:60])
        elif left and len({mask for mask, _, _, _ in rows.masks_of_tests}) == 1:
            cause = tr("{} labels choose the best and tell how good it is, and {} is never read", said[0][1], left[0])
        else:
            return
        yield self.found(
            "", cause, tr("rows that no step has seen: answers[test_mask] == labels[test_mask]"), rows=said[0][1]
        )  # fmt: skip

    def judged(self, visit: Visit, every: list[Tested]) -> Finding | None:
        """What is to be said of the tests of one model: parts of it may be asked about what was drawn."""
        rows, known = sum(t.rows for t in every), sum(t.known for t in every)
        left = ", ".join(held_back()[:1])  # data for tests that nobody reads
        every = [replace(t, words=t.words or left and f"{left} is never read") for t in every]
        said = [t for t in every if t.words and known_well(t)]
        if not every or visit.watch.rows.few:
            return None
        if not said or not all(map(known_well, every)):
            said = [t for t in every if t.words]
            if len(said) < len(every) or rows < 5 * LEAST or known < max(LEAST, 0.8 * expected(visit, every)):
                return None
        if rows < LEAST:
            return None
        return self.found(
            said[0].place,
            tr("{:,} of {:,} rows that the model was tested on are among those that it was trained on before ({})", known, rows,
               said[0].words[:60]),
            tr("rows that no step has seen: random_split(data, [0.8, 0.2]), and test on the second part"),
            rows=rows, known=known,
        )  # fmt: skip


def held_by(dataset: Any) -> list[np.ndarray]:
    """The tables of numbers that a dataset holds."""
    values = getattr(dataset, "tensors", None) or getattr(dataset, "__dict__", {}).values()
    arrays = [x._array if isinstance(x, Tensor) else x for x in values if isinstance(x, Tensor | np.ndarray)]
    return [x for x in arrays if x.ndim > 1 and len(x) == len(dataset) and x.strides[0] > 0]


def items_of(dataset: Any) -> set[tuple]:
    """What each example is made of, where a dataset lists that in texts, as paths are. Empty where it holds tables, or another
    dataset, whose rows are looked at."""
    held = [x._array if isinstance(x, Tensor) else x for x in getattr(dataset, "__dict__", {}).values()]
    long = [x for x in held if hasattr(x, "__len__") and not isinstance(x, str)]
    lists = [[*x] for x in long if isinstance(x, list | tuple | np.ndarray) and len(x) == len(dataset)]
    every = [[each if isinstance(each, tuple) else (each,) for each in x] for x in lists]
    plain = all(isinstance(part, str | int | np.integer) for x in every for each in x for part in each)
    if not plain or any(isinstance(x, Dataset) or getattr(x, "ndim", 0) > 1 for x in held):
        return set()
    rows = {sum(row, ()) for row in zip(*every)}
    texts = any(isinstance(part, str) for row in rows for part in row)
    return rows if texts else set()


def listed_in(one: Any, test: Any) -> tuple[int, int]:
    """How many different items of a dataset are in the list of another one of its class, of how many; most, or none."""
    learnt, asked = (items_of(each) for each in (one, test))
    known = len(learnt & asked) if type(one) is type(test) else 0
    return (known, len(asked)) if len(learnt) > 0.9 * len(one) and known > 0.9 * len(asked) else (0, 1)


def shared_rows(a: np.ndarray, b: np.ndarray) -> int:
    """How many rows of one lie in the memory of rows of the other."""
    if a.strides != b.strides or a.shape[1:] != b.shape[1:] or (memory(b) - memory(a)) % a.strides[0]:
        return 0
    first = (memory(b) - memory(a)) // a.strides[0]
    return max(0, min(len(a), first + len(b)) - max(0, first))


def expected(visit: Visit, every: list[Tested]) -> float:
    """How many rows of the tests a model would know, were they those of its loader; infinite where that is not known."""
    try:
        most = max((len(each.dataset) for each in visit.loaders), default=0)
    except TypeError:
        most = 0
    found = sum(t.rows * min(1.0, t.seen / most) for t in every) if most else 0.0
    return found if found > 0.1 * sum(t.rows for t in every) else float("inf")


def known_well(tested: Tested) -> bool:
    """Whether half of the rows were trained on; an eighth, where they are never equal by chance: most may be turned each time."""
    return (8 if tested.sure else 2) * tested.known >= tested.rows


class DropoutInTests(Diagnosis):
    """F.dropout drops whether the model is tested or not, unless it is told."""

    code = "BADAK-239"
    title = "dropout is at work in eval mode"

    def look(self, visit: Visit) -> Findings:
        buckets = [*visit.steps, visit.watch.open]
        places = [place for step in buckets for place in step.dropped]
        if places and not any(tested.again for step in buckets for tested in step.tested):  # asked twice: the doubt is meant
            yield self.found(
                places[0],
                tr("dropout dropped {} times while the model was in eval mode and nothing was recorded", len(places)),
                tr("F.dropout(x, p, training=self.training), or a layer nn.Dropout(p)"),
                times=len(places),
            )
        elif not places:
            yield from self.told(visit, "drops")
