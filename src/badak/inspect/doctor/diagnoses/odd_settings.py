from typing import Any

from badak.core.errors import tr
from badak.inspect.doctor.diagnoses.diagnosis import Diagnosis, Findings, Visit


class OddSettings(Diagnosis):
    """Two settings stand in each other's place, or one is so large that it leaves hardly anything to learn."""

    code = "BADAK-268"
    title = "settings in each other's place"

    def look(self, visit: Visit) -> Findings:
        yield from self.told(visit, "odd")
        for optimizer in visit.watch.optimizers.values():
            kind = type(optimizer).__name__
            for betas in (group.get("betas") for group in optimizer.param_groups):
                if type(betas) is tuple and len(betas) == 2 and betas[0] > betas[1]:
                    yield self.found(
                        "",
                        tr("{} has betas {}: its mean goes over more steps than its mean of squares", kind, betas),
                        f"betas={betas[::-1]}",
                    )
                    return
            decayed, free = ([g for g in optimizer.param_groups if bool(g.get("weight_decay")) is how] for how in (True, False))
            if only_lines(decayed) and any(p.ndim > 1 for g in free for p in g["params"]):
                yield self.found(
                    "",
                    tr("{} decays {} biases and scales, and none of {} matrices", kind, sum(len(g["params"]) for g in decayed),
                       sum(p.ndim > 1 for g in free for p in g["params"])),
                    tr("weight_decay for what has two axes and more, 0 for biases and norms"),
                )  # fmt: skip
                return


def only_lines(groups: list[dict[str, Any]]) -> bool:
    """Whether groups hold parameters of one axis, several, and nothing else."""
    every = [p for group in groups for p in group["params"]]
    return len(every) > 1 and all(p.ndim < 2 for p in every)
