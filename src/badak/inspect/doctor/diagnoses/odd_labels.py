from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from badak.inspect.doctor.diagnoses.diagnosis import Diagnosis
from badak.inspect.doctor.facts import Loss
from badak.inspect.doctor.report import Finding

if TYPE_CHECKING:
    from badak.inspect.doctor.session import Visit

LEAST, FAR = 3, 50.0  # steps; the size of labels that is far from what a model starts with


class OddLabels(Diagnosis):
    """Labels, or the weights of classes, that a loss cannot have been meant for."""

    code = "BADAK-260"
    title = "labels that do not fit the loss"

    def look(self, visit: "Visit") -> Iterator[Finding]:
        losses = [loss for step in visit.steps for loss in step.trained]
        models = {id(call.module) for step in visit.steps for call in step.calls if call.grad}
        binary = [loss for loss in losses if loss.kind == "bce_with_logits" and loss.labels is not None]
        if len(models) == 1 and (found := self.one_label(binary)):  # a generator's labels are all ones
            yield found
            return
        for place in dict.fromkeys(loss.place for loss in losses):
            own = [loss for loss in losses if loss.place == place and loss.labels is not None]
            if len(own) >= LEAST:
                for judge in (self.not_one, self.favoured, self.far_off):
                    if found := judge(place, own):
                        yield found
                        return

    def not_one(self, place: str, losses: list[Loss]) -> Finding | None:
        """Probabilities of classes that do not sum to 1: several classes hold at once."""
        sums = [loss.labels.sum(axis=-1) for loss in losses if loss.kind == "cross_entropy_soft" and loss.labels.ndim > 1]  # type: ignore[union-attr]
        if not sums or any(np.abs(each - 1).max() < 0.02 for each in sums):
            return None
        low, high = min(float(each.min()) for each in sums), max(float(each.max()) for each in sums)
        return self.found(
            place,
            f"cross_entropy is given labels of several classes that sum to {low:.2g} to {high:.2g} in a row, not to 1",
            "binary_cross_entropy_with_logits, where several classes may hold at once; labels / labels.sum(-1, keepdim=True) else",
            low=low, high=high,
        )  # fmt: skip

    def favoured(self, place: str, losses: list[Loss]) -> Finding | None:
        """Weights that are largest for what is most frequent."""
        weights = next((loss.weights for loss in losses if loss.weights is not None), None)
        if weights is None:
            return None
        labels = np.concatenate([loss.labels.ravel() for loss in losses])  # type: ignore[union-attr]
        if losses[0].kind == "bce_with_logits":
            share = float((labels > 0.5).mean())
            wanted = (1 - share) / share if 0 < share < 1 else 1.0
            if weights.size != 1 or not (wanted > 3 and weights.item() < 0.5 or wanted < 1 / 3 and weights.item() > 2):
                return None
            said, fix = (
                f"pos_weight is {weights.item():.2g}, and {share:.0%} of the labels are 1",
                f"pos_weight = negatives / positives, about {wanted:.2g}",
            )
        else:
            counts = np.bincount(labels[(labels >= 0) & (labels < weights.size)].astype(int), minlength=weights.size)
            known = counts > 0
            if known.sum() < 2 or not (weights[known] > 0).all() or counts[known].max() < 3 * counts[known].min():
                return None
            x, y = np.log(counts[known]), np.log(weights[known])
            slope = float(((x - x.mean()) * (y - y.mean())).sum() / np.square(x - x.mean()).sum())
            if slope < 0.4:
                return None
            most, least = weights[counts.argmax()], weights[np.where(known, counts, counts.max() + 1).argmin()]
            said = f"the most frequent of {weights.size} classes has weight {most:.2g}, the rarest {least:.2g}"
            fix = "the rarer, the larger: weight = 1 / counts"
        return self.found(place, f"the loss is weighted towards what is frequent: {said}", fix)

    def one_label(self, losses: list[Loss]) -> Finding | None:
        """All labels of zeros and ones, wherever they are asked for, are one of both."""
        if len(losses) < 5:
            return None
        labels = np.concatenate([loss.labels.ravel() for loss in losses])  # type: ignore[union-attr]
        first, count = labels[0], labels.size
        if count < 64 or (labels != first).any():
            return None
        return self.found(
            losses[0].place,
            f"all {count:,} labels of {len(losses)} batches are {float(first):.3g}: any answer that is always the same is right",
            "look at what makes the labels: a comparison, a cast to integers, a column of another name",
            labels=count,
        )

    def far_off(self, place: str, losses: list[Loss]) -> Finding | None:
        """Numbers to be met that lie far outside of what the model gives, then as at first."""
        known = [loss for loss in losses if loss.kind == "mse"]
        if len(known) < 8 or known[0].labels.dtype.kind != "f":  # type: ignore[union-attr]
            return None
        labels = np.concatenate([loss.labels.ravel() for loss in known])  # type: ignore[union-attr]
        size = float(np.sqrt(np.square(labels.astype(np.float64)).mean()))
        reached = max(loss.size for loss in known)
        if not np.isfinite(size) or size < FAR or reached > 0.1 * size:
            return None
        return self.found(
            place,
            f"the labels are of size {size:.3g}, and the model's answers of size {reached:.2g} at most in {len(known)} steps: it "
            "learns little more than their mean, slowly",
            "(y - y.mean()) / y.std() of the training data, and back for what is shown",
            size=size, reached=reached,
        )  # fmt: skip
