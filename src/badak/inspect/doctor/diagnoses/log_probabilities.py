from badak.core.errors import tr
from badak.inspect.doctor.diagnoses.diagnosis import Diagnosis, Findings, Visit

TAKES = ("nll", "kl_div", "ctc_loss")  # logarithms of probabilities


class LogProbabilities(Diagnosis):
    """Logits and log-probabilities are taken for each other."""

    code = "BADAK-203"
    title = "log-probabilities and logits taken for each other"
    explains = ("BADAK-210",)

    def look(self, visit: Visit) -> Findings:
        said = set()
        for step in visit.steps:
            for loss in step.trained:
                if loss.place in said:
                    continue
                if loss.kind in ("cross_entropy", "bce_with_logits") and loss.made_by == "log_softmax":
                    at = loss.made_at or tr("a line of badak")
                    cause = tr("{} is given log-probabilities, made by log_softmax at {} (largest {:.2g}), and takes them for "
                               "logits", loss.kind, at, loss.high)  # fmt: skip
                    fix = tr("give it the logits, or use nll_loss for log-probabilities")
                elif loss.kind in TAKES and loss.made_by != "log_softmax" and loss.high > 1e-3 and loss.classes > 1:
                    name = loss.kind.removesuffix("_loss")
                    cause = tr("{}_loss takes log-probabilities, at most 0 each, and is given values up to {:.3g}", name, loss.high)
                    fix = tr("give it log_softmax of the logits, or use cross_entropy for logits")
                else:
                    continue
                said.add(loss.place)
                yield self.found(loss.place, cause, fix, high=loss.high)
