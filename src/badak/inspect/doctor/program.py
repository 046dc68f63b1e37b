"""A program that was written for PyTorch under the doctor's watch: it runs, unchanged, until enough steps were seen."""

import os
import sys
from collections.abc import Callable
from contextlib import redirect_stdout

from badak.compat.torch.run import prepared
from badak.core.errors import ArgumentError, tr
from badak.inspect.doctor.diagnoses.mixed import LabelsMixed
from badak.inspect.doctor.diagnoses.other_data import OtherData
from badak.inspect.doctor.diagnoses.start import BadStart
from badak.inspect.doctor.eval_check import LateTests, Lookout, NextTraining
from badak.inspect.doctor.facts import Step
from badak.inspect.doctor.model_check import asked, not_joined, padding_weighed
from badak.inspect.doctor.names import name_of, tests_at_the_end, trains_again
from badak.inspect.doctor.report import Checkup, Finding
from badak.inspect.doctor.rows import says_test
from badak.inspect.doctor.session import Visit
from badak.inspect.doctor.source import own_text

PATIENCE = 5.0  # seconds in which a first test is waited for after the steps


class _Enough(BaseException):
    """Ends the program where enough was seen."""


class _Stopping(Visit):
    """A visit at whose end the program ends, too, unless it goes on."""

    goes_on, asks = False, True
    behind: LateTests | None = None
    waiting: NextTraining | None = None
    next: "_Stopping | None" = None  # what watches a second training, as of a student behind its teacher's

    def step_ended(self, step: Step) -> None:
        super().step_ended(step)
        if not self.done or self.goes_on:
            return
        if not self.checkup.findings and not self.before and trains_again():
            self.waiting = NextTraining(self, PATIENCE, _stop, self.follow)
        if self.lookout is None or not self.lookout.on:
            self.late()

    def late(self) -> None:
        """What is tested behind the training is looked at, where the program does so; else it ends."""
        if self.behind is not None:
            raise _Enough
        if tests_at_the_end():
            self.behind = LateTests(self, PATIENCE, _stop)
        elif self.waiting is None:
            raise _Enough

    def follow(self) -> None:
        """Another optimizer comes after this training: what it does is watched as a training of its own."""
        self.end_late()
        if self.checkup.findings:
            raise _Enough
        self.next = _Stopping(self.wanted, None, True, self.checkup.subject)
        self.next.before, self.next.hidden = {*self.trained}, {BadStart.code}
        self.next.watch.given.loaded += self.watch.given.loaded
        self.next.__enter__()

    def end_late(self) -> None:
        for each in (self.waiting, self.behind, self.lookout):
            if each is not None:
                each.end()

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        super().__exit__(kind, error, trace)
        self.end_late()
        if self.next is not None:
            self.next.__exit__(kind, error, trace)
            self.checkup.findings += self.next.checkup.findings

    def asked(self) -> list[Finding]:
        return [
            *LabelsMixed().mirrored_alone(self),
            *([*OtherData().mirrored(self)] or OtherData().switched_on(self)),
            *padding_weighed(self),
            *not_joined(self),
        ] or asked(self)

    def looks_out(self) -> Lookout:
        """A first test is waited for, of a model with dropout or where the program speaks of tests; or the program ends."""
        tests = says_test(own_text())
        if self.goes_on:
            return Lookout(self, tests=tests)
        return Lookout(self, PATIENCE, self.late, tests)


def ran(begin: Callable[[], object], stop: type[BaseException]) -> tuple[str, Exception | None]:
    """Run a program until it ends, or until `stop` ends it: how it ended, and the error that it failed with."""
    try:
        begin()
    except stop:
        pass
    except SystemExit as error:
        return tr("ended with exit code {}", error.code) if error.code else "ended", None
    except Exception as error:
        return tr("failed with {},", name_of(error)), error
    return "ended", None


def too_short(program: str, end: str, called: bool) -> ArgumentError:
    """The error that a program made no step."""
    what = tr("before its first optimizer.step()") if called else tr("before it called a module that has parameters")
    return ArgumentError(tr("{}: {} {}", program, end, what), tr("badak run {} shows what it does", program))


def _stop() -> None:
    raise _Enough


def examined(program: str, arguments: list[str], is_module: bool = False, steps: int = 20, goes_on: bool = False) -> Checkup:
    """What the doctor says of a program. Its own output goes to stderr. goes_on: let it run to its end.

    Raises FileError where there is no such program, ArgumentError where it ends or fails before the first step of an optimizer.
    """
    visit = _Stopping(steps, None, True, program if is_module else os.path.basename(os.path.abspath(program)))
    visit.goes_on = goes_on
    begin = prepared(program, arguments, is_module)
    with redirect_stdout(sys.stderr), visit as checkup:
        end, error = ran(begin, _Enough)
        if error is not None:
            (visit.next or visit).error = error
            if visit.done and not checkup.findings and visit.next is None:
                raise error
        for each in (visit, visit.next):
            if each is not None and not each.done:
                each.end()
    if checkup.findings:
        return checkup
    if not checkup.steps:
        raise too_short(program, end, bool(checkup.model))
    if visit.error is not None:
        raise ArgumentError(
            tr("{}: {} after {} steps, in which nothing was found", program, end, checkup.steps),
            tr("badak run {} shows where", program),
        )
    if checkup.steps < steps and not visit.goes_on:
        checkup.why.append(tr("the program ended after {} of {} steps", checkup.steps, steps))
    return checkup
