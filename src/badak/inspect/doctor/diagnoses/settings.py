import ast
import linecache
import re
import sys
from collections.abc import Iterator
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

from badak import nn, optim
from badak.core.errors import tr
from badak.inspect.doctor.diagnoses.diagnosis import Diagnosis, Findings, Visit
from badak.inspect.doctor.given import shapes_of
from badak.inspect.doctor.names import weights_of
from badak.inspect.doctor.source import sources, unparse, walk
from badak.inspect.doctor.syntax import find, stored_by

ALIKE = 0.85
RATES = ("learning_rate", "learn_rate", "rate", "LR")
FROZEN = "requires_grad"


class NobodyReads(Diagnosis):
    """A name that nobody reads was set, weights went into a model that is not used, a group holds only what is frozen."""

    code = "BADAK-259"
    title = "a setting without effect"

    def look(self, visit: Visit) -> Findings:
        for what, right in [*self.names(visit), *self.rates(visit)]:
            yield self.found("", tr("{} was set, which nobody reads", what), tr("it is {}", right), name=what)
        yield from [*self.weights(visit)] or [*self.untaught(visit)] or self.frozen_as_drawn(visit)
        yield from self.best(visit)
        yield from self.groups(visit)
        yield from self.told(visit, "setting")

    def names(self, visit: Visit) -> Iterator[tuple[str, str]]:
        """Names next to requires_grad, of parameters and modules."""
        seen = set()
        for top in visit.names.tops:
            for p in weights_of(top):
                seen |= {(f"p.{name}", f"p.{FROZEN}") for name in vars(p) if name != FROZEN and resembles(name, FROZEN)}
            for module in top.modules():
                own = {name for name, value in vars(module).items() if isinstance(value, bool) and resembles(name, FROZEN)}
                seen |= {(f"{visit.names.of(module)}.{name}", "module.requires_grad_(False)") for name in own}
        yield from sorted(seen)

    def rates(self, visit: Visit) -> Iterator[tuple[str, str]]:
        """A rate that was set on an optimizer, or under another name in its groups."""
        for optimizer in visit.watch.optimizers.values():
            if vars(optim).get(type(optimizer).__name__) is not type(optimizer):  # one of the program's own may read what it likes
                continue
            for name in vars(optimizer):
                if name in ("lr", *RATES) and isinstance(vars(optimizer)[name], int | float):
                    yield f"optimizer.{name}", 'group["lr"]'
            for name in {name for group in optimizer.param_groups for name in group} - {"params", *optimizer.defaults}:
                meant = next((known for known in optimizer.defaults if len(known) > 4 and resembles(name, known)), "")
                if meant or name in RATES:
                    yield f'group["{name}"]', f'group["{meant or "lr"}"]'

    def weights(self, visit: Visit) -> Findings:
        """Weights of which none fits, or that went into a model that is gone, where one like it is trained."""
        used = {id(m) for top in visit.watch.called.values() for m in top.modules()}
        inside = [m for top in visit.watch.called.values() for m in top.modules()]
        took = {id(each.module()) for each in visit.watch.given.loaded if each.module() is not None and each.any}
        for each in visit.watch.given.loaded:
            module = each.module()
            if not each.any and id(module) in used:
                yield self.found(
                    each.place,
                    tr("none of the weights that load_state_dict() was given has a name that {} has, and "
                       "strict=False says nothing of it", each.kind.__name__),
                    tr("strict=True names the keys; load_state_dict(state, strip_prefix=...) takes a prefix off"),
                )  # fmt: skip
                return
            if module is not None or not each.any:
                continue
            twins = [m for m in inside if type(m) is each.kind and shapes_of(m) == each.shapes and self.learns(visit, m)]
            if twins and not any(id(m) in took for m in twins):
                yield self.found(
                    each.place,
                    tr("load_state_dict() filled a {} that nobody kept, and another one is trained", each.kind.__name__),
                    tr("load into the one that is trained: model.load_state_dict(state)"),
                )
                return

    def untaught(self, visit: Visit) -> Findings:
        """In a training behind another one a model is asked that was drawn and never learnt, and one like it, which did, is not."""
        given, before = visit.watch.given, visit.before
        called = {id(m): m for top in visit.watch.called.values() for m in top.modules()}
        tops = {id(call.module): call for step in visit.steps for call in step.calls if not call.grad}
        for key, call in tops.items() if before else ():
            own = weights_of(call.module)
            known = any(id(p) in before or id(p) in visit.trained or id(p._array) in given.written for p in own)
            if known or any(each.module() is call.module for each in given.loaded):
                continue
            alike = [m for m in visit.alive if type(m) is type(call.module) and id(m) != key and id(m) not in called]
            taught = [m for m in alike if shapes_of(m) == shapes_of(call.module) and all(id(p) in before for p in weights_of(m))]
            if taught and all(drawn_apart(call.module, m) for m in taught):
                yield self.found(
                    call.place,
                    tr("the {} that is asked here was drawn and never learnt, and another {}, which did, is not asked",
                       type(call.module).__name__, type(call.module).__name__),
                    tr("ask the one that was trained; or load its weights: load_state_dict(trained.state_dict())"),
                )  # fmt: skip
                return

    def frozen_as_drawn(self, visit: Visit) -> Findings:
        """Behind a training a model's frozen part stands as it was drawn, and that of another one like it has learnt."""
        given, before = visit.watch.given, visit.before
        for part in [m for top in visit.names.tops for m in top.modules()] if before else ():
            frozen = {name: p for name, p in part.named_parameters() if not p.requires_grad and p.dim() > 1}
            written = any(id(p) in before or id(p) in visit.trained or id(p._array) in given.written for p in frozen.values())
            holders = [top for top in visit.names.tops if any(m is part for m in top.modules())]
            inside = {id(m) for top in holders for m in top.modules()}
            plain = vars(nn).get(type(part).__name__) is type(part)  # one layer says nothing
            if plain or not frozen or written or any(each.any and id(each.module()) in inside for each in given.loaded):
                continue
            for other in (m for m in visit.alive if type(m) is type(part) and id(m) not in inside):
                own = dict(other.named_parameters())
                taught = all(name in own and own[name].shape == p.shape and id(own[name]) in before for name, p in frozen.items())
                if taught and not any(own[name].equal(p) for name, p in frozen.items()):
                    yield self.found(
                        visit.steps[0].place,
                        tr("{} parameters of this {} are frozen as they were drawn ({}), and those of another {} have learnt",
                           len(frozen), type(part).__name__, visit.names.few(frozen.values()), type(part).__name__),
                        tr("load its weights before they are frozen: load_state_dict(trained.state_dict())"),
                    )  # fmt: skip
                    return

    def best(self, visit: Visit) -> Findings:
        """What is kept as the best weights is the weights themselves, which go on learning."""
        if (place := aliased()) and len(visit.steps) > 1:
            yield self.found(
                place,
                tr("state_dict() gives the weights themselves, no copy: what is loaded at the end is what is there"),
                tr("best = copy.deepcopy(model.state_dict()), or torch.save"),
            )
            return
        for state, place, text, number in visit.watch.given.kept:
            best = re.search(r"\bbest\w*.*=", text) and not re.search(r"copy|clone", text)
            if best and state() is not None and number <= len(visit.steps):
                cause = tr("state_dict() gives the weights themselves, no copy: what is kept as the best goes on learning with the "
                           "model")  # fmt: skip
                yield self.found(place, cause, tr("best = copy.deepcopy(model.state_dict()), or torch.save"))
                return

    def learns(self, visit: Visit, module: Any) -> bool:
        return any(id(p) in visit.watch.reached for p in module.parameters())

    def groups(self, visit: Visit) -> Findings:
        """A group of an optimizer, next to others, all of whose parameters are frozen."""
        for step in {id(each.optimizer): each for each in visit.steps}.values():
            groups = step.optimizer.param_groups
            frozen = [g for g in groups if g["params"] and not any(p.requires_grad for p in g["params"])]
            if len(groups) > 1 and frozen and len(frozen) < len(groups) and not thaws():
                count = len(frozen[0]["params"])
                yield self.found(
                    step.place,
                    tr("a group of the optimizer with lr {:.3g} holds {} parameters, and all of them are frozen ({})",
                       float(frozen[0]["lr"]), count, visit.names.few(frozen[0]["params"])),
                    tr("p.requires_grad_(True) for them, or leave the group out"),
                    parameters=count,
                )  # fmt: skip
                return


def drawn_apart(a: Any, b: Any) -> bool:
    """Whether the matrices of two models have nothing to do with each other."""
    pairs = [(p._array.ravel(), q._array.ravel()) for p, q in zip(weights_of(a), weights_of(b)) if p.dim() > 1]
    cosines = [abs(float(x @ y)) / max(float(x @ x) * float(y @ y), 1e-30) ** 0.5 for x, y in pairs if x.size >= 64]
    return bool(cosines) and max(cosines) < 0.3


THAWS = re.compile(r"requires_grad(_\(\s*\)|\w*\W{1,4}True|_\(\w+=True)|unfreeze|thaw")


def thaws() -> bool:
    """Whether the program, or a file next to it, says that something frozen will learn later."""
    folder, own = Path(sys.argv[0]).parent, Path(sys.argv[0]).suffix == ".py"
    files = sorted(folder.glob("*.py"))[:FILES] if own else []
    return any(THAWS.search("".join(linecache.getlines(str(each)))) for each in files)


FILES = 64  # next to a program that are looked through


def aliased() -> str:
    """The place in a loop that keeps a model's state_dict() under a name which the same model is given afterwards; "": none."""
    return next((f"{source.name}:{line}" for source in sources() if (line := aliased_in(source.tree))), "")


def aliased_in(tree: ast.Module) -> int:
    """The line of one file; 0: none."""
    calls = [node for node in find(tree, ast.Call) if isinstance(node.func, ast.Attribute) and node.args]
    loads = {(unparse(x.func.value), unparse(x.args[0])): x.lineno for x in calls if x.func.attr == "load_state_dict"}
    keepers = (node for node in find(tree, ast.If) if keeps_best(node))
    held = {unparse(x.args[0]).rpartition(".")[2] for x in calls if x.func.attr == "load_state_dict"}
    for keeper in keepers:  # by an object of the program's own, as EarlyStopping
        for name, value in (each for line in keeper.body for each in stored_by(line)):
            if isinstance(name, ast.Attribute) and name.attr in held and re.fullmatch(r"[\w.]+\.state_dict\(\)", unparse(value)):
                return value.lineno
    for loop in find(tree, ast.For | ast.While):
        for node in walk(loop):
            for name, value in stored_by(node):
                if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr == "state_dict":
                    key = unparse(value.func.value), unparse(name)
                    inside = any(loop.lineno <= x.lineno <= (loop.end_lineno or 0) for x in calls if x.lineno == loads.get(key))
                    if key in loads and not inside:
                        return value.lineno
    return 0


def keeps_best(node: ast.If) -> bool:
    """Whether a line keeps a number where it is better than the best."""
    sides = {unparse(each) for x in find(node.test, ast.Compare) for each in [x.left, *x.comparators]}
    return any(unparse(name) in sides and unparse(value) in sides for line in node.body for name, value in stored_by(line))


def resembles(name: str, known: str) -> bool:
    """Whether a name is nearly another one."""
    return SequenceMatcher(None, name.lower(), known).ratio() >= ALIKE
