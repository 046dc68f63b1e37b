"""The check of a learner's program: case after case, then a trial; where it fails, which mistake that looks like."""

import contextlib
import difflib
import io
import re
import traceback
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from inspect import signature
from types import ModuleType
from typing import Any

import numpy as np

from badak.autograd.differentiate import grad
from badak.cli.course.compare import Difference, Gradients, array_of, difference, on_a_line
from badak.cli.course.exercise import HEAD, Case, Exercise, Refused, module
from badak.core.errors import BadakError, heard_anew
from badak.core.events import Observer
from badak.core.i18n import say, tr
from badak.core.nests import changed, inside
from badak.tensor import Tensor
from badak.tensor.random import fork_rng, manual_seed

PAIRS = re.compile("'(max|min|median|mode|sort|topk|kthvalue|cummax|cummin)'")  # classes of values with their indices


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
    printed: list = field(default_factory=list)  # (line, text)
    warned: list = field(default_factory=list)  # (line, text)
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
            self.value = self.value if not _wanted(case.inputs) else (self.value, self._gradients(program, exercise, case, inputs))
        except BaseException as error:  # a process of its own: nobody interrupts it
            self.error = error
        self.changed = [i for i, (x, then) in enumerate(zip(inputs, case.inputs)) if not same(x, then)]

    def _gradients(self, program: ModuleType, exercise: Exercise, case: Case, inputs: tuple) -> Gradients | None:
        """Of a sum of the outputs with fixed weights, for each input that wants one."""
        named = [each for each in zip(arguments(program, exercise, case), inputs) for each in _parts(*each)]
        names, leaves = zip(*((name, x) for name, x in named if x.requires_grad))
        outputs = [y for y in inside(self.value, Tensor) if y.requires_grad]
        if not outputs:
            return None
        weights = [Tensor._of(np.random.default_rng(3).standard_normal(y.shape).astype(y._array.dtype)) for y in outputs]
        found = grad(outputs, leaves, weights, allow_unused=True)
        return Gradients(tuple(np.zeros(x.shape, x._array.dtype) if g is None else g for x, g in zip(leaves, found)), names)


def arguments(program: ModuleType, exercise: Exercise, case: Case) -> list[str]:
    """The names of a case's inputs, as the function has them."""
    call = getattr(program, exercise.function) if case.call is None else case.call
    names = list(signature(call).parameters)[case.call is not None :]
    return names + [f"input {i + 1}" for i in range(len(names), len(case.inputs))]


def _parts(name: str, value: Any) -> Iterator[tuple[str, Tensor]]:
    """Every tensor of an input, with its name: x, w["q"]."""
    if isinstance(value, Tensor):
        yield name, value
    elif isinstance(value, tuple | list | dict):
        for key, part in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _parts(tr("{}[{!r}]", name, key), part)


class _Operations(Observer):
    """The operations that ran."""

    eager = True

    def __init__(self) -> None:
        self.names: set[str] = set()

    def on_op(self, op, saved, inputs, arrays, attributes, outputs) -> None:
        self.names.add(op.name)


def _wanted(inputs: tuple) -> bool:
    return any(x.requires_grad for x in inside(inputs, Tensor))


def copied(value: Any) -> Any:
    """A value whose tensors and arrays nobody else holds."""
    value = changed(value, Tensor, lambda x: x.detach().clone().requires_grad_(x.requires_grad))
    return changed(value, np.ndarray, lambda x: x.copy())


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
    expected, cases, seen = exercise.expected(), exercise.cases(), []
    for name in exercise.holes():
        if (missing := _undefined(exercise, program, name, getattr(expected, name))) is not None:
            return missing
    line = line_of(program, exercise.function)
    for case in cases:
        wanted, mine = Outcome(expected, exercise, case), Outcome(program, exercise, case)
        assert wanted.error is None, f"{exercise.name}: {case.label}: {wanted.error!r}"
        seen.append((case, wanted, mine))
        wrong = _judged(exercise, case, wanted, mine, program)
        if wrong is not None:
            wrong.line, wrong.case, wrong.cases = wrong.line or line, str(case.label), len(cases)
            what = recognised(exercise, cases, case, program)
            wrong.mistake, wrong.mistake_id = (str(what), what.en) if what else ("", "")
            return wrong
    trial = ""
    if exercise.trial is not None:
        try:
            trial = exercise.trial(program)
        except Refused as refused:
            return Verdict(False, str(refused.cause), str(refused.fix), line, say("training"), cases=len(cases))
        except BaseException as error:
            wrong = raised(error, program)
            wrong.case, wrong.cases, wrong.line = say("training"), len(cases), wrong.line or line
            return wrong
    return Verdict(True, cases=len(cases), trial=trial)


def _undefined(exercise: Exercise, program: ModuleType, name: str, wanted: Any) -> Verdict | None:
    """What is wrong where the file has no such function or class."""
    mine = getattr(program, name, None)
    if mine is None:
        near = difflib.get_close_matches(name, [key for key, value in vars(program).items() if callable(value)], n=1)
        keep = tr("give it this name again: now it is called {}", near[0]) if near else tr("write it with this name")
        again = tr("badak learn start {:02} --force writes the first file again, without what you wrote", exercise.number)
        return Verdict(False, say("the file defines no {}", name), say("{}; {}", keep, again))
    if isinstance(wanted, type) and not isinstance(mine, type):
        return Verdict(False, say("{} is not a class", name), say("class {}: with the methods that the exercise names", name))
    if not callable(mine):
        return Verdict(
            False, say("{} is not a function", name), say("define it with def, and use the name {} for nothing else", name)
        )
    return None


def _judged(exercise: Exercise, case: Case, wanted: Outcome, mine: Outcome, program: ModuleType) -> Verdict | None:
    """What is wrong with the outcome of one case."""
    if mine.error is not None:
        return raised(mine.error, program)
    answer = sorted(mine.watch.names & set(exercise.forbidden))
    if answer:
        return Verdict(
            False,
            say("{} calls badak's own {}", exercise.function, answer[0]),
            say("write it with simpler operations: that is the exercise"),
        )
    if isinstance(wanted.value, tuple) and wanted.value and isinstance(wanted.value[-1], Gradients):
        found = difference(mine.value[0], wanted.value[0], exercise.tolerance)
        if found is None and mine.value[1] is None:
            cut = tr("use operations on tensors: NumPy, .item(), .data and .detach() cut the graph")
            found = Difference(say("no gradient goes back through the result"), say(cut), [])
        found = found or difference(mine.value[1], wanted.value[1], 10 * exercise.tolerance)
    else:
        found = difference(mine.value, wanted.value, exercise.tolerance)
    if found is not None:
        return Verdict(False, found.cause, found.fix, rows=found.rows)
    if mine.changed and not exercise.may_write:
        return Verdict(
            False,
            say("argument {} is changed by the call", arguments(program, exercise, case)[mine.changed[0]]),
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
        alike = [_alike(a, b, exercise, False) for a, b in zip(mine.outcomes, theirs.outcomes)]
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
        nothing = io.StringIO()  # what is printed was printed when the cases ran
        with warnings.catch_warnings(action="ignore"), contextlib.redirect_stdout(nothing), contextlib.redirect_stderr(nothing):
            program = module(self.source, path=self.path)
            return [Outcome(program, self.exercise, case) for case in cases]

    @cached_property
    def outcomes(self) -> list[Outcome]:
        return self._run(self.cases)


def _alike(a: Outcome, b: Outcome, exercise: Exercise, words: bool = True) -> bool:
    """Whether both gave the same. words: whether errors of one kind must say the same, too."""
    if a.error is not None or b.error is not None:
        return type(a.error) is type(b.error) and (str(a.error) == str(b.error) or not (words or isinstance(a.error, Refused)))
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
    text, _, fix = brief_message(error).partition(" fix: ")
    kind = "AttributeError" if isinstance(error, AttributeError) else type(error).__name__
    return Verdict(False, f"{kind}: {text}" if text else kind, say(fix or advice(error, text, line)), line)


def advice(error: BaseException, text: str, line: int) -> str:
    """What to do about an error of Python. line: 0 where it was raised by the call, or by who read the result."""
    if isinstance(error, TypeError) and ("positional argument" in text or "keyword argument" in text):
        if line:
            return tr("this line calls a function with other arguments than it takes")
        return tr("keep the names and the order of the arguments as the exercise gives them")
    if not line:
        return tr("return what the text asks for, in its order: the check could not read the result")
    if isinstance(error, NameError):
        return tr("define the name before this line, or look for a typing error")
    if isinstance(error, ImportError):
        return tr("badak and NumPy are enough here: write badak in the place of torch")
    if isinstance(error, KeyError):
        return tr("compare the key with those that the text names")
    if isinstance(error, EOFError):
        return tr("nobody types while a check runs: take input() out")
    if isinstance(error, TypeError) and (pair := PAIRS.search(text)):
        return tr("x.{}(dim) gives values and indices: take [0] of it", pair[1])
    return tr("this line raised it: print the shapes and values that go in")


def brief_message(error: BaseException) -> str:
    """What it says, on one line; that of a KeyError is the repr of its key."""
    return on_a_line(str(error.args[0] if isinstance(error, KeyError) and error.args else error))


def line_of(program: ModuleType, name: str) -> int:
    """Where the learner's program defines a function or class."""
    thing = getattr(program, name, None)
    code = getattr(thing, "__code__", None)
    if code is None:  # a class
        code = next((method.__code__ for method in vars(thing).values() if hasattr(method, "__code__")), None) if thing else None
    return code.co_firstlineno if code is not None else 0
