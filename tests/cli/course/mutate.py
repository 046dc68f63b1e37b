"""Wrong programs made of right ones: `python -m tests.cli.course.mutate [NUMBER ...]` says how many the checks refuse.

A mutant differs from the solution in one place of its syntax tree: a constant, an operator, a comparison, an axis, a missing
line, two swapped arguments. Some are right: dim=-1 for dim=1, the two axes of
a transpose swapped. They are printed for a reader to judge.
"""

import ast
import copy
import dataclasses
import signal
import sys
import warnings
from collections.abc import Iterator

from badak.cli.course.check import Verdict, check
from badak.cli.course.course import COURSE
from badak.cli.course.exercise import HEAD, Exercise, module

SWAPS = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.Pow: ast.Mult, ast.MatMult: ast.Mult,
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.GtE: ast.Lt, ast.LtE: ast.Gt, ast.Lt: ast.LtE, ast.Gt: ast.GtE,
    ast.BitAnd: ast.BitOr, ast.And: ast.Or, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip


def mutants(source: str, given: tuple[str, ...] = ()) -> Iterator[str]:
    """Every program that differs from `source` in one place; what is given to the learner stays."""
    tree = ast.parse(source)
    theirs = [part for part in tree.body if getattr(part, "name", "") not in given]
    places = [node for part in theirs for node in ast.walk(part)]
    for place in range(len(places)):
        for change in _changes(places[place]):
            other = copy.deepcopy(tree)
            nodes = [node for part in other.body if getattr(part, "name", "") not in given for node in ast.walk(part)]
            change(nodes[place])
            yield ast.unparse(ast.fix_missing_locations(other))


def _changes(node: ast.AST) -> Iterator:
    """Functions that change a node in place."""
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        yield lambda n: setattr(n, "value", n.value + 1)
        if node.value:
            yield lambda n: setattr(n, "value", -n.value)
    elif isinstance(node, ast.Constant) and type(node.value) is bool:
        yield lambda n: setattr(n, "value", not n.value)
    elif isinstance(node, ast.BinOp | ast.AugAssign) and type(node.op) in SWAPS:
        yield lambda n: setattr(n, "op", SWAPS[type(n.op)]())
    elif isinstance(node, ast.Compare) and type(node.ops[0]) in SWAPS:
        yield lambda n: setattr(n, "ops", [SWAPS[type(n.ops[0])]()])
    elif isinstance(node, ast.UnaryOp):
        yield lambda n: setattr(n, "op", ast.UAdd())
    elif isinstance(node, ast.Call) and len(node.args) > 1:
        yield lambda n: setattr(n, "args", [n.args[1], n.args[0], *n.args[2:]])
    if isinstance(node, ast.FunctionDef | ast.For | ast.While | ast.If):
        for i in range(len(node.body)):
            yield lambda n, i=i: n.body.__setitem__(i, ast.Pass())


def accepted(exercise: Exercise, most: int = 10**6) -> tuple[int, list[str]]:
    """How many mutants were made, and those that the check calls right."""
    every = sorted(set(mutants(exercise.solution, exercise.given)))
    chosen = every[:: max(1, -(-len(every) // most))]
    cases_only = dataclasses.replace(exercise, trial=None)
    return len(chosen), [each for each in chosen if within(5, cases_only, each).ok]


def within(seconds: int, exercise: Exercise, source: str):
    """The verdict, where a loop that never ends is an error of the program."""

    def stop(*ignored):
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds, 1)
    try:
        return verdict(exercise, source)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def verdict(exercise: Exercise, source: str):
    """The check of a program in this process."""
    with warnings.catch_warnings(action="ignore"):
        try:
            program = module(HEAD + source, path="<learner>")
        except Exception as error:
            return Verdict(False, repr(error))
        return check(exercise, program)


if __name__ == "__main__":
    totals = [0, 0]
    for number in [int(word) for word in sys.argv[1:]] or list(COURSE):
        made, passed = accepted(COURSE[number], 60)
        totals = [totals[0] + made, totals[1] + len(passed)]
        print(f"{number:02} {COURSE[number].name}: {made - len(passed)} of {made} refused", flush=True)
        for each in passed:
            lines = ast.unparse(ast.parse(COURSE[number].solution)).splitlines()
            print("     " + " | ".join(line.strip() for line in each.splitlines() if line not in lines) or "(a line less)")
    print(f"{totals[0] - totals[1]} of {totals[0]} refused")
