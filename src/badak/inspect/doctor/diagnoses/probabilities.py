from badak.core.errors import tr
from badak.inspect.doctor.diagnoses.diagnosis import Diagnosis, Findings, Visit


class ProbabilitiesForLogits(Diagnosis):
    """A loss that takes the softmax (or sigmoid) itself is given what has gone through one."""

    code = "BADAK-202"
    title = "probabilities in the place of logits"
    explains = ("BADAK-210",)
    made = {
        "cross_entropy": ("softmax", "sigmoid"), "cross_entropy_soft": ("softmax", "sigmoid"),
        "bce_with_logits": ("sigmoid", "softmax"),
    }  # fmt: skip

    def look(self, visit: Visit) -> Findings:
        said = set()
        twice = [pair for step in visit.rounds for pair in step.twice[:1]]
        if len(twice) >= 3:
            place, at, what = twice[0]
            said.add(place)
            yield self.found(
                place,
                tr("{} made at {}, in {} steps: the numbers are from 0 to 1, and no answer can be certain", what,
                   at or tr("a line of badak"), len(twice)),
                tr("leave out the first: give the loss, or Categorical(logits=...), the logits; probabilities are its probs"),
                steps=len(twice),
            )  # fmt: skip
        losses = [loss for step in visit.steps for loss in step.trained if loss.kind == "cross_entropy"]
        for place in dict.fromkeys(loss.place for loss in losses):
            own = [loss for loss in losses if loss.place == place]
            if len(own) >= 3 and all(loss.simplex for loss in own) and own[0].made_by not in self.made["cross_entropy"]:
                said.add(place)
                yield self.found(
                    place,
                    tr("cross_entropy is given numbers from 0 to 1 that sum to 1 in each row of {} batches, and takes the softmax "
                       "itself: the loss cannot come near 0", len(own)),
                    tr("leave out the {}: give the loss the logits", "softmax"),
                    low=own[0].low, high=own[0].high,
                )  # fmt: skip
        for step in visit.steps:
            for loss in step.trained:
                makers: tuple[str, ...] = self.made.get(loss.kind, ())
                if loss.made_by not in makers or loss.place in said:
                    continue
                maker = loss.made_by
                said.add(loss.place)
                yield self.found(
                    loss.place,
                    tr("{} is given what {} made at {}, values from {:.2g} to "
                       "{:.2g}, and takes the {} itself: the loss cannot come near 0", loss.kind, maker,
                       loss.made_at or tr("a line of badak"), loss.low, loss.high, makers[0]),
                    tr("leave out the {}: give the loss the logits", maker),
                    low=loss.low, high=loss.high,
                )  # fmt: skip
