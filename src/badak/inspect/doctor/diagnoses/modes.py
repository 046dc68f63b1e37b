import re

from badak.core.errors import tr
from badak.inspect.doctor.diagnoses.diagnosis import Diagnosis, Findings, Visit
from badak.inspect.doctor.diagnoses.stale import LATER
from badak.inspect.doctor.given import shapes_of
from badak.inspect.doctor.names import weights_of
from badak.inspect.doctor.report import Finding
from badak.inspect.doctor.rows import says_test
from badak.inspect.doctor.source import function_at, own_text, unparse
from badak.nn import Module


def only_tests(place: str) -> bool:
    """Whether a line stands in a function whose name says test, and that trains nothing."""
    function = function_at(place)
    return function is not None and says_test(function.name) and ".backward(" not in unparse(function)


class EvalForgotten(Diagnosis):
    """The model is tested in train mode: dropout spoils its answers, batch norm learns from the test."""

    code = "BADAK-206"
    title = "tested in train mode"

    def look(self, visit: Visit) -> Findings:
        buckets = [*visit.rounds, visit.watch.open]
        at: dict[str, dict[int, list]] = {}
        for step in buckets:
            for call in step.calls:
                if not call.grad and call.training and visit.is_random(call) and self.judges(visit, call.module):
                    at.setdefault(call.place, {}).setdefault(step.number, []).append(call)
        yield from self.teacher(visit)
        # in every step: a target that the training itself computes, but for what a function of tests asks
        some = [each for place, each in at.items() if 2 * len(each) <= len(visit.rounds) or only_tests(place)]
        calls = [call for each in some for several in each.values() for call in several]
        if not calls:
            return
        kinds = visit.random_layers(calls[0].module)
        yield self.found(
            calls[0].place,
            tr("{} was called {} times without gradients in train mode, where its {} are at work", type(calls[0].module).__name__,
               len(calls), kinds),
            tr("model.eval() before testing, model.train() after it"),
            calls=len(calls),
        )  # fmt: skip

    def teacher(self, visit: Visit) -> Findings:
        """What has learned before is asked in each step, with its dropout at work: what it teaches is noise in part."""
        watch = visit.watch
        held = {id(p) for step in visit.steps for p in step.optimizer._parameters()}
        asked = [call for step in visit.rounds for call in step.calls if not call.grad and call.training]
        for module in {id(call.module): call.module for call in asked}.values():
            own, calls = weights_of(module), [call for call in asked if call.module is module]
            dropped = id(module) in watch.random and any(
                getattr(m, "p", 0) for m in module.modules() if "Dropout" in type(m).__name__
            )
            learned = any(id(p) in watch.reached or id(p) in visit.before for p in own) or any(
                x.module() is module and x.any for x in watch.given.loaded
            )
            twins = [m for m in watch.called.values() if m is not module and shapes_of(m) == shapes_of(module)]
            if dropped and learned and not twins and len(calls) >= len(visit.rounds) >= 5 and not any(id(p) in held for p in own):
                yield self.found(
                    calls[0].place,
                    tr("{}, which learns no more, is asked in train mode in each of {} steps; its dropout is at work",
                       type(module).__name__, len(visit.rounds)),
                    tr("teacher.eval() before another model learns from it"),
                    calls=len(calls),
                )  # fmt: skip
                return

    def judges(self, visit: Visit, module: Module) -> bool:
        """Whether what a module gives is judged: one whose output only goes into another model draws pictures, say."""
        takers = visit.watch.heads.takers.get(id(module), set())  # a head that is given nothing else belongs to it
        return visit.learns(module) and (not takers & visit.watch.heads.plain or len(visit.tested) > 1)

    def late(self, visit: Visit, module: Module, place: str) -> Finding:
        """The finding where the first test came after the steps that were watched."""
        return self.found(
            place,
            tr("in its first test, after step {}, {} was called without gradients in train mode, where its {} are at work",
               len(visit.steps), type(module).__name__, visit.random_layers(module)),
            tr("model.eval() before testing, model.train() after it"),
            calls=1,
        )  # fmt: skip


def never_trains() -> bool:
    """Whether a program tests, and says train() with False alone, or never, and eval() of one model again for its test: what it
    trains is in eval mode in each step."""
    modes = re.findall(r"\.train\(([^()]*)\)", text := own_text())
    said = re.findall(r"([\w.]+)\.eval\(\)", text)
    again = not modes and len(set(said)) < len(said) and not LATER.search(text)
    return (again or bool(modes) and set(modes) == {"False"}) and ("no_grad(" in text or "set_grad_enabled(" in text)


class TrainForgotten(Diagnosis):
    """After a test the training goes on in eval mode: without dropout, with the statistics of batch norm held."""

    code = "BADAK-207"
    title = "trained in eval mode"

    def look(self, visit: Visit) -> Findings:
        for module in visit.watch.called.values():
            first = next((c for step in visit.steps for c in step.calls if c.module is module), None)
            modes = [
                (step.number, call.training, call.place)
                for step in visit.steps
                for call in step.calls
                if call.module is module and call.grad and visit.is_random(call)
            ]
            late = next((i for i, (_, training, _) in enumerate(modes) if not training), None)
            if (
                late == 0 and (first is None or first.grad or first.training) and not never_trains()
            ):  # tested before the first step?
                continue
            between = [c for step in visit.steps for c in step.calls if c.module is module and not c.grad and not c.training]
            if late is None or len(modes) - late < (1 if between else 2) or any(training for _, training, _ in modes[late:]):
                continue
            early = visit.watch.turned_early.get(module)
            turned = [early] if early else []
            turned += [place for each, place, number in visit.watch.turned if each is module and number <= modes[late][0]]
            yield self.found(
                modes[late][2],
                tr("from step {} on {} is trained in eval mode, in which its {} do nothing; the last switch was at {}",
                   modes[late][0], type(module).__name__, visit.random_layers(module),
                   turned[-1] if turned else tr("a line of badak")),
                tr("model.train() after each test"),
                step=modes[late][0],
            )  # fmt: skip

    def late(self, visit: Visit, module: Module, place: str) -> Finding:
        """The finding where the first test came after the steps that were watched."""
        return self.found(
            place,
            tr("after its first test, later than step {}, {} is trained in eval mode, in which its {} do nothing", len(visit.steps),
               type(module).__name__, visit.random_layers(module)),
            tr("model.train() after each test"),
            step=len(visit.steps) + 1,
        )  # fmt: skip
