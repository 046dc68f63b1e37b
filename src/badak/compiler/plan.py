"""What is known of one way to call a step: nothing, what its first call met, one recording, or the steps to replay."""

import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from badak import kernels
from badak.compiler.arguments import Arguments, is_plain, room_for, shown, state_of
from badak.compiler.capture import CHANGED, Recorder
from badak.compiler.entries import Prepared
from badak.compiler.frames import Frames
from badak.compiler.guards import Guards, Snapshot
from badak.compiler.memory import most_bytes, settle
from badak.compiler.native import player
from badak.compiler.places import Answer, Entry
from badak.compiler.reach import Reached
from badak.compiler.results import Results
from badak.compiler.snapshot import StateSnapshot
from badak.compiler.warmup import WarmUp
from badak.core import events
from badak.core.errors import tr
from badak.core.memory import give_back, holder_of
from badak.core.modes import modes
from badak.ops._broadcast import quiet
from badak.tensor import Tensor
from badak.tensor.attributes import held_by
from badak.tensor.dtypes import default_dtype

REDEFINED = tr("it changes more of its arguments than their values")
ASKED = tr("it asks where the memory of an argument lies, or how often that was written")
SHARED = tr("an argument shares memory with what it changes")
ALSO_NAMED = "an argument has a second name by which the step changes more than its values"
_recorded: weakref.WeakSet = weakref.WeakSet()  # plans that hold memory


class Plan:
    """One way to call a step. `call` runs it the first time, then records it twice; from then on `replay` does it.

    It depends on the modules and tensors that the step met: `drop` and `switched` tell it of changes.
    """

    def __init__(self, function: Callable):
        self.function = function
        self.refused = ""  # why it stays as it is
        self._changes_arguments = False  # whether the first call did
        self._modules: list = []  # that the first call met
        self.waits = ""  # why it was not recorded this time
        self.dropped = ""  # why it holds no more
        self.steps: list | None = None
        self.used = 0  # by the clock of `Compiled`: when it was replayed last
        self.replays = 0  # for BADAK_COMPILE_CHECK
        self.count = 0  # how often it was replayed
        self.bytes = 0
        self.guards = Guards(())
        self._away: set = set()  # ids of modules that are in another mode than when they were met
        self._scouted: tuple | None = None  # what memory the first call read and wrote; whether it redefined a tensor
        self.written: dict = {}  # id: owner of memory that it writes besides its arguments
        self.changes: set[int] = set()  # numbers of arguments that it changes in place
        self._reachable: dict | None = None  # id: owner of memory that it can reach, where it changes an argument
        self._given: dict = {}  # id of a leaf: the .grad that every replay gives it
        self._memory: list = []  # the arguments of recordings and replays
        self._first: tuple | None = None  # of the first recording: (trace, what must live, outside memory, what it found out)
        self._read: Snapshot | None = None  # what the first recording could read, as it was at its end
        self._restarts = 0  # how often something that it reads had changed before the second recording

    # ------------------------------------------------------------------ what it depends on

    def drop(self, how: str) -> None:
        """Something that the step met is another one now."""
        self.dropped = self.dropped or how
        self._let_go()

    def switched(self, module) -> None:
        """A module that the step met went from training to evaluation, or back."""
        self._away ^= {id(module)}

    def grad_handed_out(self, leaf) -> None:
        """The program takes a leaf's .grad, whose memory every replay writes again: it gets memory of its own."""
        grad = self._given.get(id(leaf))
        if grad is not None and leaf._grad is grad:
            leaf._grad = leaf._of(grad._array.copy(order="K"))

    def applies(self) -> bool:
        """Whether all that the step met is in the mode, and all that it reads has the value, that it had."""
        return not self._away and self.guards.hold()

    def holds(self) -> bool:
        """Whether it can be replayed now."""
        if self.dropped or self.steps is None or not self.applies() or self.machine != machine():
            return False
        return all(_has(leaf, grad) for leaf, grad in self.grads)

    def suits(self, args) -> bool:
        """Whether these are tensors as it was recorded for, in the same modes."""
        if len(args) != len(self.arrays) or self.modes != (modes.grad, modes.inference) or len({*map(id, args)}) < len(args):
            return False
        for x, mine, of_inference in zip(args, self.arrays, self.inference):
            if type(x) is not Tensor or (x._requires_grad if x._whole is None else x.requires_grad) or not is_plain(x):
                return False
            if x._inference is not of_inference:
                return False
            array = x._array
            if array.shape != mine.shape or array.dtype is not mine.dtype or array.strides != mine.strides:
                return False
        return True

    def shares(self, tensors) -> bool:
        """Whether one of these is memory that the step writes besides."""
        return bool(self.written or self.changes) and self._meets(tensors, self.written)

    # ------------------------------------------------------------------ from the first call to the last recording

    def call(self, found: Arguments):
        """Run, or record. `refused` says afterwards why it will not be recorded."""
        give_back()  # what was freed before adds to the peak of a call that needs a little more than others
        return self._scout(found) if self._scouted is None else self._record(found)

    def _scout(self, found: Arguments):
        """The first call, which only runs, and may make what is missing."""
        before = [state_of(x) for x in found.tensors]
        with WarmUp() as scout:
            result = self.function(*found.args, **found.kwargs)
        own = {id(holder_of(x._array)) for x in found.tensors}
        self._scouted = scout.memory, own, scout.redefines
        self._modules, scout.modules = list(scout.modules.values()), {}
        self._depend_on(self._modules)
        again = Arguments(found.args, found.kwargs)
        if found.trouble:
            self.refuse(found.trouble)
        elif [was[0] for was in before] != [state_of(x)[0] for x in found.tensors] or again.key != found.key:
            self.refuse(REDEFINED)
        elif scout.asks_of(own):
            self.refuse(ASKED)
        elif before != [state_of(x) for x in found.tensors]:
            self._changes_arguments = True
        return result

    def refuse(self, why: str) -> None:
        """Stay as it is, with this reason, as long as what it met is the same."""
        self.refused = self.refused or why
        self._let_go()

    def _record(self, found: Arguments):
        if self._first is None:
            self._memory = [room_for(x._array) for x in found.tensors]
            if any(memory is None for memory in self._memory):
                self.refuse(tr("an argument is scattered over much memory"))
                return self.function(*found.args, **found.kwargs)
        scouted, own, redefines = self._scouted  # type: ignore[misc]
        if self._changes_arguments and self._reachable is None:
            return self._look_around(found)
        written = {key for key in scouted()[1] if not (self._changes_arguments and key in own)}
        if self._meets(found.tensors, written):
            self.waits = SHARED
            return self.function(*found.args, **found.kwargs)
        if self._has_to_wait():
            return self.function(*found.args, **found.kwargs)
        surroundings = StateSnapshot([self.function, found.objects, *self._met(scouted()[0], own)], found.tensors)
        if redefines and surroundings.meets_argument:  # the step is given twins of its arguments, which would stay as they are
            self.waits = ALSO_NAMED
            return self.function(*found.args, **found.kwargs)
        if self._changes_arguments and surroundings.holds_memory_of(found.tensors):
            self.waits = SHARED
            return self.function(*found.args, **found.kwargs)
        before = [x._array.tobytes() for x in found.tensors]
        for memory, x in zip(self._memory, found.tensors):
            memory[...] = x._array
        recorder = Recorder(self._memory, surroundings, *(() if self._first is None else (self._first[3], self._first[0])))
        inputs = [shown(memory, x) for memory, x in zip(self._memory, found.tensors)]
        args, kwargs = found.on(inputs)
        try:
            with recorder:
                result = self.function(*args, **kwargs)
                results = Results(result, recorder, inputs, found.twins())
        except BaseException:  # what was done until then stays done
            self._hand_back(found, inputs, before, recorder)
            found.own(None, inputs, recorder.aliases())
            raise
        self._hand_back(found, inputs, before, recorder)
        self._depend_on([*recorder.modules.values(), *recorder.tensors.values()])
        given = self._noted(found, recorder, result, results)
        return found.own(result, inputs, recorder.aliases()) if self.refused else given

    def _look_around(self, found: Arguments):
        """A call that only runs, for a step that changes its arguments: what memory can it reach by other names?"""
        frames = Frames(lambda why: None)
        frames.start()
        try:
            return self.function(*found.args, **found.kwargs)
        finally:
            frames.stop()
            self._reachable = Reached(frames.executed, self._roots(found), self._modules).owners()

    def _meets(self, tensors, written) -> bool:
        """Whether an argument is memory that the step also knows by another name, and one of the two is written."""
        owners = {id(holder_of(x._array)) for x in tensors}
        if self._reachable is not None and (len(owners) < len(tensors) or not owners.isdisjoint(self._reachable)):
            return True
        return not owners.isdisjoint(written)

    def _has_to_wait(self) -> bool:
        """Whether nobody can watch now, or something that the step reads is another one in every call."""
        self.waits = Frames.trouble()
        if self._first is not None and self._read is not None and (changed := self._read.changed(consumed=False)):
            self._first, self._read = None, None  # it begins again
            self._restarts += 1
            if self._restarts > _MOST_RESTARTS:
                self.refuse(tr("{} is another one in each call", changed))
        elif self._read is not None:
            self._read.look_again()
        return bool(self.waits or self.refused)

    def _met(self, read: dict, own: set) -> list:
        """The memory that calls before this one met."""
        met = [*(owner for key, owner in read.items() if key not in own), *(self._first[2].values() if self._first else ())]
        return [owner for owner in met if isinstance(owner, np.ndarray)]

    def _hand_back(self, found: Arguments, inputs, before, recorder: Recorder) -> None:
        """Let the caller's arguments be as the step has left its own."""
        for number, (mine, x, values) in enumerate(zip(inputs, found.tensors, before)):
            if mine._array.tobytes() != values or (mine._version_counter is not None and mine._version_counter.count):
                x._array[...] = mine._array
                x._watch().bump("compile")
                if number not in recorder.changed_arguments or not self._changes_arguments:
                    recorder.refuse(CHANGED)
            elif x._array.tobytes() != values:
                recorder.refuse(SHARED)
            if not is_plain(mine):
                vars(x).update(vars(mine))
                x._grad = mine._grad if mine._grad is not None else x._grad
                recorder.refuse(REDEFINED)
        if found.give_back(inputs):
            recorder.refuse(REDEFINED)

    def _noted(self, found: Arguments, recorder: Recorder, result, results: Results):
        """Keep what a recording says, or refuse; gives the result of the call."""
        held: list = []
        try:
            places = {} if recorder.trouble else self._reads(found, recorder)
            if self._first is None:
                self._read = Snapshot(places.values())
            elif not recorder.trouble:
                held = self._compare_reads(places, recorder)
        except Exception as error:  # whatever an object of the program answers when it is looked at
            recorder.refuse(tr("what it reads cannot be looked at ({})", type(error).__name__))
        if self._first is not None:
            recorder.compare(self._first[0])
        if recorder.trouble:
            self.refuse(recorder.trouble)
            return result
        if self._first is None:
            found_out = recorder.repeats.wanted, recorder.gradients.found, recorder.frames.executed
            self._first = recorder.trace, recorder.origins.alive, recorder.origins.outside(), found_out
        else:
            self._first = self._read = None
            self.guards = Guards(held)
            self._build(found, recorder, results)
        return results.hand_out(found.tensors)

    def _build(self, found: Arguments, recorder: Recorder, results: Results) -> None:
        self._scouted, self._modules = None, []
        anew = {key for key, (_, _, read) in recorder.leaves.items() if not read}
        held = settle(recorder.entries, results.arrays(), recorder.origins, anew, recorder.gradients)
        if not self._take_room(held + sum(array.nbytes for array in self._memory)):
            return
        self.grads = [(leaf, None if grad is None else grad._array) for leaf, grad, read in recorder.leaves.values() if read]
        self._given = {id(leaf): leaf._grad for leaf, _, _ in recorder.leaves.values() if id(leaf) in anew}
        self.met = list(recorder.tensors.values()), list(recorder.stateful.values())
        self.machine, self.modes = machine(), (modes.grad, modes.inference)
        self.results, self.arrays = results, self._memory
        self.inference = [x._inference for x in found.tensors]
        self.written, self.changes = recorder.written, recorder.changed_arguments
        self.entries = recorder.entries  # whose arrays must live
        self.steps = _steps(self.entries)

    def _roots(self, found: Arguments) -> list:
        return [("", self.function), *((f"an argument of {type(x).__name__}", x) for x in found.objects)]

    def _reads(self, found: Arguments, recorder: Recorder) -> dict:
        """The places that the step has read."""
        reached = Reached(recorder.frames.executed, self._roots(found), recorder.modules.values(), recorder.tensors.values())
        if reached.trouble:
            recorder.refuse(reached.trouble)
        if self._reachable is not None:
            self._reachable |= reached.owners()
        return reached.places

    def _compare_reads(self, places: dict, recorder: Recorder) -> list:
        """What both recordings have read, and what was found there; refuses where the step changes it, or nobody can compare it."""
        assert self._read is not None
        announced = {Entry(held_by(holder), name, name).key: value for holder, name, value in recorder.decides_by()}
        holders = {id(holder) for holder, *_ in recorder.decides_by()}
        announced |= {key: place for key, place in self._read.places() if type(place) is Answer and id(place.container) in holders}
        held = [(place, before) for place, before in self._read.common(places) if place.key not in announced]
        for place, before in held:
            if trouble := place.trouble(before):
                recorder.refuse(trouble)
        if not recorder.trouble and (changed := self._read.changed(besides=announced)):
            recorder.refuse(tr("{} changes while it runs, and nothing says that a replay has to do it again", changed))
        decided = [(Entry(held_by(holder), name, name), [value]) for holder, name, value in recorder.decided.values()]
        return held + decided

    def _depend_on(self, things) -> None:
        for thing in things:
            events.dependents.add(thing, self)

    def _take_room(self, size: int) -> bool:
        """Take so many bytes, from recordings that have not been replayed for long if need be; whether they are there."""
        others = sorted((plan for plan in _recorded if plan.steps is not None), key=lambda plan: plan.used)
        most = most_bytes()
        free = most - sum(plan.bytes for plan in others)
        for plan in others:
            if size > free and plan.is_idle():
                free += plan.bytes
                plan.drop("its memory was needed for another recording")
        if size > free:
            self.refuse(tr("recordings take more than {} MiB together", most >> 20))
            return False
        self.bytes = size
        _recorded.add(self)
        return True

    def is_idle(self) -> bool:
        """Whether it was not replayed for long."""
        return clock.now - self.used > _IDLE

    def _let_go(self) -> None:
        self.steps, self._first, self._read, self._reachable = None, None, None, None  # which keep what they found alive
        self._scouted, self._modules, self._memory, self.bytes = None, [], [], 0
        self.arrays = self.entries = self.results = self.grads = None  # type: ignore[assignment]
        self.written = {}
        self._given = {}
        _recorded.discard(self)

    # ------------------------------------------------------------------ replays

    @quiet
    def replay(self, tensors):
        """Give the arguments these values, and do the entries again."""
        self.used = clock.tick()
        self.count += 1
        for mine, x in zip(self.arrays, tensors):
            mine[...] = x._array
        before, modes.grad = modes.grad, False
        try:
            for step in self.steps:  # type: ignore[union-attr]
                step()
        finally:
            modes.grad = before
            for number in self.changes:
                x = tensors[number]
                x._array[...] = self.arrays[number]
                x._watch().bump("compile")
        return self.results.hand_out(tensors)


class _Clock:
    """Counts replays of the process."""

    now = 0

    def tick(self) -> int:
        self.now += 1
        return self.now


clock = _Clock()
_MOST_RESTARTS = 3  # of the two recordings, where something else has changed in between
_IDLE = 1000  # replays of others after which a recording gives its memory away


def _has(leaf, grad) -> bool:
    """Whether the leaf's .grad is this array, or None."""
    return leaf._grad is None if grad is None else leaf._grad is not None and leaf._grad._array is grad


def machine() -> tuple[Any, int, Any]:
    """What a recording is made for: the kernel set, its number of threads, and the dtype of what numbers become."""
    chosen = kernels.active()
    return chosen, getattr(chosen, "get_num_threads", int)(), default_dtype()


def _steps(entries) -> list[Callable[[], None]]:
    """Functions that do the entries again; the kernel calls of neighbours become one list."""
    steps: list[Callable[[], None]] = []
    waiting: list = []
    for entry in entries:
        if entry.calls is not None:
            waiting.append(entry)
            continue
        if waiting:
            steps.append(player(waiting))
            waiting = []
        steps.append(entry.player(player([entry])) if isinstance(entry, Prepared) else entry.redo)
    if waiting:
        steps.append(player(waiting))
    return steps
