from badak.core.errors import tr
from badak.inspect.doctor.diagnoses.diagnosis import Diagnosis, Findings, Visit

MOST = 0.9  # of the numbers


class DroppedAway(Diagnosis):
    """A layer of dropout leaves next to nothing of what goes through it: p is the share that is dropped, not the one that stays."""

    code = "BADAK-255"
    title = "dropout drops nearly everything"

    def look(self, visit: Visit) -> Findings:
        for top in visit.names.tops:
            for module in top.modules():
                p = getattr(module, "p", None)
                if "Dropout" in type(module).__name__ and isinstance(p, float) and p >= MOST and visit.learns(top):
                    yield self.found(
                        visit.names.of(module),
                        tr("p={}: {:.0%} of what goes through it is dropped in training", p, p),
                        tr("nn.Dropout({:.2g}): p is the share that is dropped", max(0.1, 1 - p)),
                        p=p,
                    )
                    return
