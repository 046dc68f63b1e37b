import re
from typing import Any

from badak.core.errors import tr
from badak.inspect.doctor.diagnoses.diagnosis import Diagnosis, Findings, Visit


class SameModule(Diagnosis):
    """[layer] * n is n times one layer: a stack whose layers are all the same one."""

    code = "BADAK-251"
    title = "one layer stands several times in a stack"

    def look(self, visit: Visit) -> Findings:
        yield from self.told(visit, "norm")
        for top in visit.names.tops:
            for module in top.modules():
                inside = [m for m in module._modules.values() if m is not None]
                kind = type(module).__name__
                twice = [m for m in inside if sum(1 for each in inside if each is m) > 1 and any(True for _ in m.parameters())]
                if kind in ("ModuleList", "Sequential") and twice and visit.learns(twice[0]):
                    yield self.found(
                        "",
                        tr("{} is a {} of {}, and {} of them are one and the same {} with {:,} parameters", visit.names.of(module),
                           kind, len(inside), len(twice), type(twice[0]).__name__,
                           sum(p.numel() for p in twice[0].parameters())),
                        tr("[Layer() for _ in range(n)], not [Layer()] * n; copy.deepcopy(layer) for each"),
                        times=len(twice),
                    )  # fmt: skip
                    return


class BatchOfOne(Diagnosis):
    """Batch norm takes the mean of the batch away: with one row it is the row that is taken away."""

    code = "BADAK-252"
    title = "batch norm over one row"

    def look(self, visit: Visit) -> Findings:
        calls = [call for step in visit.rounds for call in step.calls if call.grad and call.training and call.content]
        norms = [call for call in calls if any("BatchNorm" in type(m).__name__ for m in call.module.modules())]
        if len(norms) >= 5 and all(call.content[0][1][:1] == (1,) and len(call.content[0][1]) > 1 for call in norms):
            yield self.found(
                norms[0].place,
                tr("all {} batches that {} was given have one row, and it has batch norm", len(norms),
                   type(norms[0].module).__name__),
                tr("a larger batch; or GroupNorm, LayerNorm, which look at one row alone"),
                calls=len(norms),
            )  # fmt: skip


def ends_of_stacks(visit: Visit, lost: list[Any]) -> bool:
    """Whether all of these are a part of the last of several layers alike, whose other parts learn, and which the one before
    learns: what it hands on to the next one is read by nobody."""
    learn = {visit.names.parameters.get(key, "") for key in visit.watch.reached}
    for name in (visit.names.parameters.get(id(p), "") for p in lost):
        found = re.fullmatch(r"(.*?\.?)(\d+)\.(.+)", name)
        if found is None or found[2] == "0":
            return False
        stack, number, rest = found[1], int(found[2]), found[3]
        beside = any(x.startswith(f"{stack}{number}.") for x in learn)
        if not beside or f"{stack}{number - 1}.{rest}" not in learn or any(x.startswith(f"{stack}{number + 1}.") for x in learn):
            return False
    return bool(lost)
