from math import log

from badak.core.errors import tr
from badak.inspect.doctor.diagnoses.diagnosis import Diagnosis, Findings, Visit

COLD = 20.0  # how far cosines spread that are multiplied by more than any temperature asks for


class BadStart(Diagnosis):
    """A model that has learnt nothing should know that: its loss is ln V. Far above it guesses with confidence."""

    code = "BADAK-210"
    title = "the loss starts far above ln V"
    margin = 1.5  # nats above ln V, and times ln V

    def look(self, visit: Visit) -> Findings:
        if not visit.steps:
            return
        said = set()
        for loss in visit.steps[0].trained:
            if loss.nats is None or loss.classes < 2 or loss.made_by in ("softmax", "sigmoid") or loss.place in said:
                continue
            if loss.kind == "nll" and loss.made_by != "log_softmax":
                continue
            if loss.cosines and loss.spread < COLD:
                continue
            even = log(loss.classes)
            if loss.nats > max(self.margin + even, self.margin * even) and loss.spread > 2:
                said.add(loss.place)
                yield self.found(
                    loss.place,
                    tr("the first loss is {:.3g} nats; knowing nothing costs ln {} = {:.3g}. The logits of "
                       "a row spread by {:.3g} before anything was learnt", loss.nats, loss.classes, even, loss.spread),
                    tr("smaller weights in the last layer, e.g. nn.init.normal_(head.weight, std=0.02), or a norm before it"),
                    nats=loss.nats, even=even, spread=loss.spread,
                )  # fmt: skip
