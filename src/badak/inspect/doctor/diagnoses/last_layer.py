from collections.abc import Iterator
from typing import TYPE_CHECKING

from badak.inspect.doctor.diagnoses.diagnosis import Diagnosis
from badak.inspect.doctor.report import Finding

if TYPE_CHECKING:
    from badak.inspect.doctor.session import Visit


class BehindLogits(Diagnosis):
    """A layer stands between the logits and the loss: what is below 0 is lost, or the answers are dropped at random."""

    code = "BADAK-248"
    title = "a layer behind the logits"
    explains = ("BADAK-210",)
    takes = {
        "relu": "no logit can be below 0", "gelu": "hardly a logit can be below 0", "silu": "hardly a logit can be below 0",
        "tanh": "all logits are between -1 and 1", "dropout": "logits are set to 0 at random",
    }  # fmt: skip

    def look(self, visit: "Visit") -> Iterator[Finding]:
        said = set()
        for step in visit.steps:
            for loss in step.trained:
                maker, at = (loss.below_by, loss.below_at) if loss.made_by == "log_softmax" else (loss.made_by, loss.made_at)
                known = loss.kind in ("cross_entropy", "bce_with_logits") or (loss.kind == "nll" and loss.made_by == "log_softmax")
                if known and loss.classes > 1 and maker in self.takes and loss.place not in said:
                    said.add(loss.place)
                    yield self.found(
                        loss.place,
                        f"{loss.kind} is given what {maker} made at {at or 'a line of badak'}: {self.takes[maker]}",
                        f"leave out the {maker} behind the last layer",
                    )
