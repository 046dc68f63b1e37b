"""Answers: refusals in OpenAI's form, answers that come in pieces, and people who leave before the end."""

import asyncio
import logging
import traceback
from collections.abc import AsyncGenerator, Callable, Coroutine
from typing import Any, TypeVar

from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.types import Receive, Scope, Send

from badak.cli.serving.errors import Crash, RequestError
from badak.core.errors import BadakError

T = TypeVar("T")
LOG = logging.getLogger("badak.serve")


def error_of(error: BaseException) -> dict[str, Any]:
    """An error in the form of OpenAI's API; its message is badak's two lines."""
    known = error if isinstance(error, RequestError) else RequestError("") if isinstance(error, BadakError) else Crash(error)
    if isinstance(known, Crash) and known.__cause__ is not None:
        where = "".join(traceback.format_tb(known.__cause__.__traceback__))  # not the message: it may hold the request
        LOG.error("%s in\n%s", type(known.__cause__).__name__, where)
    message = str(error if isinstance(error, BadakError) else known)
    return {"error": {"message": message, "type": known.type, "param": known.param, "code": known.name}}


def response_to(error: BaseException) -> Response:
    """What is answered where a request is refused or fails."""
    status, retry = (
        (error.status, error.retry) if isinstance(error, RequestError) else (400 if isinstance(error, BadakError) else 500, 0)
    )
    headers = {"retry-after": str(retry)} if retry else {"www-authenticate": "Bearer"} if status == 401 else None
    return JSONResponse(error_of(error), status, headers=headers)


async def _gone(receive: Receive) -> None:
    """Wait until whoever asked has left."""
    while (await receive())["type"] != "http.disconnect":
        pass


async def until_gone(request: Request, work: Coroutine[Any, Any, T]) -> T:
    """What the work gives. ClientDisconnect, and the work is cancelled, where whoever asked leaves before."""
    tasks = [asyncio.ensure_future(work), asyncio.ensure_future(_gone(request.receive))]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        if tasks[0].done():
            return tasks[0].result()  # type: ignore[return-value]
        raise ClientDisconnect
    finally:
        for task in tasks:
            task.cancel()


class EventStream(Response):
    """Server-sent events. leave: called at their end, also where whoever asked left before."""

    media_type = "text/event-stream"

    def __init__(self, events: AsyncGenerator[bytes, None], leave: Callable[[], None]):
        super().__init__(headers={"cache-control": "no-store", "x-accel-buffering": "no"})
        del self.headers["content-length"]
        self.events, self.leave = events, leave

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send all events, until somebody leaves."""
        sending = asyncio.ensure_future(self._send(send))
        gone = asyncio.ensure_future(_gone(receive))
        try:
            await asyncio.wait((sending, gone), return_when=asyncio.FIRST_COMPLETED)
            if sending.done():
                sending.result()
        finally:
            gone.cancel()
            sending.cancel()
            self.leave()
            await asyncio.wait((sending,))
            await self.events.aclose()

    async def _send(self, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        number = 0
        async for event in self.events:
            await send({"type": "http.response.body", "body": event, "more_body": True})
            number += 1
            if number % 4 == 0:
                await asyncio.sleep(0)  # of many events at once: time to hear that the connection is gone
        await send({"type": "http.response.body", "body": b"", "more_body": False})
