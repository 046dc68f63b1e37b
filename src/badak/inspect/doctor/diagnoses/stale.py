from collections.abc import Iterator
from typing import TYPE_CHECKING

from badak.inspect.doctor.diagnoses.diagnosis import Diagnosis
from badak.inspect.doctor.report import Finding

if TYPE_CHECKING:
    from badak.inspect.doctor.session import Visit


class StaleOptimizer(Diagnosis):
    """The optimizer was built before a layer was replaced or added: it updates what nobody uses, and not what is used."""

    code = "BADAK-212"
    title = "the optimizer does not have all weights"

    def look(self, visit: "Visit") -> Iterator[Finding]:
        trained, names, reached = visit.trained, visit.names.parameters, visit.watch.reached
        outside = [p for key, p in reached.items() if key in names and key not in trained and p.requires_grad]
        orphans = [
            p for optimizer in visit.watch.optimizers.values() for p in optimizer._parameters()
            if id(p) not in names and id(p) not in reached
        ]  # fmt: skip
        inside = sum(1 for key in trained if key in names)
        order = {key: i for i, key in enumerate(reached)}  # as gradients came: what is nearest to the loss comes first
        nearest = min((order[key] for key in trained if key in order), default=len(order))
        behind = any(order[id(p)] < nearest for p in outside) and inside > 0
        if not outside or len(visit.steps) < 2 or not (orphans or inside >= len(outside) or behind):
            return
        step = visit.steps[0]
        more = f", and {len(orphans)} of its own are in no model" if orphans else ""
        yield self.found(
            step.place,
            f"{len(outside)} parameters get gradients and are in no optimizer ({visit.names.few(outside)}); "
            f"{type(step.optimizer).__name__} updates {inside} others{more}",
            "build the optimizer after the model is complete; or freeze them: requires_grad_(False)",
            missing=len(outside), orphans=len(orphans),
        )  # fmt: skip
