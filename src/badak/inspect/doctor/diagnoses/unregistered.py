from typing import Any

from badak.core.errors import tr
from badak.inspect.doctor.diagnoses.diagnosis import Diagnosis, Findings, Visit
from badak.inspect.doctor.names import assigned_at
from badak.nn import Module
from badak.tensor import Tensor


class LayersNotRegistered(Diagnosis):
    """Layers in a plain list, also in one within a list or a dict: the model does not know them, no optimizer gets them."""

    code = "BADAK-211"
    title = "layers that the model does not know"
    explains = ("BADAK-206", "BADAK-209", "BADAK-212", "BADAK-217")

    def look(self, visit: Visit) -> Findings:
        yield from self._tensors(visit)
        trained, reached = visit.trained, visit.watch.reached
        by: dict[tuple[int, str], list[Module]] = {}
        owners: dict[int, Module] = {}
        inside = [pair for pair in visit.watch.inside.values() if id(pair[0]) not in visit.names.modules]
        inside += [(top, owner) for top in visit.names.tops if (owner := in_a_list(visit, top)) is not None]
        for module, caller in inside:
            own = [p for p in module.parameters() if p.requires_grad]
            if own and not any(id(p) in trained for p in own) and all(id(p) in reached for p in own):
                by.setdefault((id(caller), _attribute(caller, module)), []).append(module)
                owners[id(caller)] = caller
        anew: dict[tuple[str, str], list[Module]] = {}
        for (key, name), modules in by.items():
            owner = owners[key]
            if id(owner) not in visit.names.modules:  # is lost itself: said of what lost it
                continue
            if not name:
                for each in modules:
                    anew.setdefault((type(owner).__name__, type(each).__name__), []).append(each)
                continue
            count = sum(p.numel() for module in modules for p in module.parameters())
            yield self.found(
                assigned_at(owner, name),
                tr("{}.{} holds {} {} in a "
                   "{}: their {:,} weights get gradients, and no optimizer has them", type(owner).__name__, name,
                   len(modules), type(modules[0]).__name__, type(vars(owner).get(name)).__name__, count),
                f"self.{name} = nn.ModuleList([...])",
                layers=len(modules), weights=count,
            )  # fmt: skip
        for (owned_by, kind), modules in anew.items():
            yield self.found(
                "",
                tr("the calls of {} used {} {} that it does not hold, as layers made in forward() are: their weights get "
                   "gradients, and no optimizer has them", owned_by, len(modules), kind),
                tr("make the layer once, in __init__: self.layer = {}(...)", kind),
                layers=len(modules),
            )  # fmt: skip

    def _tensors(self, visit: Visit) -> Findings:
        """Tensors that want a gradient and are no parameters."""
        alone = [each for each in visit.alive if isinstance(each, Module) and id(each) not in visit.names.modules]
        for module in (*(each for top in visit.names.tops for each in top.modules()), *alone):
            for name, value in vars(module).items():
                if isinstance(value, Tensor) and id(value) in visit.watch.reached and id(value) not in visit.trained:
                    yield self.found(
                        assigned_at(module, name),
                        tr("{}.{} is a tensor {} that gets gradients, and no parameter: no optimizer has it", type(module).__name__,
                           name, tuple(value.shape)),
                        f"self.{name} = nn.Parameter(...)",
                        weights=value.numel(),
                    )  # fmt: skip


def in_a_list(visit: Visit, module: Module) -> Module | None:
    """The module that holds this one in a plain list, where a method of it, and not its forward, calls this one."""
    return next(
        (each for each in visit.alive if isinstance(each, Module) and each is not module and _attribute(each, module)), None
    )


def _attribute(owner: Module, module: Module) -> str:
    """The attribute in which a module is, in lists and dicts of any depth; "" where it is in none."""

    def holds(value: Any, depth: int = 4) -> bool:
        if value is module:
            return True
        items = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ()
        return depth > 0 and any(holds(each, depth - 1) for each in items)

    plain = {name: value for name, value in vars(owner).items() if name not in ("_modules", "_parameters", "_buffers")}
    return next((name for name, value in plain.items() if isinstance(value, (list, tuple, dict)) and holds(value)), "")
