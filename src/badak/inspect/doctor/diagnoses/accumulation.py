from badak.compat.torch.amp.grad_scaler import GradScaler
from badak.core.errors import tr
from badak.inspect.doctor.diagnoses.diagnosis import Diagnosis, Findings, Visit


def parts(visit: Visit) -> int:
    """How many backwards of one line each step has, but for what is left at the end of an epoch; 1 where that differs."""
    rounds = visit.rounds
    counts = [len(step.backs) for step in rounds[:-1] or rounds]
    most = max(counts, default=1)
    backs = [back for step in visit.steps for back in step.backs]
    alike = 4 * counts.count(most) >= 3 * len(counts) and len({back.place for back in backs}) == 1
    return most if alike and len(rounds) >= 3 and not any(back.closure for back in backs) else 1


class AccumulationScaled(Diagnosis):
    """Gradients of several parts of a batch are added, and the losses of the parts are not divided by their number, or twice."""

    code = "BADAK-224"
    title = "accumulated gradients are scaled wrongly"

    def look(self, visit: Visit) -> Findings:
        k = parts(visit)
        if k < 2:
            return
        sums: list[float] = []
        for step in (each for each in visit.rounds[:-1] if len(each.backs) == k):
            scales = [[scale for _, scale, mean in back.scales if mean] for back in step.backs]
            totals = [sum(map(abs, each)) for each in scales]  # of a mixture, whose shares differ from part to part
            alike = all(each == scales[0] for each in scales)
            if not scales[0] or not alike and max(totals) - min(totals) > 1e-4 * max(totals):
                return
            sums.append(k * (max(map(abs, scales[0])) if alike else totals[0]))  # of several terms the one of the largest weight
        scale = next((scaler.get_scale() for scaler in visit.alive if isinstance(scaler, GradScaler)), 1.0)
        sums = [each / scale for each in sums]
        total = sums[0] if sums else 0.0
        if all(abs(each - k) < 0.01 * k for each in sums) or all(abs(each - 1 / k) < 0.01 / k for each in sums):
            yield self.found(
                visit.steps[0].backs[0].place,
                tr("{} backward() for each step, its mean loss times {:.3g}: the gradient is {:.3g} times "
                   "that of the whole batch", k, total / k, total),
                f"(loss / {k}).backward()",
                parts=k, total=total,
            )  # fmt: skip


class AccumulationLost(Diagnosis):
    """Gradients are cleared between the parts of a batch: only the last one counts."""

    code = "BADAK-225"
    title = "accumulated gradients are thrown away"

    def look(self, visit: Visit) -> Findings:
        k = parts(visit)
        steps = [step for step in visit.rounds[1:-1] if len(step.backs) == k]
        if k < 2 or not steps:
            return
        lost = [sum(1 for back in step.backs if 2 * back.thrown_away >= step.gradients > 0) for step in steps]
        if all(each == k - 1 for each in lost):
            yield self.found(
                visit.steps[0].backs[0].place,
                tr("{} backward() for each step, and what {} of them made was cleared before a step had used it", k, k - 1),
                tr("zero_grad() once for each step, not once for each of its {} parts", k),
                parts=k, lost=k - 1,
            )  # fmt: skip
