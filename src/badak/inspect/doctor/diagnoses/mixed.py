from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from badak.inspect.doctor.diagnoses.diagnosis import Diagnosis
from badak.inspect.doctor.facts import Loss, Picked, Step
from badak.inspect.doctor.report import Finding

if TYPE_CHECKING:
    from badak.inspect.doctor.session import Visit


class LabelsMixed(Diagnosis):
    """Rows and their labels are picked in different orders: each row is asked for the label of another one."""

    code = "BADAK-256"
    title = "labels of other rows"

    def look(self, visit: "Visit") -> Iterator[Finding]:
        steps = [step for step in visit.rounds if step.trained]
        for place in sorted({loss.place for step in steps for loss in step.trained}):
            losses = [(step, loss) for step in steps for loss in step.trained if loss.place == place]
            wrong = [picked for step, loss in losses if (picked := mixed(step, loss)) is not None]
            if len(wrong) >= 3 and len(wrong) >= 0.8 * len(losses) and len(losses) >= len(steps) - 1:
                yield self.found(
                    place,
                    f"in {len(wrong)} of {len(losses)} steps the labels are picked in an order of their own, and nothing that goes "
                    "into the model is picked so",
                    "one order for both: rows = torch.randperm(n); x[rows], y[rows]",
                    steps=len(wrong),
                )
                return


def mixed(step: Step, loss: Loss) -> Picked | None:
    """The order of the labels, where nothing else of this step was picked in it; None where all is well, or is not known."""
    picked = next((each for each in step.picked if each.memory == loss.labels_at), None)
    if picked is None:
        return None
    others = [each for each in step.picked if each.memory != picked.memory and len(each.rows) == len(picked.rows)]
    if any(np.array_equal(each.rows, picked.rows) for each in others):
        return None
    same_rows = any(each.of == picked.of and np.array_equal(np.sort(each.rows), np.sort(picked.rows)) for each in others)
    return picked if picked.whole or same_rows else None
