from badak.core.errors import tr
from badak.inspect.doctor.diagnoses.diagnosis import Diagnosis, Findings, Visit
from badak.inspect.doctor.diagnoses.labels import is_causal, laid_out, next_token, sees_ahead
from badak.inspect.doctor.facts import Loss, Step


class FutureSeen(Diagnosis):
    """A model is asked for the next token, and its attention shows it that token."""

    code = "BADAK-247"
    title = "the model sees the token that it is asked for"

    def look(self, visit: Visit) -> Findings:
        found = [*self.unhidden(visit)]  # an attention may be one to another text, as long as this one
        yield from found if found and sees_ahead(visit) is not False else ()

    def unhidden(self, visit: Visit) -> Findings:
        """No attention hides what comes after a query."""
        steps = [step for step in visit.rounds[:3] if step.attended and step.trained]
        if len(steps) > 1 and all(is_causal(step) is False and asks_by_table(step) for step in steps):
            yield self.found(
                steps[0].trained[0].place,
                tr("in {} of {} batches what answers are compared with is looked up for the next token of the text, and none of "
                   "{} attentions hides what comes after a query", len(steps), len(steps), len(steps[0].attended)),
                tr("a causal mask: is_causal=True, or generate_square_subsequent_mask(T) as mask"),
                attentions=len(steps[0].attended),
            )  # fmt: skip
            return
        for place in sorted({loss.place for step in steps for loss in step.trained}):
            pairs = [(step, loss) for step in steps for loss in step.trained if loss.place == place]
            if len(pairs) < 2 or any(is_causal(step) is not False for step, _ in pairs):
                continue
            if number := _seen_steps(visit, place):
                yield self.found(
                    place,
                    tr("in {} of {} batches the labels are the next steps of what the model is given, and none of "
                       "{} attentions hides what comes after a query", number, number, len(steps[0].attended)),
                    tr("a causal mask: is_causal=True, or generate_square_subsequent_mask(T) as mask"),
                    attentions=len(steps[0].attended),
                )  # fmt: skip
                return
            if all(_asks_on(step, loss) for step, loss in pairs):
                yield self.found(
                    place,
                    tr("in {} of {} batches every label is the next token, and none of "
                       "{} attentions hides what comes after a query", len(pairs), len(pairs), len(steps[0].attended)),
                    tr("a causal mask: is_causal=True, or generate_square_subsequent_mask(T) as mask"),
                    attentions=len(steps[0].attended),
                )  # fmt: skip
                return


def asks_by_table(step: Step) -> bool:
    """Whether no loss has labels, and a table that was asked for a text is asked for the next token of each of its places, too."""
    asked = [lookup for lookup in step.lookups if lookup.ids.ndim == 2 and lookup.ids.size]
    if any(loss.target is not None for loss in step.trained) or len(asked) < 2:
        return False
    text = asked[0].ids
    square = any(a.size == (text.shape[1],) * 2 for a in step.attended)
    others = [each.ids for each in asked[1:] if each.rows == asked[0].rows and each.ids.shape == text.shape]
    return square and any(next_token(text, ids, 0) for ids in others)


def _seen_steps(visit: Visit, place: str) -> int:
    """How often labels were the next steps of a series that attentions see whole."""
    known, steps = visit.watch.given.next.get(place, []), [step for step in visit.rounds[:3] if step.attended]
    square = all(a.size[0] == a.size[1] > 2 for step in steps for a in step.attended)
    return len(known) if len(known) >= 3 and all(known) and steps and square else 0


def _asks_on(step: Step, loss: Loss) -> bool:
    """Whether the labels are the next tokens of a text that some attention looks at from itself."""
    return any(
        next_token(text, target, loss.ignored) and any(size == (text.shape[1],) * 2 for size in (a.size for a in step.attended))
        for lookup in step.lookups
        if loss.target is not None and lookup.ids.ndim == 2 and lookup.ids.size
        for text, target, _ in laid_out(lookup.ids, loss.target)
    )
