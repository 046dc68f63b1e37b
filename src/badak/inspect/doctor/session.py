"""Some steps of a training under the watch, and what the diagnoses say of them."""

import sys
from functools import cached_property
from time import perf_counter
from typing import Any, TextIO

import numpy as np

from badak.compat.torch.amp.grad_scaler import GradScaler
from badak.core.errors import ArgumentError, ArgumentTypeError
from badak.core.i18n import tr
from badak.data import DataLoader
from badak.inspect.doctor.collectors import is_random
from badak.inspect.doctor.diagnoses import DIAGNOSES
from badak.inspect.doctor.diagnoses.gradients import NeverLearns
from badak.inspect.doctor.diagnoses.settings import NobodyReads
from badak.inspect.doctor.eval_check import Lookout
from badak.inspect.doctor.facts import Call, Size, Step
from badak.inspect.doctor.given import shapes_of
from badak.inspect.doctor.grouping import grouped
from badak.inspect.doctor.names import Names, living, weights_of
from badak.inspect.doctor.report import Checkup, Finding
from badak.inspect.doctor.text import Told, told
from badak.inspect.doctor.watch import Watch
from badak.nn import Embedding, Module
from badak.optim import Optimizer

WAITS = 10  # times the steps are counted again for a policy without rewards
PART = 6  # steps of a part of a training that is judged by itself


class Visit:
    """A context in which a training is watched; entering it gives the `Checkup`, which is filled when the steps are over."""

    asks = False  # whether datasets of the program's own may be asked for examples

    def __init__(self, steps: int = 20, file: TextIO | None = None, quiet: bool = False, subject: str = "this training"):
        if isinstance(steps, bool) or not isinstance(steps, int) or steps < 1:
            raise ArgumentError(tr("doctor: steps={!r} leaves nothing to watch", steps), "steps=20")
        if file is not None and not hasattr(file, "write"):
            raise ArgumentTypeError(tr("doctor: file is {}, which cannot be written to", type(file).__name__), "file=sys.stdout")
        self.wanted, self.file, self.quiet = steps, file, quiet
        self.checkup = Checkup(subject)
        self.watch = Watch(self.step_ended)
        self.error: BaseException | None = None  # what the program ended with
        self.done = False
        self.waited = 0  # how often the steps were counted again
        self.earlier: list[Step] = []  # those before, which are judged where hardly any came after them
        self.lookout: Lookout | None = None
        self.hidden: set[str] = set()  # codes of what follows from what was found
        self.before: set[int] = set()  # parameters (their id) that a training before this one had
        self._part: list[Step] | None = None  # the steps that are judged, where that is not all of them
        self._started = 0.0

    def __enter__(self) -> Checkup:
        self._started = perf_counter()
        self.watch.__enter__()
        return self.checkup

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if not self.done:
            self.error = error
            self.end()
        if self.lookout is not None:
            self.lookout.end()

    def step_ended(self, step: Step) -> None:
        """A step was made; the last one that is wanted ends the visit."""
        if step.number >= self.wanted and self.unrewarded() and self.waited < WAITS:
            self.waited += 1
            self.earlier = [*self.watch.steps]
            self.watch.steps.clear()
            self.watch.rounds, self.watch.looks_closely, self.watch.open.number = 0, True, 1
        elif step.number >= self.wanted:
            self.end()
            self.lookout = self.looks_out()

    def unrewarded(self) -> bool:
        """Whether three losses of four were exactly 0: those of a policy that hardly anything has rewarded yet."""
        values = [back.value for step in self.watch.steps for back in step.backs]
        return self.watch.chosen and 4 * sum(value == 0 for value in values) > 3 * len(values)

    def looks_out(self) -> Lookout:
        """Who waits for the first test after the steps."""
        return Lookout(self)

    def end(self) -> None:
        """Look no longer, and fill the report."""
        self.done = True
        self.watch.__exit__()
        report, watch = self.checkup, self.watch
        if len(watch.steps) < PART and self.earlier:
            watch.steps[:] = self.earlier
        report.seconds = perf_counter() - self._started
        report.steps, report.losses = len(watch.steps), [step.loss for step in watch.steps]
        self.names = Names(watch.called.values(), self.alive)
        if self.names.tops:
            report.model = self.names.largest
            if watch.steps:
                rates = watch.steps[0].rates[:1]
                lr = f", lr {rates[0]:.3g}" if rates else ""
                report.optimizer = f"{type(watch.steps[0].optimizer).__name__}{lr}"
        if report.steps and self.unrewarded():
            report.why.append(tr("most losses are exactly 0: nothing was rewarded, or what rewards are made of is always 0"))
        if not report.steps:
            report.why.append(tr("no optimizer.step() was seen, so there was little to judge"))
        report.findings += self.diagnosed()
        if not report.findings and self.error is None:
            report.findings += self.asked() or [*NeverLearns().never_called(self)] or [*NobodyReads().told(self, "unread")]
        if not self.quiet:
            (self.file or sys.stderr).write(f"{report}\n")

    def asked(self) -> list[Finding]:
        """What the audit says of the models: under the command alone, for a forward of a program's own may do more than compute."""
        return []

    def add(self, finding: Finding) -> None:
        """One more, found after the report."""
        self.checkup.findings.append(finding)
        if not self.quiet:
            (self.file or sys.stderr).write(f"{finding}\n")

    def diagnosed(self) -> list[Finding]:
        """What the diagnoses find in all steps; where that is nothing, in one part of the training after the other."""
        found = self._judged()
        for part in self.parts() if not found else ():
            self._part = part
            found = found or self._judged()
        self._part = None
        return found

    def parts(self) -> list[list[Step]]:
        """The steps of each optimizer, where one begins when another has made its last step: a model is trained for another."""
        several = self.by_optimizer()
        apart = all(a[-1].number < b[0].number for a, b in zip(several, several[1:]))
        return [steps for steps in several if len(steps) >= PART] if apart and len(several) > 1 else []

    def _judged(self) -> list[Finding]:
        """What the diagnoses find, in their order; without the effects of what is found."""
        found: list[Finding] = []
        hidden = self.hidden
        for diagnosis in DIAGNOSES:
            if diagnosis.code not in hidden:
                judge = diagnosis()
                new = list(judge.look(self))
                found += new
                if new:
                    hidden |= set(judge.explains)
        return found

    # what diagnoses ask

    @cached_property
    def alive(self) -> list[Any]:
        """The modules, optimizers and scalers that there are."""
        return living(Module, Optimizer, GradScaler)

    @cached_property
    def text(self) -> list[Told]:
        """What the program's text tells by itself."""
        return told() if self.watch.steps else []

    @property
    def loaders(self) -> list[DataLoader]:
        """The loaders that gave batches."""
        return list(self.watch.loaders.values())

    @property
    def steps(self) -> list[Step]:
        return self.watch.steps if self._part is None else self._part

    @property
    def rounds(self) -> list[Step]:
        """The steps for which something was computed: a second optimizer may use what the first one's step was made of."""
        return [step for step in self.steps if step.fresh]

    @cached_property
    def trained(self) -> set[int]:
        """The parameters (their id) that some optimizer holds, also one that has made no step yet."""
        optimizers = [*self.watch.optimizers.values(), *(x for x in self.alive if isinstance(x, Optimizer))]
        return {id(p) for x in optimizers if "param_groups" in x.__dict__ for p in x._parameters()}

    @cached_property
    def copies(self) -> set[int]:
        """The parameters (their id) of models that were given the weights of another one like them, which learns: its targets."""
        given = {id(m): m for each in self.watch.given.loaded if each.any and (m := each.module()) is not None}
        learns = [m for m in self.watch.called.values() if all(id(p) in self.watch.reached for p in weights_of(m))]
        moved = [m for m in learns if all(id(p) in self.trained for p in weights_of(m))]
        kinds = {(type(m), shapes_of(m)) for m in moved}
        own = [m for m in given.values() if (type(m), shapes_of(m)) in kinds and m not in moved]
        return {id(p) for m in own for p in weights_of(m)}

    def by_optimizer(self) -> list[list[Step]]:
        """The steps of each optimizer, where a program has several."""
        by = grouped((id(step.optimizer), step) for step in self.steps)
        return list(by.values())

    @cached_property
    def tested(self) -> set[int]:
        """The models (their id) that were asked without gradients."""
        return {id(call.module) for step in [*self.steps, self.watch.open] for call in step.calls if not call.grad}

    @cached_property
    def built(self) -> list[Any]:
        """The optimizers that there are, and those that were made under the watch."""
        found = {id(x): x for x in [*self.watch.built, *self.alive] if isinstance(x, Optimizer) and "param_groups" in x.__dict__}
        return list(found.values())

    @staticmethod
    def holds(module: Module, parameters: list[Any]) -> bool:
        """Whether some of these parameters are in a module."""
        own = {id(p) for p in weights_of(module)}
        return any(id(p) in own for p in parameters)

    def learns(self, module: Module) -> bool:
        """Whether some parameter of a module, or of what it is a copy of, got a gradient."""
        if any(id(p) in self.watch.reached for p in weights_of(module)):
            return True
        shapes = [p.shape for p in weights_of(module)]
        return any(
            type(other) is type(module) and other is not module
            and [p.shape for p in weights_of(other)] == shapes and any(id(p) in self.watch.reached for p in weights_of(other))
            for other in self.watch.called.values()
        )  # fmt: skip

    def is_random(self, call: Call) -> bool:
        """Whether something in what was called behaves otherwise in training."""
        return call.random or id(call.module) in self.watch.random

    def random_layers(self, module: Module) -> str:
        """The classes of its layers that behave otherwise in training."""
        kinds = {type(m).__name__ for m in module.modules() if not any(True for _ in m.children()) and is_random(m)}
        return ", ".join(sorted(kinds)) or "dropout"

    def without_gradient(self) -> dict[int, Any]:
        """The parameters that were to be trained, whose module was called, and that never got a gradient."""
        trained, watch = self.trained, self.watch
        if any(step.gradients for step in self.steps) and not any(step.backs for step in self.steps):
            return {}  # the program writes them itself
        stepped = any(id(p) in watch.reached for x in self.built[-1:] for p in x._parameters())  # the newest of them
        failed = not stepped and self.error is not None and "require grad" in str(self.error)
        used = {*watch.called, *watch.inside}
        if self.error is not None and not failed:  # another mistake ended it: an optimizer that made no step proves nothing
            trained = {id(p) for x in watch.optimizers.values() for p in x._parameters()}
        known = {
            id(p): p
            for top in self.names.tops
            for p in weights_of(top)
            if (p.requires_grad or id(p) in watch.wanted) and id(p) not in watch.reached and id(p) not in self.before
        }
        wanted = {key: p for key, p in known.items() if key in trained and key not in self.copies or failed}
        return {key: p for key, p in wanted.items() if id(self.names.owners[key]) in used}

    def with_zero_gradient(self) -> list[Any]:
        """The parameters whose gradient was exactly 0 whenever it was measured, three times or more."""
        sizes = grouped((key, size.gradient) for step in self.steps for key, size in step.sizes.items())
        still = {key for key, each in sizes.items() if len(each) >= 3 and not any(each) and key in self.watch.reached}
        learns = {id(self.names.owners[key]) for key in sizes if key not in still and key in self.names.owners}
        # a bias may cancel out where outputs are only compared with each other
        return [p for key in still if (p := self.watch.reached[key]).dim() > 1 or id(self.names.owners.get(key)) not in learns]

    def _matrices(self) -> dict[int, list[Size]]:
        """What was measured of the weights of layers: of matrices, which are no tables; of all, where there are none."""
        found: dict[int, list[Size]] = {}
        every: dict[int, list[Size]] = {}
        began_at_0 = {key for step in self.steps[:2] for key, size in step.sizes.items() if size.weight == 0}
        for step in self.steps:
            for key, size in step.sizes.items():
                p, owner = self.watch.reached.get(key), self.names.owners.get(key)
                sound = size.weight > 0 and np.isfinite(size.gradient) and key not in began_at_0
                if p is not None and sound:
                    every.setdefault(key, []).append(size)
                    if p.dim() >= 2 and not isinstance(owner, Embedding):
                        found.setdefault(key, []).append(size)
        return found or every

    def update_ratios(self) -> dict[int, list[float]]:
        """Norm of the update by norm of the weights, for each layer and each step that was measured."""
        return {
            key: [s.update / s.weight for s in sizes if s.update is not None]
            for key, sizes in self._matrices().items()
            if any(s.gradient for s in sizes)
        }

    def relative_gradients(self, first: bool = False) -> dict[int, float]:
        """Norm of the gradient by norm of the weights, for each layer: the median over the steps, or that of the first."""
        return {
            key: float(np.median([s.gradient / s.weight for s in (sizes[:1] if first else sizes)]))
            for key, sizes in self._matrices().items()
        }

    def largest_gradient(self) -> float:
        """The largest norm of a gradient that was measured."""
        return max((size.gradient for step in self.steps for size in step.sizes.values()), default=0.0)
