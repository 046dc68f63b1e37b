"""The threads that kernels run on: a team of our own, which nobody has to wait for.

A kernel opens its job to the team, works itself until no task is left, closes the job, and waits only for members that
have entered it. A member that the operating system has not woken in time, because other processes hold the cores, is not
waited for. Measured on two cores with six busy processes, 1 against 2 threads, mean of a call of 63 us: an OpenMP region,
which waits for every thread, 0.2 against 4 to 6.5 ms; this team 0.2 against 0.34 ms. Members spin for a while after a
job, as the next kernel usually comes soon, and then sleep on a semaphore.

Several Python threads may call kernels at once: one has the team, the others work alone. A forked child has no members
and computes on one thread until `set_num_threads` asks for more.

What the threads share is one record of int64 words. All accesses to them are seq_cst. `docs/explanation/threads.md` argues why
that is right on CPUs that reorder memory; `tests/kernels/test_pool_protocol.py` runs both sides through every order.

    BUSY       1 while a caller has the team           written by callers
    OPEN       places in the job that are free         set and closed by the caller, taken by members
    INSIDE     members that may be in the job          counted by members, awaited by the caller
    SLEEPING   members that sleep or are about to      counted by members; that many are woken at most
    WAITING    1 while the caller sleeps               written by the caller; who leaves then wakes it
    QUIT       1 from the end of the interpreter on
    WORKER, RECORD   what to call in this job          written by the caller before OPEN
    JOB, DONE  the semaphores on which members, and the caller, sleep
"""

import atexit
import ctypes
import os
import sys
import threading

import numpy as np

from badak.core.errors import ArgumentError, tr
from badak.core.machine import cores
from badak.kernels.numba.codegen.atomics import atomic_add, atomic_load, atomic_store, call, pause, swap_if
from badak.kernels.numba.codegen.cache import to_stderr
from badak.kernels.numba.codegen.compile import JIT, compile_function
from badak.kernels.numba.codegen.linking import compile_callback, extern, link

# Where the team's words lie, in bytes from its address; each has a cache line of its own.
_BUSY, _OPEN, _INSIDE, _SLEEPING, _WAITING, _QUIT, _WORKER, _RECORD, _JOB, _DONE, _END = range(0, 11 * 64, 64)
_MEMBER_SPINS, _CALLER_SPINS = 5_000, 2_000  # before they sleep: about 150 and 60 us
_MOST = 1_024

_wait = extern("badak_semaphore_wait", "ll")  # (semaphore, -1): for ever
_post = extern("badak_semaphore_post", "lll")  # (semaphore, 1, 0)


def _share(worker, record, threads, team):
    """Call worker(record, 0) on this thread, and worker(record, i) on up to threads - 1 members that come in time."""
    if not swap_if(team + _BUSY, 0, 1):
        call(worker, record, 0)
        return
    atomic_store(team + _WORKER, worker)
    atomic_store(team + _RECORD, record)
    atomic_store(team + _OPEN, threads - 1)
    for _ in range(min(threads - 1, atomic_load(team + _SLEEPING))):
        _post(atomic_load(team + _JOB), 1, 0)
    call(worker, record, 0)
    atomic_store(team + _OPEN, 0)
    spins = 0
    while spins < _CALLER_SPINS and atomic_load(team + _INSIDE) != 0:
        spins += 1
        pause()
    if spins == _CALLER_SPINS:
        # A member was probably put aside in the middle of a task: sleeping leaves it this core.
        atomic_store(team + _WAITING, 1)
        while atomic_load(team + _INSIDE) != 0:
            _wait(atomic_load(team + _DONE), -1)
        atomic_store(team + _WAITING, 0)
    atomic_store(team + _BUSY, 0)


def _serve(team):
    """What a member does until the team quits: enter each job once there is a place, and work in it."""
    while atomic_load(team + _QUIT) == 0:
        spins = 0
        while spins < _MEMBER_SPINS and atomic_load(team + _OPEN) <= 0:
            spins += 1
            pause()
        if spins == _MEMBER_SPINS:
            atomic_add(team + _SLEEPING, 1)
            # Asked once more after being counted as asleep: a job opened in between would not wake this member.
            if atomic_load(team + _OPEN) <= 0 and atomic_load(team + _QUIT) == 0:
                _wait(atomic_load(team + _JOB), -1)
            atomic_add(team + _SLEEPING, -1)
        # Inside before a place is taken: who closes the job sees either the place free or the member inside.
        atomic_add(team + _INSIDE, 1)
        places = atomic_load(team + _OPEN)
        if places > 0 and swap_if(team + _OPEN, places, places - 1):
            call(atomic_load(team + _WORKER), atomic_load(team + _RECORD), places)
        atomic_add(team + _INSIDE, -1)
        if atomic_load(team + _WAITING) != 0:
            _post(atomic_load(team + _DONE), 1, 0)


def _link_semaphores():
    """(make, post): a function that makes a semaphore of the operating system, and the one that posts to it.

    make() gives something to keep, whose `value` or address is the semaphore. Compiled code finds both functions by name.
    """
    if sys.platform == "win32":
        system, names = ctypes.WinDLL("kernel32"), ("WaitForSingleObject", "ReleaseSemaphore")
        system.CreateSemaphoreW.restype = ctypes.c_void_p
        make = lambda: ctypes.c_void_p(system.CreateSemaphoreW(None, 0, 1 << 30, None))
    elif sys.platform == "darwin":
        system, names = ctypes.CDLL(None), ("dispatch_semaphore_wait", "dispatch_semaphore_signal")
        system.dispatch_semaphore_create.restype = ctypes.c_void_p
        make = lambda: ctypes.c_void_p(system.dispatch_semaphore_create(ctypes.c_long(0)))
    else:
        system, names = ctypes.CDLL(None), ("sem_wait", "sem_post")

        def make():
            kept = ctypes.create_string_buffer(64)
            system.sem_init(kept, 0, 0)
            return kept

    link("badak_semaphore_wait", getattr(system, names[0]))
    link("badak_semaphore_post", getattr(system, names[1]))
    return make, getattr(system, names[1])


def _default_size():
    """BADAK_NUM_THREADS or OMP_NUM_THREADS where set, else the cores that this process may use."""
    asked = os.environ.get("BADAK_NUM_THREADS", "").strip()
    if asked:
        count = int(asked) if asked.isascii() and asked.isdigit() and len(asked) < 9 else 0
        if not 1 <= count <= _MOST:
            cause = tr("BADAK_NUM_THREADS: expected a number of threads from 1 to {}; got {!r}", _MOST, asked[:40])
            raise ArgumentError(cause, "BADAK_NUM_THREADS=2, or leave it unset: then there are as many as cores")
        return count
    others = os.environ.get("OMP_NUM_THREADS", "")  # of other libraries too: what they alone understand is left to them
    if others.isascii() and others.isdigit() and int(others) > 0:
        return min(int(others), _MOST)
    return cores()


class _Team:
    """How many threads kernels use, and the members that run."""

    def __init__(self):
        self.size = _default_size()
        self.address = 0  # of the words; it never changes, because kept calls know it
        self.members = []
        self.guard = threading.Lock()

    def after_fork(self):
        """The members stayed in the parent process; a worker process computes alone unless it asks for threads.

        They may have been counted as inside or asleep, and another thread may have had the team.
        """
        self.size, self.members, self.guard = 1, [], threading.Lock()
        if self.address:
            ctypes.memset(self.address, 0, _JOB)

    def start(self):
        """The address of the team for compiled code; from now on there are enough members for its size."""
        if JIT and (self.address == 0 or len(self.members) < self.size - 1):
            with self.guard:
                if self.address == 0:
                    self._set_up()
                if not self.members:
                    self._make_semaphores()
                while len(self.members) < self.size - 1:
                    member = threading.Thread(target=self._served, args=(self.address,), name="badak-kernel", daemon=True)
                    try:
                        member.start()
                    except (RuntimeError, MemoryError):  # the system gives no more: the bits are the same with fewer
                        to_stderr(tr("{} threads were asked for, the system gives {}", self.size, len(self.members) + 1))
                        self.size = len(self.members) + 1
                        break
                    self.members.append(member)
        return self.address

    def _set_up(self):
        self._make, self._post = _link_semaphores()
        self._words = np.zeros(_END // 8 + 8, np.int64)
        self._shared = compile_callback("badak_share", _share, "i i i i")
        self._served = compile_function(_serve, "i")
        self.address = -(-self._words.ctypes.data // 64) * 64

    def _make_semaphores(self):
        self._job, self._done = self._make(), self._make()
        for place, semaphore in ((_JOB, self._job), (_DONE, self._done)):
            handle = semaphore.value if isinstance(semaphore, ctypes.c_void_p) else ctypes.addressof(semaphore)
            ctypes.c_int64.from_address(self.address + place).value = handle

    def quit(self):
        """Send the members home before the interpreter takes their code away."""
        if self.members:
            ctypes.c_int64.from_address(self.address + _QUIT).value = 1
            for _ in self.members:
                self._post(self._job, 1, None)
            for member in self.members:
                member.join(timeout=1)


team = _Team()
atexit.register(team.quit)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=team.after_fork)


def get_num_threads():
    """Threads that a kernel with enough work runs on."""
    return team.size


def set_num_threads(count):
    """Let kernels use `count` threads; more than there are cores is allowed. The bits of results do not change.

    Raises ArgumentError unless 1 <= count <= 1024.
    """
    if not 1 <= count <= _MOST:
        cause = tr("set_num_threads: expected 1 <= count <= {}; got count={}", _MOST, count)
        raise ArgumentError(cause, "as many threads as there are cores")
    team.size = int(count)
