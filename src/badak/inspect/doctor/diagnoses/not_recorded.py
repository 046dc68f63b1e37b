from badak.core.errors import tr
from badak.inspect.doctor.diagnoses.diagnosis import Diagnosis, Findings, Visit
from badak.inspect.doctor.names import weights_of


class NotRecorded(Diagnosis):
    """The model is called under no_grad() in training: there is no graph for backward() to go through."""

    code = "BADAK-226"
    title = "the model is called under no_grad()"
    explains = ("BADAK-206", "BADAK-208", "BADAK-209", "BADAK-217")

    def look(self, visit: Visit) -> Findings:
        calls = [call for step in [*visit.steps, visit.watch.open] for call in step.calls]
        asked = visit.error is not None and "require grad" in str(visit.error)
        if asked and visit.watch.open.calls:  # what came before may have been another training
            calls = visit.watch.open.calls
        if not calls or any(call.grad for call in calls) or any(step.gradients for step in visit.steps):  # written by the program
            return
        own = {id(p): p for call in calls for p in weights_of(call.module) if p.requires_grad}
        if not asked and 4 * sum(1 for key in own if key in visit.watch.reached) >= len(
            own
        ):  # a weight of the loss may be reached all the same
            return
        if asked or len(visit.steps) >= 2:
            yield self.found(
                calls[0].place,
                tr("all {} calls of {} were made under no_grad(): nothing got a gradient", len(calls),
                   type(calls[0].module).__name__),
                tr("call the model outside of no_grad() in training"),
                calls=len(calls),
            )  # fmt: skip
