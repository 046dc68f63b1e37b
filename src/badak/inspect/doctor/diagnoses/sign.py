from collections.abc import Iterator
from typing import TYPE_CHECKING

from badak.core.errors import tr
from badak.inspect.doctor.diagnoses.diagnosis import Diagnosis
from badak.inspect.doctor.report import Finding

if TYPE_CHECKING:
    from badak.inspect.doctor.session import Visit


class Maximised(Diagnosis):
    """backward() is called of a loss with its sign turned round, and the loss rises from step to step."""

    code = "BADAK-254"
    title = "the loss is maximised"
    explains = ("BADAK-213", "BADAK-219")

    def look(self, visit: "Visit") -> Iterator[Finding]:
        yield from self._divergence(visit)
        rounds = [step for step in visit.rounds if step.trained]
        if len(visit.watch.optimizers) != 1 or len(rounds) < 8:
            return
        places: dict[str, list[tuple[float, float]]] = {}
        for step in rounds:
            for loss in step.trained:
                if loss.scale and loss.value is not None:
                    places.setdefault(loss.place, []).append((loss.scale, loss.value))
        for place, several in places.items():
            values = [value for _, value in several]
            sizes, quarter = [abs(value) for value in values], len(values) // 4
            rises = quarter and min(sizes[-quarter:]) > max(sizes[:quarter])  # -log p falls without end, too
            if len(several) >= len(rounds) - 1 and all(scale * value < 0 for scale, value in several) and rises:
                yield self.found(
                    place,
                    tr("in {} of {} steps this loss is made smaller with the wrong sign: it goes from "
                       "{:.3g} to {:.3g}", len(several), len(several), values[0], values[-1]),
                    tr("loss.backward(), without the minus; optimizers go down"),
                    first=values[0], last=values[-1],
                )  # fmt: skip
                return

    def _divergence(self, visit: "Visit") -> Iterator[Finding]:
        """A divergence, which is 0 or more, is taken away from the loss."""
        pulled = [each for step in visit.rounds for each in step.divergences if each.pull]
        if len(pulled) >= 5 and all(each.pull < 0 for each in pulled):  # type: ignore[operator]
            yield self.found(
                pulled[0].place,
                tr("in all {} steps the divergence from the normal distribution is made larger, not smaller", len(pulled)),
                tr("kl = -0.5 * (1 + log_var - mean**2 - log_var.exp()).sum(), and loss = reconstruction + kl"),
                steps=len(pulled),
            )
