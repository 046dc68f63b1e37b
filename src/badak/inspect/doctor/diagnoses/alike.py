import numpy as np

from badak.core.errors import tr
from badak.inspect.doctor.diagnoses.diagnosis import Diagnosis, Findings, Visit
from badak.nn.conv import _ConvNd
from badak.nn.linear import Linear

LEAST = 3


class AllAlike(Diagnosis):
    """Answers, or units, that are equal after steps of training: they got the same gradient, and will be equal for ever."""

    code = "BADAK-261"
    title = "what should differ is all alike"
    explains = ("BADAK-217",)

    def look(self, visit: Visit) -> Findings:
        lone = [[each for each in step.shaped if each.kind == "lone"] for step in visit.rounds[:3]]
        if len(lone) == 3 and all(lone):
            yield self.found(
                lone[0][0].place,
                tr("one number, the sum over all rows and columns, is added to each of {}: it is the same for all rows",
                   lone[0][0].b),
                tr("the sum along one axis: (a * b).sum(dim=1)"),
            )  # fmt: skip
            return
        still = visit.with_zero_gradient()  # a part is multiplied by 0: the answers are alike for that
        for place in dict.fromkeys(loss.place for step in visit.steps for loss in step.trained):
            own = [loss for step in visit.steps for loss in step.trained if loss.place == place and loss.classes > 1]
            every = [loss for step in visit.steps for loss in step.trained if loss.place == place and loss.labels is not None]
            if not still and len(every) >= LEAST + 2 and all(loss.one_answer and not loss.one_target for loss in every):
                yield self.found(
                    place,
                    tr(
                        "in all {} steps the model gives all {} rows one answer, and their labels differ", len(every), every[0].rows
                    ),
                    tr("look for a mean over the rows, an expand() or an index that takes one of them for all"),
                    steps=len(every),
                )
                return
            if len(own) >= LEAST and all(loss.level for loss in own):
                yield self.found(
                    place,
                    tr("in all {} steps the {} numbers that the model gives for a row are equal", len(own), own[0].classes),
                    tr("the last layer has one output for each class or label, and starts with random weights: no expand()"),
                    steps=len(own),
                )
                return
        for top in visit.names.tops:
            for module in top.modules():
                w = getattr(module, "weight", None)
                if not isinstance(module, Linear | _ConvNd) or w is None or id(w) not in visit.watch.reached:
                    continue
                flat = w._array.reshape(len(w._array), -1)
                alike = min(flat.shape) > 1 and np.any(flat) and (flat == flat[:1]).all()
                if alike and len(visit.steps) >= LEAST and id(w) in visit.trained:
                    yield self.found(
                        "",
                        tr("after {} steps all {} units of {} hold the same numbers: together they are worth one", len(visit.steps),
                           len(flat), visit.names.of(module)),
                        tr("draw the weights at random: nn.init.xavier_uniform_, kaiming_normal_"),
                        units=len(flat),
                    )  # fmt: skip
                    return
