"""What the threads of a team say to each other, in every order in which it can happen.

The code that is judged is that of `threads/team.py` itself: `_share` and `_serve` are run word by word, by a caller
and a member or by two callers and a member, through every interleaving, by a small model checker. What it looks for:

    a race      two accesses to plain memory (a record, the start of a counter, a result) that no edge puts in order
    a wrong job a worker that is called with another job's record, a task that is done twice or not at all
    a dead end  a state from which the program cannot end any more: a lost wake-up
    a sleeper   a member that sleeps while a job has a place for it

All words are accessed seq_cst, so that for a program without races, as this one is shown to be, the interleavings are all
that a CPU may do, AArch64 included (C++ [intro.races]: "sequential consistency for data-race-free programs"). An edge
carries what its thread knew: plain memory is in order only where a chain of such edges leads from one access to the other.
The counters of tasks are read and changed relaxed, and carry nothing.

Then the same with one step broken at a time. `relaxed_*` accesses carry nothing; `late_*` ones stay in the thread's store
buffer for a while, as a store with release order may, and as a relaxed addition does on AArch64. Each must be found.
"""

import ast
import inspect
from collections import deque

import pytest

from tests.kernels.twin import fast_kernels
from tests.tiers import few

fast_kernels()

from badak.kernels.numba.threadpool import pool as teams  # noqa: E402

pytestmark = pytest.mark.slow

WORDS = ["_BUSY", "_OPEN", "_INSIDE", "_SLEEPING", "_WAITING", "_QUIT", "_WORKER", "_RECORD", "_JOB", "_DONE"]
STEPS = {"_post": "post", "_wait": "wait", "swap_if": "atomic_swap", "relaxed_swap": "relaxed_swap"} | {
    f"{order}_{what}": f"{order}_{what}" for order in ("atomic", "relaxed", "late") for what in ("load", "store", "add")
}
SOURCE = inspect.getsource(teams._share) + "\n\n" + inspect.getsource(teams._serve)
TASKS = 2


class Broken(AssertionError):
    """The protocol does what it must not."""


class _Yielding(ast.NodeTransformer):
    """Calls of instructions become `(step := (yield (name, ...)))`, calls of a worker `yield from work(...)`.

    What a step gave is kept under a name of its own, "step_LINE_...", as long as the thread is in that line: then the local
    variables and the place in the code say where it is. ("step_for_..." as long as it likes: a loop remembers its range.)
    """

    def __init__(self):
        self.count, self.lasts = 0, ""

    def visit_For(self, node):
        self.lasts = "for"
        node.iter, self.lasts = self.visit(node.iter), ""
        node.body = [self.visit(each) for each in node.body]
        return node

    def visit_FunctionDef(self, node):
        self.generic_visit(node)
        if isinstance(node.body[-1], ast.While):  # what a round of the members' loop leaves behind, no later round reads
            ends = ast.parse("spins = places = 0").body
            node.body[-1].body += ends
        return node

    def visit_Call(self, node):
        self.generic_visit(node)
        name = node.func.id
        if name == "call":
            return ast.YieldFrom(ast.Call(ast.Name("work", ast.Load()), node.args, []))
        if name not in STEPS:
            return ast.Constant(None) if name == "pause" else node
        self.count += 1
        asked = ast.Yield(ast.Tuple([ast.Constant(STEPS[name]), *node.args], ast.Load()))
        return ast.NamedExpr(ast.Name(f"step_{self.lasts or node.lineno}_{self.count}", ast.Store()), asked)


def at(kind, record, number=0):
    """The place of something plain that belongs to a caller's record, after WORKER and RECORD."""
    return 2 + 8 * record + {"record": 0, "counter": 1, "result": 4}[kind] + number


def programs(source, threads, parts, jobs):
    """(caller, member): generator functions that yield what they do to memory and are sent what they read."""
    tree = ast.fix_missing_locations(_Yielding().visit(ast.parse(source)))
    scope = {name: WORDS.index(name) for name in WORDS} | {"_MEMBER_SPINS": 1, "_CALLER_SPINS": 1}

    def work(worker, record, thread):
        """As `_build_worker` of compiler/drivers.py, for any number of parts."""
        job = yield "read", at("record", record)
        if job != worker:
            raise Broken(f"a worker of job {worker} works on job {job}")
        for turn in range(parts):
            part = (thread + turn) % parts
            while True:
                task = yield "take", at("counter", record, part)
                if task >= (part + 1) * TASKS // parts:
                    break
                done = yield "read", at("result", record, task)
                if done != job - 1:
                    raise Broken(f"task {task} is done twice")
                yield "write", at("result", record, task), job

    def caller(number, last, members):
        """As the driver of a kernel; the record of the next job lies where the last one lay."""
        for job in range(1, jobs + 1):
            yield "write", at("record", number), job
            for part in range(parts):
                yield "write", at("counter", number, part), part * TASKS // parts
            yield from scope["_share"](job, number, threads, 0)
            for task in range(TASKS):
                done = yield "read", at("result", number, task)
                if done != job:
                    raise Broken(f"task {task} is not done")
        if last:  # as `_Team.quit`, once all callers are done
            yield ("join",)
            yield "relaxed_store", WORDS.index("_QUIT"), 1
            for _ in range(members):
                yield "post", 8

    scope["work"] = work
    exec(compile(tree, "team", "exec"), scope)
    return caller, lambda: scope["_serve"](0)


class Thread:
    """The places that a program can be at, each a number, and the ways between them, found when first gone."""

    def __init__(self, program):
        self.program = program
        self.numbers, self.histories, self.asked, self.ways = {}, [], [], {}
        self.start = self._place(())

    def _place(self, history):
        running = self.program()
        try:
            asked = next(running)
            for answer in history:
                asked = running.send(answer)
        except StopIteration:
            key, asked = "end", ("end",)
        else:
            key, frame = [], running
            while frame is not None:
                inner = frame.gi_frame
                values = [(name, inner.f_locals.get(name)) for name in inner.f_code.co_varnames]
                now = ("step", "for"), ("step", str(inner.f_lineno))
                own = [pair for pair in values if pair[0][:5] != "step_" or tuple(pair[0].split("_")[:2]) in now]
                key.append((inner.f_code.co_name, inner.f_lasti, tuple(own)))
                frame = frame.gi_yieldfrom
            key = (tuple(key), asked)
        if key not in self.numbers:
            self.numbers[key] = len(self.asked)
            self.asked.append(asked)
            self.histories.append(history)
        return self.numbers[key]

    def go(self, place, answer):
        """The place after this answer to what was asked."""
        if (place, answer) not in self.ways:
            self.ways[place, answer] = self._place((*self.histories[place], answer))
        return self.ways[place, answer]


class Memory:
    """A state: words, semaphores, places and store buffers of the threads; the values of plain memory, and who knows of them.

    known holds for each location who knows of its last write, then for each thread who knows of its last read since (0: none).
    "Who" is a set of bits: a thread's own, and one for each word and semaphore, for what the last release to it handed over.
    """

    def __init__(self, words, counts, places, late, values, known):
        self.words, self.counts, self.places, self.late, self.values, self.known = words, counts, places, late, values, known

    def copy(self):
        return Memory(self.words[:], self.counts[:], self.places[:], self.late[:], self.values[:], self.known[:])

    def key(self):
        each = 1 + len(self.places)
        threads = (1 << len(self.places)) - 1
        for i, who in enumerate(self.known):
            if who & threads == threads:  # what all know will never be missed
                self.known[i] = 0 if i % each else -1
        return tuple(map(tuple, (self.words, self.counts, self.places, self.late, self.values, self.known)))

    def pass_on(self, source, target, replace=False):
        """What `source` knows, `target` knows; where `replace`, nothing else."""
        a, b = 1 << source, 1 << target
        rest = ~b if replace else -1
        self.known = [who | b if who & a else who & rest for who in self.known]

    def plain(self, thread, what, location, value=None):
        """Read or write plain memory, or take from a counter: a relaxed addition."""
        first, bit, held = location * (1 + len(self.places)), 1 << thread, self.values[location]
        last = first + 1 + len(self.places) if what == "write" else first + 1
        if not all(who & bit for who in self.known[first:last] if who):
            raise Broken("a race on plain memory")
        if what == "write":
            self.values[location] = value
            self.known[first:last] = [bit] + [0] * len(self.places)
        else:
            self.values[location] += what == "take"
            self.known[first + 1 + thread] = bit
        return held

    def step(self, thread, asked):
        """Do what a thread asks for; gives the answer."""
        what, at, *values = asked
        order, _, name = what.partition("_")
        if what in ("post", "wait"):
            self.counts[at - 8] += 1 if what == "post" else -1
            self.pass_on(*((thread, 8 + at) if what == "post" else (8 + at, thread)))
            return 0
        old = self.words[at]
        if order == "late":
            self.late[thread] = (*self.late[thread], (name, at, values[0]))
            return 0
        if order == "atomic" and name != "store":
            self.pass_on(8 + at, thread)
        if name == "load":
            for kind, where, value in self.late[thread]:
                old = old if where != at else value if kind == "store" else old + value
            return old
        if name == "swap" and old != values[0]:
            return False
        self.words[at] = old + values[0] if name == "add" else values[-1]
        if order == "atomic":
            self.pass_on(thread, 8 + at, replace=name == "store")
        elif name == "store":
            self.pass_on(31, 8 + at, replace=True)  # 31: nobody, who knows nothing
        return True

    def drain(self, thread):
        """The oldest store in the thread's buffer reaches memory."""
        (name, at, value), *rest = self.late[thread]
        self.late[thread] = tuple(rest)
        self.words[at] = value if name == "store" else self.words[at] + value
        self.pass_on(thread, 8 + at, replace=name == "store")


class Checker:
    """All states of `callers` programs that call kernels and `members` of the team."""

    def __init__(self, source, callers=1, members=1, threads=2, parts=2, jobs=1):
        caller, member = programs(source, threads, parts, jobs)
        self.callers, self.members, self.full = callers, members, members < threads
        self.threads = [
            Thread(lambda number=number: caller(number, number == callers - 1, members)) for number in range(callers)
        ] + [Thread(member)] * members

    def asked(self, state, thread):
        return self.threads[thread].asked[state.places[thread]]

    def after(self, state, thread, answer):
        """The thread goes on with the answer, and through what it does to plain memory: no other thread takes part in that."""
        while True:
            state.places[thread] = self.threads[thread].go(state.places[thread], answer)
            asked = self.asked(state, thread)
            if asked[0] in ("read", "write"):
                answer = state.plain(thread, *asked)
            elif asked[0] == "atomic_load" and asked[1] in (8, 9):  # the semaphores, which never change
                answer = asked[1]
            elif asked[0] in ("atomic_load", "atomic_store") and asked[1] in (6, 7):  # here even plain memory would do
                answer = state.plain(thread, "read" if asked[0] == "atomic_load" else "write", asked[1] - 6, *asked[2:])
            else:
                return state

    def successors(self, state):
        for thread in range(len(self.threads)):
            asked = self.asked(state, thread)
            if state.late[thread]:
                after = state.copy()
                after.drain(thread)
                yield after
            if asked[0] == "end" or (asked[0] == "join" and not self._joined(state, thread)):
                continue
            if asked[0] == "wait" and state.counts[asked[1] - 8] == 0:
                continue
            if state.late[thread] and not self._overtakes(asked, state.late[thread]):
                continue
            after = state.copy()
            if asked[0] == "join":
                yield self.after(after, thread, 0)
            elif asked[0] == "take":
                yield self.after(after, thread, after.plain(thread, *asked))
            else:
                yield self.after(after, thread, after.step(thread, asked))

    def _overtakes(self, asked, late):
        """Whether a step may come before what is in the store buffer: a load, and what is relaxed, on another word."""
        order, _, name = asked[0].partition("_")
        return order == "late" or name == "load" or (order == "relaxed" and all(word != asked[1] for _, word, _ in late))

    def _joined(self, state, thread):
        return all(self.asked(state, other)[0] == "end" for other in range(self.callers) if other != thread)

    def look_for_sleepers(self, state):
        """While a caller works in its job, no member sleeps as long as there is a place."""
        sleeping = [t for t in range(self.callers, len(self.threads)) if self.asked(state, t)[:2] == ("wait", 8)]
        if not self.full or state.words[1] <= 0 or state.counts[0] >= len(sleeping):
            return
        if any(self.asked(state, caller)[0] == "take" and state.values[1] == caller for caller in range(self.callers)):
            raise Broken("a member sleeps next to an open job")

    def run(self):
        """Go through all states; how many there are. Raises Broken."""
        many = len(self.threads)
        places = [thread.start for thread in self.threads]
        size = at("record", self.callers)
        first = Memory([0] * 6, [0, 0], places, [()] * many, [0] * size, ([-1] + [0] * many) * size)
        for thread in range(many):
            asked = self.asked(first, thread)
            if asked[0] == "write":
                self.after(first, thread, first.plain(thread, *asked))
        numbers, waiting, into, ends = {first.key(): 0}, deque([first]), [[]], []
        while waiting:
            state = waiting.pop()
            here, going = numbers[state.key()], False
            self.look_for_sleepers(state)
            for after in self.successors(state):
                key, going = after.key(), True
                if key not in numbers:
                    numbers[key] = len(into)
                    into.append([])
                    waiting.append(after)
                into[numbers[key]].append(here)
            if not going:
                if any(self.asked(state, thread)[0] != "end" for thread in range(many)):
                    raise Broken("a dead end: " + str([self.asked(state, thread) for thread in range(many)]))
                ends.append(here)
        seen, back = set(ends), list(ends)
        while back:
            new = [one for one in into[back.pop()] if one not in seen]
            seen.update(new)
            back.extend(new)
        if len(seen) != len(into):
            raise Broken("a dead end: it goes on for ever")
        return len(into)


@pytest.mark.parametrize("threads", [2, 3])
def test_one_member_and_one_caller(threads):
    assert Checker(SOURCE, threads=threads, jobs=2).run() > 10_000


@pytest.mark.parametrize("sizes", few([{"jobs": 3, "parts": 1}, {"callers": 2, "parts": 1}], 1), ids=str)
def test_every_order_ends_well(sizes):
    assert Checker(SOURCE, **sizes).run() > 10_000


# What is taken away or weakened: (in the source, in its place, what must be found).
BROKEN = {
    "the job is not closed": ("    atomic_store(team + _OPEN, 0)\n", "", "race"),
    "members are not waited for": (
        "    while spins < _CALLER_SPINS and",
        "    return\n    while spins < _CALLER_SPINS and",
        "race",
    ),
    "the caller does not say that it sleeps": ("        atomic_store(team + _WAITING, 1)\n", "", "dead end"),
    "nobody wakes the caller": ("            _post(atomic_load(team + _DONE), 1, 0)", "            pass", "dead end"),
    "the caller sleeps before it looks": (
        "        while atomic_load(team + _INSIDE) != 0:\n            _wait(atomic_load(team + _DONE), -1)",
        "        _wait(atomic_load(team + _DONE), -1)",
        "dead end",
    ),
    "inside after the place is taken": (
        "        atomic_add(team + _INSIDE, 1)\n        places = atomic_load(team + _OPEN)\n"
        "        if places > 0 and swap_if(team + _OPEN, places, places - 1):\n",
        "        places = atomic_load(team + _OPEN)\n        taken = places > 0 and swap_if(team + _OPEN, places, places - 1)\n"
        "        atomic_add(team + _INSIDE, 1)\n        if taken:\n",
        "race",
    ),
    "a place is taken without looking again": (
        "if places > 0 and swap_if(team + _OPEN, places, places - 1):",
        "if places > 0:\n            atomic_store(team + _OPEN, places - 1)",
        "race",
    ),
    "a member sleeps before it looks": (
        "            if atomic_load(team + _OPEN) <= 0 and atomic_load(team + _QUIT) == 0:\n    ",
        "",
        "sleeps next to",
    ),
    "a member is not counted as asleep": ("            atomic_add(team + _SLEEPING, 1)\n", "", "sleeps next to"),
    "members do not look whether it is the end": ("while atomic_load(team + _QUIT) == 0:", "while True:", "dead end"),
    "opening hands nothing over": (
        "atomic_store(team + _OPEN, threads - 1)",
        "relaxed_store(team + _OPEN, threads - 1)",
        "race",
    ),
    "entering takes nothing over": (
        ("atomic_load(team + _OPEN)", "swap_if(team + _OPEN"),
        ("relaxed_load(team + _OPEN)", "relaxed_swap(team + _OPEN"),
        "race",
    ),
    "leaving hands nothing over": ("atomic_add(team + _INSIDE, -1)", "relaxed_add(team + _INSIDE, -1)", "race"),
    "waiting takes nothing over": ("atomic_load(team + _INSIDE)", "relaxed_load(team + _INSIDE)", "race"),
    "closing stays in the store buffer": ("atomic_store(team + _OPEN, 0)", "late_store(team + _OPEN, 0)", "race"),
    "entering stays in the store buffer, and taking a place overtakes it": (
        ("atomic_add(team + _INSIDE, 1)", "swap_if(team + _OPEN"),
        ("late_add(team + _INSIDE, 1)", "relaxed_swap(team + _OPEN"),
        "race",
    ),
    "leaving stays in the store buffer": ("atomic_add(team + _INSIDE, -1)", "late_add(team + _INSIDE, -1)", "dead end"),
    "waiting stays in the store buffer": (
        "atomic_store(team + _WAITING, 1)",
        "late_store(team + _WAITING, 1)",
        "dead end",
    ),
    "opening stays in the store buffer": (
        "atomic_store(team + _OPEN, threads - 1)",
        "late_store(team + _OPEN, threads - 1)",
        "sleeps next to",
    ),
    "falling asleep stays in the store buffer": (
        "atomic_add(team + _SLEEPING, 1)",
        "late_add(team + _SLEEPING, 1)",
        "sleeps next to",
    ),
}


@pytest.mark.thin(10)
@pytest.mark.parametrize("step", BROKEN)
def test_a_broken_step_is_found(step):
    old, new, finding = BROKEN[step]
    source = SOURCE
    for before, after in zip(*([old], [new]) if isinstance(old, str) else (old, new)):
        assert before in source
        source = source.replace(before, after)
    with pytest.raises(Broken, match=finding):
        Checker(source, threads=3, jobs=2).run()


def test_two_callers_that_share_a_team_are_found():
    old = "    if not swap_if(team + _BUSY, 0, 1):\n        call(worker, record, 0)\n        return\n"
    assert old in SOURCE
    with pytest.raises(Broken):
        Checker(SOURCE.replace(old, ""), callers=2, parts=1).run()
