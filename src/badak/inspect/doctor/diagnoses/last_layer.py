from typing import ClassVar

import numpy as np

from badak.core.errors import tr
from badak.inspect.doctor.diagnoses.diagnosis import Diagnosis, Findings, Visit

NUMBERS = ("mse", "difference")  # losses of answers that are numbers


class BehindLogits(Diagnosis):
    """A layer stands between the logits and the loss: what is below 0 is lost, or the answers are dropped at random."""

    code = "BADAK-248"
    title = "a layer behind the logits"
    explains = ("BADAK-210",)
    takes = {
        "relu": "no logit can be below 0", "gelu": "hardly a logit can be below 0", "silu": "hardly a logit can be below 0",
        "tanh": "all logits are between -1 and 1", "dropout": "logits are set to 0 at random",
        "layer_norm": "the logits of a row have mean 0 and spread 1, as sure as they may be",
    }  # fmt: skip
    reach: ClassVar[dict[str, tuple[float, float]]] = {"relu": (0.0, np.inf), "tanh": (-1.0, 1.0), "sigmoid": (0.0, 1.0)}

    def look(self, visit: Visit) -> Findings:
        said = set()
        yield from self.out_of_reach(visit)
        yield from self.not_like_the_data(visit)
        yield from self.exactly_0(visit)
        for step in visit.steps:
            for loss in step.trained:
                maker, at = (loss.below_by, loss.below_at) if loss.made_by == "log_softmax" else (loss.made_by, loss.made_at)
                known = loss.kind in ("cross_entropy", "bce_with_logits") or (
                    loss.kind in ("nll", "picked") and loss.made_by == "log_softmax"
                )
                several = loss.classes > 1 or loss.kind == "bce_with_logits"
                if known and several and maker in self.takes and loss.place not in said:
                    said.add(loss.place)
                    yield self.found(
                        loss.place,
                        tr("{} is given what {} made at {}: {}", loss.kind, maker, at or tr("a line of badak"), self.takes[maker]),
                        tr("leave out the {} behind the last layer", maker),
                    )

    def out_of_reach(self, visit: Visit) -> Findings:
        """Numbers are asked for that the last layer cannot give, or that are set to 0 at random."""
        losses = [loss for step in visit.steps for loss in step.trained if loss.kind in NUMBERS and loss.labels is not None]
        for place in dict.fromkeys(loss.place for loss in losses):
            own = [loss for loss in losses if loss.place == place]
            maker = own[0].made_by
            if len(own) < 3 or any(loss.made_by != maker for loss in own):
                continue
            low, high = self.reach.get(maker, (-np.inf, np.inf))
            labels = np.concatenate([loss.labels.ravel() for loss in own])  # type: ignore[union-attr]
            far = min(0.05, 0.05 * float(labels.std()))
            share = float(((labels < low - far) | (labels > high + far)).mean())
            at = own[0].made_at or tr("a line of badak")
            if maker == "dropout":
                what, fix = (
                    tr("{} is given what dropout made at {}: answers are set to 0 at random", own[0].kind, at),
                    tr("leave out the dropout behind the last layer"),
                )
            elif share > 0.1:
                what = tr("{:.0%} of the labels, from {:.3g} to {:.3g}, are out of reach of what {} gives at {}", share,
                          labels.min(), labels.max(), maker, at)  # fmt: skip
                fix = tr("leave out the {} behind the last layer, or scale the labels to what it gives", maker)
            else:
                continue
            yield self.found(place, what, fix, share=share)
            return

    def not_like_the_data(self, visit: Visit) -> Findings:
        """A critic is given data that the last layer of what imitates it cannot give."""
        for key, (maker, at) in visit.watch.heads.made.items():
            data = [x.values.ravel() for x in visit.watch.given.trained.get((key, 0), []) if x.values.dtype.kind == "f"]
            low, high = self.reach.get(maker, (-np.inf, np.inf))
            x = np.concatenate(data) if len(data) >= 3 else np.zeros(0)
            share = float(((x < low - 0.05) | (x > high + 0.05)).mean()) if len(x) else 0.0
            if maker == "tanh" and len(x) and x.min() > -0.01 and 0.5 < x.max() <= 1:
                yield self.found(
                    at,
                    tr("all numbers of the data lie from {:.3g} to {:.3g}, in one half of what the {} that makes what is like it "
                       "gives", x.min(), x.max(), maker),
                    tr("x * 2 - 1, as tanh gives -1 to 1; or sigmoid in its place"),
                )  # fmt: skip
                return
            if share > 0.1:
                yield self.found(
                    at,
                    tr("{:.0%} of the numbers of the data, from {:.3g} to {:.3g}, are out of reach of the {} that makes what is "
                       "like it", share, x.min(), x.max(), maker),
                    tr("another last layer, or data that is scaled to what it gives: tanh for -1 to 1, sigmoid for 0 to 1"),
                    share=share,
                )  # fmt: skip
                return

    def exactly_0(self, visit: Visit) -> Findings:
        """Probabilities are made by a ReLU or a clamp: what is 0 has no logarithm, and gets no gradient back."""
        losses = [loss for step in visit.steps for loss in step.trained if loss.kind == "bce" and loss.high > 0]
        wrong = [loss for loss in losses if loss.made_by in ("relu", "clamp") and loss.low == 0]
        if len(wrong) >= 3 and len(wrong) == len(losses):
            yield self.found(
                wrong[0].place,
                tr("{} is given what {} made at {}: {}", wrong[0].kind, wrong[0].made_by, wrong[0].made_at or tr("a line of badak"),
                   tr("probabilities of exactly 0, which get no gradient")),
                tr("sigmoid, or the logits and binary_cross_entropy_with_logits"),
            )  # fmt: skip
