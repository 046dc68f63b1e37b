from collections.abc import Iterator
from typing import TYPE_CHECKING

from badak.doctor.checkup import Finding
from badak.doctor.diagnoses.diagnosis import Diagnosis

if TYPE_CHECKING:
    from badak.doctor.visit import Visit


class NeverLearns(Diagnosis):
    """A part that is used and in the optimizer, and whose gradient is 0, or whose loss is never differentiated."""

    code = "BADAK-217"
    title = "a part that never learns"

    def look(self, visit: "Visit") -> Iterator[Finding]:
        still = visit.with_zero_gradient()
        if still:
            yield self.found(
                visit.steps[0].place,
                f"the gradients of {len(still)} parameters are exactly 0 whenever they were measured ({visit.names.few(still)})",
                "look at what stands between it and the loss: a factor of 0, a mask that hides all, a unit that is dead",
                parameters=len(still),
            )
        losses = {loss.place: [] for step in visit.steps for loss in step.trained}  # type: ignore[var-annotated]
        for step in visit.steps:
            for loss in step.trained:
                losses[loss.place].append(loss.scale)
        lost = list(visit.without_gradient().values())
        idle = [place for place, scales in losses.items() if len(scales) >= 3 and not any(scales)]
        if lost and idle and len(idle) < len(losses):
            yield self.found(
                idle[0],
                f"the loss is computed and never differentiated: {len(lost)} parameters got no gradient in {len(visit.steps)} "
                f"steps ({visit.names.few(lost)})",
                "add it to the loss that backward() is called of",
                parameters=len(lost),
            )


class Vanishing(Diagnosis):
    """From layer to layer less comes back, until the first ones get nothing that float32 could tell from 0."""

    code = "BADAK-218"
    title = "vanishing gradients"
    least = 1e-7  # of the largest

    def look(self, visit: "Visit") -> Iterator[Finding]:
        sizes = visit.relative_gradients()
        if len(sizes) < 4:
            return
        high, low = max(sizes, key=lambda key: sizes[key]), min(sizes, key=lambda key: sizes[key])
        if 0 < sizes[low] < self.least * sizes[high]:
            names = visit.names.parameters
            yield self.found(
                visit.steps[0].place,
                f"the gradient of {names.get(low, '?')} is {sizes[low]:.1e} of its weights, that of {names.get(high, '?')} "
                f"{sizes[high]:.1e}",
                "residual connections, a norm in each layer, ReLU or GELU in the place of sigmoid and tanh, other initial weights",
                least=sizes[low], most=sizes[high],
            )  # fmt: skip


class Exploding(Diagnosis):
    """From layer to layer more comes back, until one update destroys what there was."""

    code = "BADAK-219"
    title = "exploding gradients"
    explains = ("BADAK-210", "BADAK-213", "BADAK-220")
    most = 1e5  # times the weights

    def look(self, visit: "Visit") -> Iterator[Finding]:
        sizes = visit.relative_gradients(first=True)
        means = all(loss.mean for step in visit.steps for loss in step.trained)
        if not sizes or not means:
            return
        high, low = max(sizes, key=lambda key: sizes[key]), min(sizes, key=lambda key: sizes[key])
        if sizes[high] > self.most:
            names = visit.names.parameters
            yield self.found(
                visit.steps[0].place,
                f"the gradient of {names.get(high, '?')} is {sizes[high]:.1e} times its weights, that of {names.get(low, '?')} "
                f"{sizes[low]:.1e}",
                "smaller initial weights or a norm in each layer; clip_grad_norm_(model.parameters(), 1.0) keeps the step small",
                least=sizes[low], most=sizes[high],
            )  # fmt: skip
