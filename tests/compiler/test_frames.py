"""Of the program's instructions only those that ran count; where Python did not tell of them, all do."""

import gc
import subprocess
import sys
import weakref

import pytest

import badak
from badak.compiler.code import facts

FIRST = """
from badak.compiler.frames import Frames

def f(x, a):
    return x * a.rate if x else x * a.other

class A:
    rate = other = 2

frames = Frames(print)
frames.start()
f(1.0, A())
frames.stop()
"""


@pytest.mark.slow
def test_the_first_call_of_a_process_is_followed():
    shown = "from badak.compiler.code import facts\nran = frames.executed[f.__code__].ran\nprint(facts(f.__code__, ran).chains)"
    found = subprocess.run([sys.executable, "-c", FIRST + shown], capture_output=True, text=True, check=True)
    assert "'rate'" in found.stdout
    assert "'other'" not in found.stdout


@pytest.mark.skipif(sys.gettrace() is not None, reason="a debugger or coverage follows the tests")
def test_instructions_of_which_python_does_not_tell_all_count(monkeypatch):
    """As in Python 3.12.1 and 3.13.0, which forget them in a process's first call."""
    settrace = sys.settrace

    def deaf(tracer):
        def local(inner):
            return lambda frame, event, what: local(inner(frame, event, what)) if event != "opcode" else local(inner)

        settrace(tracer and (lambda frame, event, what: (inner := tracer(frame, event, what)) and local(inner)))

    monkeypatch.setattr(sys, "settrace", deaf)
    space = {"__name__": "a_program"}
    exec(FIRST, space)
    f, frames = space["f"], space["frames"]
    ran = frames.executed[f.__code__].ran
    assert ran is None
    assert {chain.names for chain in facts(f.__code__, ran).chains} >= {("rate",), ("other",)}


@pytest.mark.filterwarnings("ignore:compile")
def test_a_refused_step_keeps_nothing_alive_that_it_found():
    class Thing:
        n = 1.0

    kept = [Thing()]
    seen, known = weakref.ref(kept[0]), weakref.WeakSet(kept)
    step = badak.compile(lambda x: x * sum(thing.n for thing in known))
    collects = gc.isenabled()
    gc.disable()  # it must not take Python's collector
    try:
        for _ in range(2):
            step(badak.ones(2))
        assert "weak reference" in step.fallback_reason
        kept.clear()
        assert seen() is None
    finally:
        if collects:
            gc.enable()
