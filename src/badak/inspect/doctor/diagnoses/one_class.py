import re

import numpy as np

from badak.core.errors import tr
from badak.inspect.doctor.diagnoses.diagnosis import Diagnosis, Findings, Visit
from badak.inspect.doctor.names import failed_at


class OneClass(Diagnosis):
    """The rows come sorted by class: each step pulls everything to one class, the next one to another."""

    code = "BADAK-249"
    title = "each batch holds one class"

    def look(self, visit: Visit) -> Findings:
        by: dict[str, list[np.ndarray]] = {}
        for step in visit.rounds:
            asked: dict[str, list[np.ndarray]] = {}
            for loss in step.trained:
                target = (
                    loss.binary if loss.target is None and len(visit.watch.optimizers) == 1 else loss.target
                )  # a GAN asks by turns
                if target is not None and loss.kind != "picked":
                    known = np.unique(target[target != loss.ignored]) if len(target) >= 8 else np.arange(2)
                    asked.setdefault(loss.place, []).append(known)
            for place, classes_of in asked.items():
                by.setdefault(place, []).append(np.unique(np.concatenate(classes_of)))
        for place, several in by.items():
            one = [each for each in several if len(each) == 1]
            classes = {int(each[0]) for each in one}
            if len(several) >= 5 and 2 * len(one) >= len(several) and len(classes) > 1 and len(visit.rounds) == len(several):
                yield self.found(
                    place,
                    tr("in {} of {} batches all labels are of one class, {} classes in turn", len(one), len(several), len(classes)),
                    "DataLoader(data, batch_size, shuffle=True)",
                    batches=len(one),
                )


class OneHotIntegers(Diagnosis):
    """One-hot rows of integers in the place of class ids."""

    code = "BADAK-250"
    title = "one-hot integers as labels"

    def look(self, visit: Visit) -> Findings:
        found = re.search(r"cross_entropy: target (\(.*\)) holds one-hot rows", str(visit.error or ""))
        if found:
            yield self.found(
                failed_at(visit.error),
                tr("cross_entropy takes integers as class ids, one for each row, and is given {} of them", found[1]),
                tr("leave out one_hot(), or target.argmax(1); one_hot(...).float() are probabilities"),
            )
