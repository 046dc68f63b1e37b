"""Store: what programs call. A store answers commands (`contents.py`); who has to wait asks again, until its time is over."""

import threading
import time
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any, TypeVar

from badak.core.errors import ArgumentError, ArgumentTypeError, NotSupportedError, expect_kind, tr
from badak.core.public_api import guard_types
from badak.distributed.errors import DistStoreError, QueueEmptyError
from badak.distributed.stores.contents import Contents

FIVE_MINUTES = timedelta(minutes=5)  # that a store waits, as in PyTorch
Key = TypeVar("Key", str, str | bytes)
PAUSE = 0.02  # seconds between two questions at most


class Store:
    """Keys with values that several processes, or threads, share: the first to come sets, the others wait and get."""

    def __init__(self) -> None:
        self._timeout = FIVE_MINUTES

    @property
    def timeout(self) -> timedelta:
        """How long `get` and `wait` wait."""
        return self._timeout

    def set_timeout(self, timeout: timedelta) -> None:
        """Let `get` and `wait` wait so long."""
        self._timeout = expect_timeout(timeout, "Store.set_timeout")

    def set(self, key: str, value: str | bytes) -> None:
        """Give a key a value."""
        self._ask("set", self._key(key), as_text(value))

    def get(self, key: str) -> bytes:
        """The value of a key, once it has one. Raises DistStoreError where that takes longer than the timeout."""
        return self.multi_get([key])[0]

    def multi_set(self, keys: Sequence[str], values: Sequence[str | bytes]) -> None:
        """Give keys their values."""
        if len(expect_keys(keys)) != len(expect_keys(values)):
            raise ArgumentError(tr("Store.multi_set: {} keys, but {} values", len(keys), len(values)), "a value for each key")
        self._ask("set", *(part for key, value in zip(keys, values) for part in (self._key(key), as_text(value))))

    def multi_get(self, keys: Sequence[str]) -> list[bytes]:
        """The values of keys, once all have one."""
        names = [self._key(key) for key in expect_keys(keys)]
        return [as_bytes(value) for value in self._until(lambda: self._ask("get", *names), keys)]

    def add(self, key: str, amount: int) -> int:
        """Add to the number of a key, which starts at 0; the sum. The value is the number as text."""
        expect_kind(amount, int, "Store.add: expected an int; got {}", "store.add(key, 1)")
        total = self._ask("add", self._key(key), int(amount))
        if total is None:
            raise ArgumentError(tr("Store.add: the value of {!r} is no number", key), "a key of its own for each counter")
        return total

    def check(self, keys: Sequence[str]) -> bool:
        """Whether all keys have a value."""
        return self._ask("check", *map(self._key, expect_keys(keys)))

    def wait(self, keys: Sequence[str], timeout: timedelta | None = None) -> None:
        """Wait until all keys have a value. Raises DistStoreError after the timeout."""
        names = [self._key(key) for key in expect_keys(keys)]
        self._until(lambda: self._ask("check", *names) or None, keys, timeout)

    def compare_set(self, key: str, expected_value: str | bytes, desired_value: str | bytes) -> bytes:
        """Give a key another value where it has the expected one, or none and "" is expected; the value that it then has."""
        return as_bytes(self._ask("compare_set", self._key(key), as_text(expected_value), as_text(desired_value)))

    def append(self, key: str, value: str | bytes) -> None:
        """Put more behind the value of a key."""
        self._ask("append", self._key(key), as_text(value))

    def delete_key(self, key: str) -> bool:
        """Take out a key; whether there was one."""
        return self._ask("delete", self._key(key))

    def num_keys(self) -> int:
        """How many keys there are."""
        return len(self._ask("keys"))

    def list_keys(self) -> list[str]:
        """All keys."""
        return self._ask("keys")

    def queue_push(self, key: str, value: str | bytes) -> None:
        """Put a value at the end of a queue."""
        self._ask("push", self._key(key), as_text(value))

    def queue_pop(self, key: str, block: bool = True) -> bytes:
        """The first value of a queue, once there is one; with block=False, QueueEmptyError where there is none."""
        name = self._key(key)
        if block:
            return as_bytes(self._until(lambda: self._ask("pop", name), [key]))
        value = self._ask("pop", name)
        if value is None:
            raise QueueEmptyError(tr("queue is empty: {!r}", key), "block=True waits for the next value")
        return as_bytes(value)

    def queue_len(self, key: str) -> int:
        """How many values wait in a queue."""
        return self._ask("length", self._key(key))

    def barrier(self, key: str, world_size: int, timeout: timedelta | None = None) -> None:
        """Wait until world_size processes have called this with the same key."""
        if self.add(key, 1) >= world_size:
            self.set(f"{key}/all", "1")
        self.wait([f"{key}/all"], timeout)

    def has_extended_api(self) -> bool:
        """Whether there are append, multi_get, multi_set and queues."""
        return True

    def clone(self) -> "Store":
        """A store of the same keys, for another thread."""
        return self

    def _key(self, key: str) -> str:
        expect_kind(key, str, "Store: expected a key to be a str; got {}", "str(key)")
        return key

    def _ask(self, command: str, *args: Any) -> Any:
        cause = tr("{}: a store that keeps nothing by itself", type(self).__name__)
        raise NotSupportedError(cause, "dist.FileStore, dist.TCPStore or dist.HashStore")

    def _until(self, ask: Callable[[], Any], keys: Sequence[str], timeout: timedelta | None = None) -> Any:
        """The first answer that is not None."""
        seconds = (self.timeout if timeout is None else expect_timeout(timeout, "Store.wait")).total_seconds()
        end, pause = time.monotonic() + seconds, 0.001
        while (answer := ask()) is None:
            left = end - time.monotonic()
            if left <= 0:
                fix = tr("look at the process that should set them; a longer wait: store.set_timeout(timedelta(minutes=10))")
                raise DistStoreError(tr("wait timeout after {:.0f}ms, keys: {}", seconds * 1000, tr(", ").join(keys)), fix)
            time.sleep(min(pause, left))
            pause = min(2 * pause, PAUSE)
        return answer


class HashStore(Store):
    """A store within one process: its threads share it."""

    def __init__(self) -> None:
        super().__init__()
        self._contents, self._lock = Contents(), threading.Lock()

    def _ask(self, command: str, *args: Any) -> Any:
        with self._lock:
            return self._contents.do(command, *args)


class PrefixStore(Store):
    """A part of another store: each key has a prefix there."""

    def __init__(self, prefix: str, store: Store) -> None:
        expect_kind(store, Store, "PrefixStore: expected a store; got {}", "PrefixStore(prefix, FileStore(path))")
        super().__init__()
        self._prefix, self._store = super()._key(prefix), store

    underlying_store = property(lambda self: self._store)

    @property
    def timeout(self) -> timedelta:
        """That of the other store."""
        return self._store.timeout

    def set_timeout(self, timeout: timedelta) -> None:
        """Change that of the other store."""
        self._store.set_timeout(timeout)

    def list_keys(self) -> list[str]:
        """The keys with this prefix, without it."""
        start = self._key("")
        return [key.removeprefix(start) for key in self._ask("keys") if key.startswith(start)]

    def clone(self) -> "PrefixStore":
        """The same part of a clone."""
        return PrefixStore(self._prefix, self._store.clone())

    def _key(self, key: str) -> str:
        return self._store._key(f"{self._prefix}/{super()._key(key)}")

    def _ask(self, command: str, *args: Any) -> Any:
        return self._store._ask(command, *args)


def as_text(value: str | bytes) -> str:
    """A value as `contents.py` keeps it."""
    if isinstance(value, str):
        value = value.encode()
    expect_kind(value, bytes | bytearray, "Store: expected a value to be a str or bytes; got {}", "str(value)")
    return str(value, "latin1")


def as_bytes(value: str) -> bytes:
    """The bytes of a value."""
    return bytes(value, "latin1")


def expect_keys(keys: Sequence[Key]) -> Sequence[Key]:
    """Keys, or values, which are no single one."""
    if isinstance(keys, str | bytes):
        raise ArgumentTypeError("Store: expected a list of keys; got str", "a list of one: [key]")
    return keys


def expect_count(value: int, where: str, most: int | None = None) -> int:
    """An integer: how many processes there are, or where to listen."""
    if not isinstance(value, int) or (most is not None and not 0 <= value <= most):
        wanted = tr("an int") if most is None else tr("an int from 0 to {:,}", most)
        raise ArgumentTypeError(tr("{}: expected {}; got {!r}", where, wanted, value), None)
    return value


def expect_timeout(timeout: timedelta, where: str) -> timedelta:
    """A time that somebody waits."""
    expect_kind(timeout, timedelta, "{}: expected timeout to be a datetime.timedelta; got {}", "timedelta(seconds=30)", where)
    return timeout


guard_types(globals(), "badak.distributed")
