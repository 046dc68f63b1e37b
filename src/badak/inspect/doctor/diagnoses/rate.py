import numpy as np

from badak.core.errors import tr
from badak.inspect.doctor.diagnoses.diagnosis import Diagnosis, Findings, Visit


class RateTooHigh(Diagnosis):
    """Updates as large as the weights themselves, and a loss that rises: the steps jump over what they look for."""

    code = "BADAK-213"
    title = "the learning rate is too high"
    explains = ("BADAK-215", "BADAK-216", "BADAK-218", "BADAK-219", "BADAK-220")

    def look(self, visit: Visit) -> Findings:
        ratios = visit.update_ratios()
        losses = [step.loss for step in visit.steps if step.loss is not None]
        failed = visit.error is not None and visit.watch.broken is not None
        if not ratios or not losses or (len(losses) < 6 and not failed):
            return
        middle = float(np.median([r for each in ratios.values() for r in each]))
        began = float(np.median([each[0] for each in ratios.values()]))
        first, last = losses[0], float(np.median(losses[-5:]))
        rises = failed or not np.isfinite(losses).all() or last > first + max(0.1, 0.2 * abs(first))
        stays = rises or last > 0.98 * first > 0
        searched = any(back.closure for step in visit.steps for back in step.backs)  # it looks for the best step itself
        falls = not failed and bool((np.diff(losses) < 0).all())  # each step makes it smaller: small weights on their way
        falls |= searched and not rises
        if falls or not (middle > 1.0 or (rises and middle > 0.1) or (stays and began > 3.0)):
            return
        middle = max(middle, began) if middle <= 0.1 else middle
        worst = max(ratios, key=lambda key: np.median(ratios[key]))
        yield self.found(
            visit.steps[0].place,
            tr("an update changes a layer by {:.0%} of its weights (0.1 % is usual; {}: "
               "{:.0%}), and the loss goes from {:.3g} to {:.3g}", middle, visit.names.parameters.get(worst, "?"),
               np.median(ratios[worst]), first, last),
            tr("lr={:.1g}, and watch the loss", max(visit.steps[0].rates, default=0.0) / 100),
            ratio=middle, first=first, last=last,
        )  # fmt: skip


class RateTooLow(Diagnosis):
    """Updates that float32 hardly sees: nothing will be learnt in a lifetime."""

    code = "BADAK-214"
    title = "the learning rate is too low"

    def look(self, visit: Visit) -> Findings:
        ratios = visit.update_ratios()
        rates = [max(step.rates, default=0.0) for step in visit.steps]
        if len(visit.steps) < 8 or not ratios or not any(rates) or not visit.watch.reached:
            return
        largest = max(float(np.median(each)) for each in ratios.values())
        if rates[-1] > rates[-3]:
            largest *= 1000  # it may rise on
        if largest < 1e-6 and visit.largest_gradient() > 1e-7:
            yield self.found(
                visit.steps[0].place,
                tr("an update changes a layer by {:.1g} of its weights at most (0.001 is usual) with lr={:.3g}", largest,
                   max(rates)),
                f"lr={max(rates) * min(1e-3 / max(largest, 1e-12), 1e6):.1g}",
                ratio=largest, lr=max(rates),
            )  # fmt: skip
