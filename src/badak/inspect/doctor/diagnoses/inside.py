import numpy as np

from badak.core.errors import tr
from badak.inspect.doctor.diagnoses.diagnosis import Diagnosis, Findings, Visit
from badak.inspect.doctor.grouping import grouped


class DeadUnits(Diagnosis):
    """Units of a ReLU that are 0 for every row of every batch: no gradient goes through them, so they stay so."""

    code = "BADAK-215"
    title = "dead ReLU"
    explains = ("BADAK-217", "BADAK-218", "BADAK-261")

    def look(self, visit: Visit) -> Findings:
        by = grouped(
            ((id(seen.module), seen.place, len(seen.alive)), seen)
            for step in [*visit.steps, visit.watch.open]
            for seen in step.rectified
        )
        for several in by.values():
            alive = np.logical_or.reduce([seen.alive for seen in several])
            dead, rows = int((~alive).sum()), sum(seen.rows for seen in several)
            if len(several) < 2 or rows < 32 or dead < 0.9 * len(alive):
                continue
            yield self.found(
                several[0].place,
                tr("{} of {} units of a ReLU are 0 in all {:,} rows of {} batches"
                   "{}", dead, len(alive), rows, len(several), _where(visit.names.of(several[0].module))),
                tr("a smaller learning rate, biases that start at 0, a norm before it, or GELU"),
                dead=dead, units=len(alive), rows=rows,
            )  # fmt: skip


class SaturatedAttention(Diagnosis):
    """From the start each query looks at one key alone: the scores are too large, softmax lets no gradient through."""

    code = "BADAK-216"
    title = "saturated softmax"
    explains = ("BADAK-218",)

    def look(self, visit: Visit) -> Findings:
        by = grouped(((id(seen.module), seen.place), seen.sharp) for step in visit.steps[:3] for seen in step.attended)
        sharp = {key: values for key, values in by.items() if len(values) >= 3 and min(values) >= 0.9}
        if sharp:
            (_, place), values = next(iter(sharp.items()))
            yield self.found(
                place,
                tr("in the first steps {:.0%} of the queries give one key 99 % ({} of {} attentions)", min(values), len(sharp),
                   len(by)),
                tr("scores / D ** 0.5, where D is the size of a head; smaller weights in the maps of queries and keys"),
                share=min(values),
            )  # fmt: skip


def _where(name: str) -> str:
    return f" (in {name})" if name else ""
