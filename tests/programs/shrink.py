"""A program that differs, with everything dropped that does not matter."""

from collections.abc import Callable

from tests.programs.source import Block


def shrunk(program: Block, differs: Callable[[str], bool], most: int = 400) -> Block:
    """The program without statements as long as it `differs`, in at most so many trials: halves first, then single ones."""
    trials, size = 0, max(program.count() // 2, 1)
    while size:
        at, smaller = program.count(), False
        while at > 0:
            first = max(at - size, 0)
            other = program.without(first, at)
            trials += 1
            if trials > most:
                return program
            if str(other) != str(program) and differs(str(other)):
                program, smaller = other, True
            at = min(first, program.count())
        if not smaller or size > 1:
            size //= 2
    return program
