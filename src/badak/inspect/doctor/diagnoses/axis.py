from collections.abc import Iterator
from typing import TYPE_CHECKING

from badak.inspect.doctor.diagnoses.diagnosis import Diagnosis
from badak.inspect.doctor.report import Finding

if TYPE_CHECKING:
    from badak.inspect.doctor.session import Visit


class WrongAxis(Diagnosis):
    """A softmax over queries instead of keys, or over the rows of a batch instead of the classes."""

    code = "BADAK-230"
    title = "softmax over the wrong axis"
    explains: tuple[str, ...] = ("BADAK-203", "BADAK-210", "BADAK-220", "BADAK-233")

    def look(self, visit: "Visit") -> Iterator[Finding]:
        turned = [step.turned for step in visit.rounds[:3]]
        if len(turned) >= 2 and all(turned):
            seen = turned[0][0]
            yield self.found(
                seen.place,
                f"softmax(dim={seen.dim}) of weights {seen.shape}, which then multiply values: a row of weights sums to "
                f"{seen.low:.2g} to {seen.high:.2g}, not to 1",
                "softmax(dim=-1): over the keys, the axis that the product with the values sums over",
                dim=seen.dim, low=seen.low, high=seen.high,
            )  # fmt: skip
        for place in dict.fromkeys(loss.place for step in visit.steps for loss in step.trained):
            losses = [loss for step in visit.steps for loss in step.trained if loss.place == place and loss.mass is not None]
            if len(losses) >= 2 and all(abs(each - 1) > 0.02 for loss in losses for each in loss.mass or ()):
                (low, high), maker, where = losses[0].mass or (0.0, 0.0), losses[0].made_by, losses[0].made_at or "a line of badak"
                if losses[0].kind == "cross_entropy":  # which takes none, whatever they sum to
                    self.explains = tuple(code for code in self.explains if code != "BADAK-203")
                yield self.found(
                    place,
                    f"the probabilities that {maker} made at {where} sum to {low:.2g} to {high:.2g} "
                    f"over the {losses[0].classes} classes of a row, not to 1",
                    "dim=-1, the axis of the classes; dim=0 is the batch",
                    low=low, high=high,
                )  # fmt: skip
