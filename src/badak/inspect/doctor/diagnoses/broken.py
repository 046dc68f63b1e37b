from badak.core.errors import tr
from badak.inspect.doctor.diagnoses.diagnosis import Diagnosis, Findings, Visit
from badak.inspect.doctor.names import name_of


class FirstNaN(Diagnosis):
    """A loss or a gradient is no number any more: the operation that made the first NaN or Inf out of finite numbers."""

    code = "BADAK-220"
    title = "NaN or Inf"
    explains = ("BADAK-214", "BADAK-215", "BADAK-216", "BADAK-217", "BADAK-218", "BADAK-219")

    def look(self, visit: Visit) -> Findings:
        watch = visit.watch
        if visit.error is not None and watch.broken and watch.broken[3] == watch.open.number and not watch.broken_step:
            operation, place, kind, number = watch.broken
            yield self.found(
                place,
                tr("step {}: {} made the first {} out of finite numbers; then the program failed: {}", number, operation, kind,
                   name_of(visit.error)[:120]),
                tr("look at what goes in there: a logarithm or a root of 0, a division by 0, a softmax of -inf alone, an overflow"),
                step=number,
            )  # fmt: skip
            return
        if not watch.broken_step:
            return
        if watch.broken is None:
            yield self.found(
                visit.steps[min(watch.broken_step, len(visit.steps)) - 1].place if visit.steps else "",
                tr("step {}: the loss or a gradient is not finite, though every operation was given finite numbers",
                   watch.broken_step),
                tr("badak.autograd.set_detect_anomaly(True) stops where it happens"),
                step=watch.broken_step,
            )  # fmt: skip
            return
        operation, place, kind, number = watch.broken
        yield self.found(
            place,
            tr("step {}: {} made the first {} out of finite numbers; the loss or a gradient of step {} is not finite", number,
               operation, kind, watch.broken_step),
            tr("look at what goes in there: a logarithm or a root of 0, a division by 0, a softmax of -inf alone, an overflow"),
            step=number,
        )  # fmt: skip
