"""Some steps of a training under the watch, and what the diagnoses say of them."""

import sys
from time import perf_counter
from typing import TextIO

from badak.doctor.checkup import Checkup, Finding
from badak.doctor.diagnoses import DIAGNOSES
from badak.doctor.facts import Step
from badak.doctor.names import Names
from badak.doctor.watch import Watch
from badak.errors import ArgumentError


class Visit:
    """A context in which a training is watched; entering it gives the `Checkup`, which is filled when the steps are over."""

    def __init__(
        self, steps: int = 20, file: TextIO | None = None, quiet: bool = False, subject: str = "this training"
    ):
        if isinstance(steps, bool) or not isinstance(steps, int) or steps < 1:
            raise ArgumentError(f"doctor: steps={steps!r} leaves nothing to watch", "steps=20")
        self.wanted, self.file, self.quiet = steps, file, quiet
        self.checkup = Checkup(subject)
        self.watch = Watch(self.step_ended)
        self.error: BaseException | None = None  # what the program ended with
        self.done = False
        self._started = 0.0

    def __enter__(self) -> Checkup:
        self._started = perf_counter()
        self.watch.__enter__()
        return self.checkup

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if not self.done:
            self.error = error
            self.end()

    def step_ended(self, step: Step) -> None:
        """A step was made; the last one that is wanted ends the visit."""
        if step.number >= self.wanted:
            self.end()

    def end(self) -> None:
        """Look no longer, and fill the report."""
        self.done = True
        self.watch.__exit__()
        report, watch = self.checkup, self.watch
        report.seconds = perf_counter() - self._started
        report.steps, report.losses = len(watch.steps), [step.loss for step in watch.steps]
        self.names = Names(watch.called.values())
        if self.names.tops:
            top = self.names.tops[0]
            report.model = f"{type(top).__name__}, {sum(p.numel() for p in top.parameters()):,} parameters"
            if watch.steps:
                rates = watch.steps[0].rates[:1]
                lr = f", lr {rates[0]:.3g}" if rates else ""
                report.optimizer = f"{type(watch.steps[0].optimizer).__name__}{lr}"
        report.findings += self.diagnosed()
        if not self.quiet:
            (self.file or sys.stderr).write(f"{report}\n")

    def diagnosed(self) -> list[Finding]:
        """What the diagnoses find, in their order; without the effects of what is found."""
        found: list[Finding] = []
        hidden: set[str] = set()
        for diagnosis in DIAGNOSES:
            if diagnosis.code not in hidden:
                new = list(diagnosis().look(self))
                found += new
                if new:
                    hidden |= set(diagnosis.explains)
        return found

    # what diagnoses ask

    @property
    def steps(self) -> list[Step]:
        return self.watch.steps

    @property
    def trained(self) -> set[int]:
        """The parameters (their id) that some optimizer holds."""
        return {id(p) for optimizer in self.watch.optimizers.values() for p in optimizer._parameters()}
