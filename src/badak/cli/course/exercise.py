"""What an exercise is: its text, its solution, the cases it is checked on, and the mistakes that people make in it."""

import ast
from collections.abc import Callable
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any, NamedTuple

from badak.core.i18n import language, say

HEAD = "import math\n\nimport numpy as np\n\nimport badak\nfrom badak import nn\nfrom badak.nn import functional as F\n\n\n"


class Both(NamedTuple):
    """A text in both languages, next to each other so that they do not drift apart."""

    en: str
    ko: str

    def __str__(self) -> str:
        return self.ko if language() == "ko" else say(self.en)


class Mistake:
    """A wrong solution that people write: the right one with `old` replaced by `new`, for each pair of `edits`."""

    def __init__(self, en: str, ko: str, *edits: tuple[str, str]):
        self.what, self.edits = Both(en, ko), edits

    def source(self, solution: str) -> str:
        """The wrong solution."""
        for old, new in self.edits:
            assert solution.count(old), f"the solution has no {old!r}"
            solution = solution.replace(old, new)
        return solution


class Case(NamedTuple):
    """One call of the learner's program: `call(program, *inputs)`, the function of the exercise where it is None."""

    label: str | Both
    inputs: tuple
    call: Callable[..., Any] | None = None


class Refused(Exception):
    """What a trial found wrong."""

    def __init__(self, cause: Both, fix: Both):
        super().__init__(cause.en)
        self.cause, self.fix = cause, fix


@dataclass(frozen=True)
class Exercise:
    """One exercise. The learner's program, the solution, each mistake and the oracle are modules that `cases` are called on."""

    title: Both
    text: Both
    solution: str
    derivation: Both
    hints: tuple[Both, Both, Both]
    cases: Callable[[], list[Case]]
    mistakes: tuple[Mistake, ...]
    function: str = ""  # that a case without a call is about; by default the one that is called as the exercise is
    oracle: Callable[..., Any] | None = None  # badak's own function in its place; without one, the solution tells
    trial: Callable[[ModuleType], str] | None = None  # a small model that trains with it; raises Refused
    given: tuple[str, ...] = ()  # functions of the solution that the learner gets as they are
    start: str = ""  # what the learner gets, where it is not the solution with holes
    forbidden: tuple[str, ...] = ()  # operations of badak that are the answer
    may_write: bool = False  # whether it may change its arguments
    tolerance: float = 1e-4  # relative to the largest expected value, float32
    name: str = ""  # and the number: from the name of its file
    number: int = field(default=0, compare=False)

    @property
    def file(self) -> str:
        return f"{self.number:02}_{self.name}.py"

    def template(self) -> str:
        """The file that the learner begins with, in the person's language."""
        return f'"""{self.number:02} {self.title}\n\n{str(self.text).strip()}\n"""\n\n{HEAD}{self.start or self._with_holes()}'

    def program(self) -> ModuleType:
        """The solution, as a module."""
        return module(HEAD + self.solution)

    def expected(self) -> ModuleType:
        """What the learner's program must do: badak's own function, or the solution."""
        found = self.program()
        if self.oracle is not None:
            setattr(found, self.function, self.oracle)
        return found

    def holes(self) -> list[str]:
        """The names that the learner's program must define."""
        body = [node for node in ast.parse(self.solution).body if isinstance(node, ast.FunctionDef | ast.ClassDef)]
        helpers = {n.id for node in body for n in ast.walk(node) if isinstance(n, ast.Name) and n.id != node.name}
        return [node.name for node in body if node.name not in helpers]

    def _with_holes(self) -> str:
        lines, out, last = self.solution.splitlines(), [], 0
        for node in sorted(_functions(ast.parse(self.solution), self.given), key=lambda node: node.lineno):
            first = node.body[0].lineno - 1
            indent = " " * node.body[0].col_offset
            size = (node.end_lineno or first) - first
            word = Both(f"# Your code: about {size} lines.", f"# 여기에 코드를 쓰세요: {size}줄쯤.")
            out += [*lines[last:first], f"{indent}{word}", f"{indent}raise NotImplementedError"]
            last = node.end_lineno or first
        return "\n".join([*out, *lines[last:]]) + "\n"


def module(source: str, name: str = "exercise", path: str | None = "<solution>") -> ModuleType:
    """A program as a module."""
    made = ModuleType(name)
    made.__file__, made.__source__ = path, source  # type: ignore[attr-defined]
    exec(compile(source, path or "<exercise>", "exec"), made.__dict__)
    return made


def _functions(tree: ast.AST, given: tuple[str, ...]):
    """The functions and methods at the top of a program, but for those that are given."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef) and node.name not in given:
            yield node
        elif isinstance(node, ast.ClassDef):
            yield from _functions(node, given)
