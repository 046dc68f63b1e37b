"""The server's process: its socket, its connections, and how it ends."""

import asyncio
import logging
import signal
import socket
from types import FrameType

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from badak.cli.serving.app import Service, app_of
from badak.core.errors import ArgumentError

HEADER_SECONDS = 10.0  # for the headers of a request to come
HEADER_BYTES = 32 << 10
IDLE_SECONDS = 15  # between two requests of a connection
WAITING = 2_048  # connections that the system keeps until they are taken
LOCAL = ("127.0.0.1", "localhost", "::1")


class Connection(H11Protocol):
    """A connection whose headers come in time. What is no HTTP ends it, and nothing else."""

    timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for headers."""
        super().connection_made(transport)
        self._expect_headers()

    def data_received(self, data: bytes) -> None:
        """Take what came."""
        try:
            super().data_received(data)
        except Exception:  # h11, of an answer that cannot be begun any more
            self.transport.abort()
        self._expect_headers()

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing comes any more."""
        if self.timer is not None:
            self.timer.cancel()
        super().connection_lost(exc)

    def _expect_headers(self) -> None:
        waits = self.conn.their_state is h11.IDLE and (self.cycle is None or bool(self.conn.trailing_data[0]))
        if not waits and self.timer is not None:
            self.timer.cancel()
            self.timer = None
        elif waits and self.timer is None:
            self.timer = self.loop.call_later(HEADER_SECONDS, self.transport.abort)


class Server(uvicorn.Server):
    """One that ends its answers after the first signal, and at once after the second."""

    signal: int | None = None
    service: Service

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """A signal to end."""
        self.service.ending = True
        if self.signal is not None:
            self.force_exit = True
            for connection in list(self.server_state.connections):
                connection.loop.call_soon_threadsafe(connection.transport.abort)  # type: ignore[union-attr]
        self.signal, self.should_exit = self.signal or sig, True


def listen(host: str, port: int) -> socket.socket:
    """A socket at which connections wait. ArgumentError where the address cannot be had."""
    taken = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM)
    try:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        taken.bind((host, port))
        taken.listen(WAITING)
    except OSError as error:
        taken.close()
        raise ArgumentError(f"{host}:{port}: {error.strerror or error}", "another --port, or --port 0 for a free one") from None
    return taken


def server_of(service: Service, key: str | None, host: str) -> Server:
    """What answers at a socket."""
    logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)  # its messages may hold what somebody sent
    limits = service.limits
    config = uvicorn.Config(
        app_of(service, key, local=host in LOCAL), http=Connection, ws="none", lifespan="off", log_config=None, access_log=False,
        server_header=False, proxy_headers=False, limit_concurrency=limits.connections, timeout_keep_alive=IDLE_SECONDS,
        timeout_graceful_shutdown=round(limits.drain), h11_max_incomplete_event_size=HEADER_BYTES, backlog=WAITING,
    )  # fmt: skip
    server = Server(config)
    server.service = service
    return server


def serve(service: Service, at: socket.socket, key: str | None, host: str) -> None:
    """Answer until a signal comes. KeyboardInterrupt at the end if that was Ctrl-C."""
    _more_files()
    server = server_of(service, key, host)
    try:
        asyncio.run(server.serve([at]))
    finally:
        service.close()
    if server.signal == signal.SIGINT:
        raise KeyboardInterrupt


def _more_files() -> None:
    """Let this process have as many connections as the system allows it."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 65_536 if hard == resource.RLIM_INFINITY else min(hard, 65_536)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
