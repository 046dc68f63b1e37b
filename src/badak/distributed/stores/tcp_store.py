"""TCPStore: one process holds the store and listens, the others ask it: a line of JSON each, and a line back.

The socket is bound to the address of host_name alone. Whoever reaches it may read and write, as in PyTorch.
"""

import json
import os
import socket
import threading
import time
import weakref
from contextlib import suppress
from datetime import timedelta
from typing import Any

from badak.core.errors import ArgumentError, NotSupportedError, tr
from badak.core.public_api import guard_types
from badak.distributed.errors import DistNetworkError, DistStoreError
from badak.distributed.stores.contents import CHANGES, Contents
from badak.distributed.stores.store import FIVE_MINUTES, PAUSE, Store, expect_count, expect_timeout

COMMANDS = CHANGES | {"get", "check", "keys", "length", "present"}
LONGEST = 1 << 28  # bytes of a line


class TCPStore(Store):
    """A store at a socket.

    Args:
        host_name, port: where it is; port=0 of the master: any that is free, which `port` says
        world_size: how many processes will come; None: nobody counts
        is_master: hold the store, and listen
        timeout: how long to wait for the master, and `get` and `wait` for a key
        wait_for_workers: the master waits until world_size processes, itself among them, have come
        multi_tenant: a second master on the port uses the first one's store
        use_libuv: accepted
    """

    def __init__(
        self, host_name: str, port: int, world_size: int | None = None, is_master: bool = False,
        timeout: timedelta = FIVE_MINUTES, wait_for_workers: bool = True, multi_tenant: bool = False,
        master_listen_fd: int | None = None, use_libuv: bool = True,
    ) -> None:  # fmt: skip
        super().__init__()
        self._timeout = expect_timeout(timeout, "TCPStore")
        if master_listen_fd is not None:
            cause = tr("TCPStore: master_listen_fd is a socket of somebody else's")
            raise NotSupportedError(cause, "leave it out: the store opens its own")
        self._host, self._port, self._world_size = host_name, expect_count(port, tr("TCPStore: port"), 65535), world_size
        if is_master:
            self._listen(multi_tenant)
        elif not self._port:
            raise ArgumentError("TCPStore: port=0 is for the master alone", "the port of the master's store: store.port")
        self._line = _Line(self._host, self._port)
        self._ask("join")
        if is_master and wait_for_workers and world_size is not None and world_size > 0:
            self._await_workers(world_size)

    host = property(lambda self: self._host)
    port = property(lambda self: self._port)

    def __repr__(self) -> str:
        return f"TCPStore(host={self._host!r}, port={self._port})"

    def clone(self) -> "TCPStore":
        """Another connection to the same store."""
        return TCPStore(self._host, self._port, self._world_size, timeout=self._timeout)

    def _listen(self, shared: bool) -> None:
        try:
            server = socket.create_server(_address(self._host, self._port), reuse_port=False)
        except OSError as error:
            if shared and self._port:
                return
            cause = tr("TCPStore: cannot listen at {}:{}: {}", self._host, self._port, error.strerror or error)
            raise DistNetworkError(cause, "port=0 takes one that is free") from None
        self._port = server.getsockname()[1]
        threading.Thread(target=_serve, args=(server,), daemon=True, name="badak TCPStore").start()
        weakref.finalize(self, _close, server, os.getpid())

    def _await_workers(self, world_size: int) -> None:
        end = time.monotonic() + self._timeout.total_seconds()
        while (here := self._ask("present")) < world_size:
            if time.monotonic() > end:
                cause = tr("Timed out after {:g} seconds waiting for clients. {}/{} clients joined.", self._timeout.total_seconds(),
                           here, world_size)  # fmt: skip
                raise DistStoreError(cause, "start the others, or wait_for_workers=False")
            time.sleep(PAUSE)

    def _ask(self, command: str, *args: Any) -> Any:
        return self._line.ask(self._timeout.total_seconds(), command, *args)


class _Line:
    """The connection of one process; a fork opens its own."""

    def __init__(self, host: str, port: int) -> None:
        self.host, self.port, self.turn = host, port, threading.Lock()
        self.file: Any = None
        self.socket: Any = None
        self.process = 0

    def close(self) -> None:
        """Let the connection go."""
        with suppress(OSError, AttributeError):
            self.file.close()
        with suppress(OSError, AttributeError):
            self.socket.close()
        self.file = None

    __del__ = close

    def ask(self, seconds: float, command: str, *args: Any) -> Any:
        if self.process != os.getpid():
            self.turn, self.file = threading.Lock(), None
            self.process = os.getpid()
        with self.turn:
            if self.file is None:
                self._connect(seconds)
            try:
                self.socket.settimeout(max(seconds, 1.0))  # an answer does not wait for anybody
                self.file.write(json.dumps([command, *args]).encode() + b"\n")
                self.file.flush()
                answer = self.file.readline()
            except OSError:
                answer = b""
            if not answer:
                self.close()
                cause = tr("TCPStore: {}:{} does not answer any more", self.host, self.port)
                raise DistNetworkError(cause, "the process with is_master=True must outlive the others")
            return json.loads(answer)

    def _connect(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        while True:
            try:
                found = socket.create_connection((self.host, self.port), timeout=max(0.1, end - time.monotonic()))
                break
            except OSError as error:
                if time.monotonic() >= end:
                    cause = tr(
                        "TCPStore: no answer from {}:{} within {:g} s: {}", self.host, self.port, seconds, error.strerror or error
                    )
                    raise DistNetworkError(cause, "start the process with is_master=True, at this host_name and port") from None
            time.sleep(PAUSE)
        found.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket, self.file = found, found.makefile("rwb")


def _address(host: str, port: int) -> tuple[str, int]:
    return socket.getaddrinfo(host, port, socket.AF_INET, socket.SOCK_STREAM)[0][4][:2]  # type: ignore[return-value]


def _serve(server: socket.socket) -> None:
    contents, lock, callers = Contents(), threading.Lock(), []
    with suppress(OSError):  # closed
        while True:
            caller = server.accept()[0]
            callers.append(caller)
            threading.Thread(target=_answer, args=(caller, contents, lock), daemon=True, name="badak TCPStore").start()
    for caller in callers:
        with suppress(OSError):
            caller.shutdown(socket.SHUT_RDWR)


def _answer(caller: socket.socket, contents: Contents, lock: threading.Lock) -> None:
    """Do what one process asks for, until it is gone or says something that is no command."""
    caller.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    with caller, caller.makefile("rwb") as file, suppress(Exception):
        while line := file.readline(LONGEST):
            command, *args = json.loads(line)
            if command not in COMMANDS:
                return
            with lock:
                answer = contents.do(command, *args)
            file.write(json.dumps(answer).encode() + b"\n")
            file.flush()


def _close(server: socket.socket, process: int) -> None:
    if os.getpid() == process:
        with suppress(OSError):
            server.shutdown(socket.SHUT_RDWR)
        server.close()


guard_types(globals(), "badak.distributed")
