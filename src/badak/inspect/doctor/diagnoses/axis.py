from badak.core.errors import tr
from badak.inspect.doctor.diagnoses.diagnosis import Diagnosis, Findings, Visit


class WrongAxis(Diagnosis):
    """A softmax over queries instead of keys, or over the rows of a batch instead of the classes."""

    code = "BADAK-230"
    title = "softmax over the wrong axis"
    explains: tuple[str, ...] = ("BADAK-203", "BADAK-210", "BADAK-220", "BADAK-233")

    def look(self, visit: Visit) -> Findings:
        yield from self.normed(visit)
        yield from self.told(visit, "rows")
        turned = [step.turned for step in visit.rounds[:3]]
        if len(turned) >= 2 and all(turned):
            seen = turned[0][0]
            if seen.classes:
                yield self.found(
                    seen.place,
                    tr("softmax(dim={}) of {}, whose classes lie along another axis: the probabilities of one of them "
                       "sum to {:.2g} to {:.2g}, not to 1", seen.dim, seen.shape, seen.low, seen.high),
                    tr("softmax over the axis of the classes: dim=-1, or dim=1 of pictures"),
                    dim=seen.dim, low=seen.low, high=seen.high,
                )  # fmt: skip
                return
            yield self.found(
                seen.place,
                tr("softmax(dim={}) of weights {}, which then multiply values: a row of weights sums to "
                   "{:.2g} to {:.2g}, not to 1", seen.dim, seen.shape, seen.low, seen.high),
                tr("softmax(dim=-1): over the keys, the axis that the product with the values sums over"),
                dim=seen.dim, low=seen.low, high=seen.high,
            )  # fmt: skip
        for place in dict.fromkeys(loss.place for step in visit.steps for loss in step.trained):
            several = [loss.label_mass for step in visit.steps for loss in step.trained if loss.place == place and loss.label_mass]
            if len(several) >= 3 and all(abs(each - 1) > 0.02 for both in several for each in both):
                yield self.found(
                    place,
                    tr("the labels of kl_div are probabilities that sum to {:.2g} to {:.2g} in a row, not "
                       "to 1", several[0][0], several[0][1]),
                    tr("dim=-1, the axis of the classes; dim=0 is the batch"),
                    low=several[0][0], high=several[0][1],
                )  # fmt: skip
                return
        for place in dict.fromkeys(loss.place for step in visit.steps for loss in step.trained):
            losses = [loss for step in visit.steps for loss in step.trained if loss.place == place and loss.mass is not None]
            off = [sum(abs(each - 1) > 0.02 for each in loss.mass or ()) for loss in losses]
            if len(losses) >= 2 and all(off) and 2 * sum(each == 2 for each in off) >= len(off):
                (low, high), maker, where = (
                    losses[0].mass or (0.0, 0.0),
                    losses[0].made_by,
                    losses[0].made_at or tr("a line of badak"),
                )
                if losses[0].kind == "cross_entropy":  # which takes none, whatever they sum to
                    self.explains = tuple(code for code in self.explains if code != "BADAK-203")
                yield self.found(
                    place,
                    tr("the probabilities that {} made at {} sum to {:.2g} to {:.2g} "
                       "over the {} classes of a row, not to 1", maker, where, low, high, losses[0].classes),
                    tr("dim=-1, the axis of the classes; dim=0 is the batch"),
                    low=low, high=high,
                )  # fmt: skip

    def normed(self, visit: Visit) -> Findings:
        """Rows that were to have length 1 before they are compared, and the columns have it."""
        seen = [found for step in visit.rounds if (found := [each for each in step.shaped if each.kind == "normed"])]
        if len(seen) >= 3 and len(seen) >= 0.8 * len(visit.rounds):
            first = seen[0][0]
            yield self.found(
                first.place,
                tr("{} is normalised along axis {}, and the product that follows sums over the other one: what is "
                   "compared has no length of 1, and depends on what else is in the batch", first.a, first.axis),
                tr("F.normalize(x, dim=-1): along the axis of the features"),
                axis=first.axis,
            )  # fmt: skip
