"""What stands before every request: who may ask, under which name of the machine, and for how long."""

import asyncio
import hmac

from starlette.types import ASGIApp, Receive, Scope, Send

from badak.cli.serving.errors import RequestError
from badak.cli.serving.responses import response_to
from badak.core.errors import tr

LOCAL = ("localhost", "127.0.0.1", "[::1]")
OPEN = ("/", "/health")  # for everybody: they tell nothing of a model
GRACE = 60.0  # seconds that an answer may take to be read after the time to write it


class Guard:
    """An application behind a key. local: only names of this machine are answered, so that no page of another site gets here."""

    def __init__(self, app: ASGIApp, key: str | None, local: bool, timeout: float):
        self.app, self.key, self.local, self.timeout = app, None if key is None else key.encode(), local, timeout

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, or refuse it."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = dict(scope["headers"])
        host = headers.get(b"host", b"").decode("latin-1").lower()
        name = host[: host.rindex("]") + 1] if "]" in host else host.partition(":")[0]
        if self.local and name not in LOCAL:
            error = RequestError(
                tr("this server is for this machine alone, not for {!r}", host[:100]), "http://127.0.0.1:PORT", status=421
            )
            await response_to(error)(scope, receive, send)
            return
        if self.key is not None and scope["path"] not in OPEN and not self._knows(headers.get(b"authorization", b"")):
            error = RequestError(
                "a key is needed, and the one that came is absent or wrong",
                "Authorization: Bearer KEY",
                status=401,
                code="invalid_api_key",
            )
            await response_to(error)(scope, receive, send)
            return
        try:
            async with asyncio.timeout(self.timeout + GRACE):
                await self.app(scope, receive, send)
        except TimeoutError:
            return  # the connection ends, and with it an answer that is not whole

    def _knows(self, authorization: bytes) -> bool:
        kind, _, key = authorization.partition(b" ")
        assert self.key is not None
        return hmac.compare_digest(key.strip(), self.key) and kind.lower() == b"bearer"
