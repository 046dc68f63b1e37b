"""The check of a learner's program: case after case, then a trial; where it fails, which mistake that looks like."""

import os
import traceback
import warnings
from dataclasses import dataclass, field
from functools import cached_property
from types import ModuleType
from typing import Any

import numpy as np

from badak.autograd.differentiate import grad
from badak.core.errors import BadakError, heard_anew
from badak.core.events import Observer
from badak.core.i18n import say
from badak.learn.compare import Difference, Gradients, array_of, brief, difference, tensors
from badak.learn.exercise import HEAD, Case, Exercise, Refused, module
from badak.tensor import Tensor
from badak.tensor.random import fork_rng, manual_seed

OURS = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


@dataclass
class Verdict:
    """What a check found. `line` is one of the learner's program, 0 where none is to blame alone."""

    ok: bool
    cause: str = ""
    fix: str = ""
    line: int = 0
    case: str = ""
    rows: list = field(default_factory=list)  # (place, yours, expected)
    mistake: str = ""  # in the person's language
    mistake_id: str = ""  # in English
    cases: int = 0
    trial: str = ""
    printed: list = field(default_factory=list)
    seconds: float = 0.0


class Outcome:
    """What a program gave for a case: a value and gradients, or an error; and which inputs it changed."""

    def __init__(self, program: ModuleType, exercise: Exercise, case: Case):
        inputs = tuple(copied(x) for x in case.inputs)
        self.value: Any = None
        self.error: BaseException | None = None
        self.watch = _Operations()
        try:
            with self.watch, heard_anew(), fork_rng():
                manual_seed(0)
                call = case.call or (lambda program, *given: getattr(program, exercise.function)(*given))
                self.value = call(program, *inputs)
            self.value = self.value if not _wanted(case.inputs) else (self.value, self._gradients(inputs))
        except (Exception, SystemExit) as error:
            self.error = error
        self.changed = [i for i, (x, then) in enumerate(zip(inputs, case.inputs)) if not same(x, then)]

    def _gradients(self, inputs: tuple) -> Gradients | None:
        """Of a sum of the outputs with fixed weights, for each input that wants one."""
        leaves = [x for x in tensors(inputs) if x.requires_grad]
        outputs = [y for y in tensors(self.value) if y.requires_grad]
        if not outputs:
            return None
        weights = [Tensor._of(np.random.default_rng(3).standard_normal(y.shape).astype(y._array.dtype)) for y in outputs]
        found = grad(outputs, leaves, weights, allow_unused=True)
        return Gradients(tuple(np.zeros(x.shape, x._array.dtype) if g is None else g for x, g in zip(leaves, found)))


class _Operations(Observer):
    """The operations that ran."""

    eager = True

    def __init__(self) -> None:
        self.names: set[str] = set()

    def on_op(self, op, saved, inputs, arrays, attributes, outputs) -> None:
        self.names.add(op.name)


def _wanted(inputs: tuple) -> bool:
    return any(x.requires_grad for x in tensors(inputs))


def copied(value: Any) -> Any:
    """A value whose tensors and arrays nobody else holds."""
    if isinstance(value, Tensor):
        return value.detach().clone().requires_grad_(value.requires_grad)
    if isinstance(value, np.ndarray):
        return value.copy()
    if isinstance(value, tuple | list):
        return type(value)(copied(part) for part in value)
    return {key: copied(part) for key, part in value.items()} if isinstance(value, dict) else value


def same(given: Any, then: Any) -> bool:
    """Whether an input is as it was."""
    mine, before = array_of(given), array_of(then)
    if mine is None or before is None:
        if isinstance(then, dict | list | tuple) and len(given) == len(then):
            keys = then if isinstance(then, dict) else range(len(then))
            return all((key in given if isinstance(then, dict) else True) and same(given[key], then[key]) for key in keys)
        return type(then) not in (dict, list, tuple, str) or given == then
    return mine.shape == before.shape and bool(np.array_equal(mine, before, equal_nan=mine.dtype.kind == "f"))


def check(exercise: Exercise, program: ModuleType) -> Verdict:
    """Whether `program` does what the exercise asks. The file of the program tells which lines are the learner's."""
    for name in exercise.holes():
        if not hasattr(program, name):
            return Verdict(
                False,
                say(f"the file defines no {name}"),
                say(f"badak learn start {exercise.number:02} --force writes the file again"),
            )
    expected, cases, seen = exercise.expected(), exercise.cases(), []
    line = line_of(program, exercise.function)
    for case in cases:
        wanted, mine = Outcome(expected, exercise, case), Outcome(program, exercise, case)
        assert wanted.error is None, f"{exercise.name}: {case.label}: {wanted.error!r}"
        seen.append((case, wanted, mine))
        wrong = _judged(exercise, case, wanted, mine, program)
        if wrong is not None:
            wrong.line, wrong.case, wrong.cases = wrong.line or line, case.label, len(cases)
            what = recognised(exercise, cases, case, program)
            wrong.mistake, wrong.mistake_id = (str(what), what.en) if what else ("", "")
            return wrong
    trial = ""
    if exercise.trial is not None:
        try:
            trial = exercise.trial(program)
        except Refused as refused:
            return Verdict(False, str(refused.cause), str(refused.fix), line, say("training"), cases=len(cases))
        except (Exception, SystemExit) as error:
            wrong = raised(error, program)
            wrong.case, wrong.cases, wrong.line = say("training"), len(cases), wrong.line or line
            return wrong
    return Verdict(True, cases=len(cases), trial=trial)


def _judged(exercise: Exercise, case: Case, wanted: Outcome, mine: Outcome, program: ModuleType) -> Verdict | None:
    """What is wrong with the outcome of one case."""
    if mine.error is not None:
        return raised(mine.error, program)
    answer = sorted(mine.watch.names & set(exercise.forbidden))
    if answer:
        return Verdict(
            False,
            say(f"{exercise.function} calls badak's own {answer[0]}"),
            say("write it with simpler operations: that is the exercise"),
        )
    if isinstance(wanted.value, tuple) and wanted.value and isinstance(wanted.value[-1], Gradients):
        found = difference(mine.value[0], wanted.value[0], exercise.tolerance)
        if found is None and mine.value[1] is None:
            cut = "use operations on tensors: NumPy, .item(), .data and .detach() cut the graph"
            found = Difference(say("no gradient goes back through the result"), say(cut), [])
        found = found or difference(mine.value[1], wanted.value[1], 10 * exercise.tolerance)
    else:
        found = difference(mine.value, wanted.value, exercise.tolerance)
    if found is not None:
        return Verdict(False, found.cause, found.fix, rows=found.rows)
    if mine.changed and not exercise.may_write:
        return Verdict(
            False,
            say(f"argument {mine.changed[0] + 1} is changed by the call"),
            say("work on a copy (x.clone()), and write x = x + 1 in the place of x += 1"),
        )
    return None


def recognised(exercise: Exercise, cases: list[Case], failing: Case, program: ModuleType):
    """The mistake that gives what the program gives: in all cases, else in the failing one and in most of the others."""
    mine = _Anew(program.__source__, program.__file__, exercise, cases, failing)  # type: ignore[attr-defined]
    right = Outcome(exercise.expected(), exercise, failing)
    best, best_share, at = None, 0.6, next(i for i, case in enumerate(cases) if case is failing)
    for mistake in exercise.mistakes:
        theirs = _Anew(HEAD + mistake.source(exercise.solution), "<mistake>", exercise, cases, failing)
        if not _alike(mine.alone, theirs.alone, exercise):
            continue
        alike = [_alike(a, b, exercise) for a, b in zip(mine.outcomes, theirs.outcomes)]
        share = sum(alike) / len(alike)
        if alike[at] and share > best_share and not _alike(theirs.outcomes[at], right, exercise):
            best, best_share = mistake.what, share
    return best


class _Anew:
    """What a program gives for the failing case alone, and for all of them where somebody asks: it may hold state."""

    def __init__(self, source: str, path: str | None, exercise: Exercise, cases: list[Case], failing: Case):
        self.source, self.path, self.exercise, self.cases = source, path, exercise, cases
        self.alone = self._run([failing])[0]

    def _run(self, cases: list[Case]) -> list[Outcome]:
        with warnings.catch_warnings(action="ignore"):
            program = module(self.source, path=self.path)
            return [Outcome(program, self.exercise, case) for case in cases]

    @cached_property
    def outcomes(self) -> list[Outcome]:
        return self._run(self.cases)


def _alike(a: Outcome, b: Outcome, exercise: Exercise) -> bool:
    if a.error is not None or b.error is not None:
        return type(a.error) is type(b.error) and str(a.error) == str(b.error)
    try:
        return a.changed == b.changed and difference(a.value, b.value, 10 * exercise.tolerance) is None
    except (TypeError, AttributeError):
        return False


def raised(error: BaseException, program: ModuleType) -> Verdict:
    """An error of the learner's program: what happened, at which of its lines."""
    path, line = program.__file__ or "", 0
    for frame in traceback.extract_tb(error.__traceback__):
        if frame.filename == path:
            line = frame.lineno or 0
    if isinstance(error, NotImplementedError) and not isinstance(error, BadakError):
        return Verdict(False, say("a hole is still open"), say("write your code in the place of raise NotImplementedError"), line)
    if isinstance(error, Refused):
        return Verdict(False, str(error.cause), str(error.fix), line)
    if isinstance(error, SystemExit):
        return Verdict(False, say("the program ends itself by sys.exit"), say("return the result instead"), line)
    if isinstance(error, RecursionError):
        return Verdict(False, say("the function calls itself too often"), say("use a loop and a list as a stack"), line)
    if isinstance(error, BadakError):
        return Verdict(False, say(error.cause), say(error.fix or ""), line)
    cause = f"{type(error).__name__}: {brief_message(error)}"
    if isinstance(error, TypeError) and "positional argument" in str(error) or "keyword argument" in str(error):
        return Verdict(False, cause, say("keep the names and the order of the arguments as the exercise gives them"), line)
    if isinstance(error, NameError):
        return Verdict(False, cause, say("define the name before this line, or look for a typing error"), line)
    return Verdict(False, cause, say("this line raised it: print the shapes and values that go in"), line)


def brief_message(error: BaseException) -> str:
    return brief(str(error)).strip("'\"")


def line_of(program: ModuleType, name: str) -> int:
    """Where the learner's program defines a function or class."""
    thing = getattr(program, name, None)
    code = getattr(thing, "__code__", None)
    if code is None:  # a class
        code = next((method.__code__ for method in vars(thing).values() if hasattr(method, "__code__")), None) if thing else None
    return code.co_firstlineno if code is not None else 0
