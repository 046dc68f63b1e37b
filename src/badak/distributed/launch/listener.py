"""Where the guards call. Who does not begin with the token of this launch is not heard: nothing that he sends is read as words."""

import hmac
import json
import selectors
import socket
import threading
import time

from badak.distributed.launch.exit_status import Rank

PATIENCE = 10.0  # seconds that a caller has for the token
STRANGERS = 64  # callers that are waited for at once: of more, the first one is sent away
LINE = 65536  # bytes of a line
LOOK = 0.2  # seconds between two looks at the clock


class Caller:
    """One connection: a stranger until it has said the token, then a guard."""

    def __init__(self, line: socket.socket) -> None:
        self.line, self.since = line, time.monotonic()
        self.heard = b""
        self.known = False
        self.rank: Rank | None = None


class Listener:
    """The socket, and a thread that hears all guards; `ranks` is what they tell."""

    def __init__(self, host: str, token: str, size: int) -> None:
        self.token, self.size = token.encode(), size
        self.server = socket.create_server((host, 0))
        self.server.setblocking(False)
        self.port: int = self.server.getsockname()[1]
        self.callers: dict[socket.socket, Caller] = {}
        self.found: dict[int, Rank] = {}
        self.over = False
        self.door = selectors.DefaultSelector()
        self.door.register(self.server, selectors.EVENT_READ)
        self.thread = threading.Thread(target=self._run, daemon=True)

    @property
    def ranks(self) -> dict[int, Rank]:
        """What is known of each rank, by its number: a copy, to which nobody adds meanwhile."""
        return self.found.copy()

    def close(self) -> None:
        """Hear nobody any more."""
        self.over = True
        if self.thread.is_alive():
            self.thread.join(5)
        for line in [self.server, *self.callers]:
            line.close()
        self.door.close()

    def _run(self) -> None:
        while not self.over:
            for key, _ in self.door.select(LOOK):
                if key.fileobj is self.server:
                    self._accept()
                elif key.fileobj in self.callers:  # it may have been sent away just now
                    self._read(self.callers[key.fileobj])  # type: ignore[index]
            late = time.monotonic() - PATIENCE
            for caller in [c for c in self.callers.values() if c.rank is None and c.since < late]:
                self._end(caller)

    def _accept(self) -> None:
        try:
            line, _ = self.server.accept()
        except OSError:  # it has gone again; or there are no files left, and some are given back below
            time.sleep(0.01)
            return
        line.setblocking(False)
        self.callers[line] = Caller(line)
        self.door.register(line, selectors.EVENT_READ)
        strangers = [caller for caller in self.callers.values() if caller.rank is None]
        if len(strangers) > STRANGERS:
            self._end(strangers[0])

    def _read(self, caller: Caller) -> None:
        """Note what has come; end the connection at its end, and where it says what no guard says."""
        try:
            came = caller.line.recv(LINE if caller.known else len(self.token) - len(caller.heard))
        except BlockingIOError:
            return
        except OSError:
            came = b""
        caller.heard += came
        try:
            going_on = bool(came) and self._understood(caller)
        except (ValueError, LookupError, TypeError, RecursionError):
            going_on = False
        if not going_on:
            self._end(caller)

    def _understood(self, caller: Caller) -> bool:
        if not caller.known:
            if len(caller.heard) < len(self.token):
                return self.token.startswith(caller.heard[:1])
            if not hmac.compare_digest(caller.heard, self.token):
                return False
            caller.known, caller.heard = True, b""
        *lines, caller.heard = caller.heard.split(b"\n")
        for said in map(json.loads, lines):
            if caller.rank is not None:
                caller.rank.note(said)
                continue
            number = said["rank"]
            if type(number) is not int or not 0 <= number < self.size or number in self.found:
                return False
            caller.rank = self.found[number] = Rank(caller.line, str(said["host"]), int(said.get("pid", 0)))
        return len(caller.heard) < LINE

    def _end(self, caller: Caller) -> None:
        self.door.unregister(caller.line)
        del self.callers[caller.line]
        caller.line.close()
        if caller.rank is not None and caller.rank.end is None:
            caller.rank.lost, caller.rank.since = True, time.monotonic()
