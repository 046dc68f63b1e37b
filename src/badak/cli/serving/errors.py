"""What a request is refused with: badak's two lines, and the status, type and code that OpenAI's API has for it."""

from badak.core.errors import BadakError, tr


class RequestError(BadakError, ValueError):
    """A request that is not answered. param: the field that is to blame; retry: seconds after which it may be asked again."""

    status, type, retry = 400, "invalid_request_error", 0

    def __init__(self, cause: str, fix: str | None = None, *, param: str | None = None, code: str | None = None, status: int = 0):
        super().__init__(cause, fix)
        self.param, self.name, self.status = param, code, status or self.status


class TooLongError(RequestError):
    """A prompt that leaves no room for its answer."""

    def __init__(self, prompt: int, answer: int, context: int):
        super().__init__(
            f"the prompt has {prompt:,} tokens and the answer may have {answer:,}; together at most {context:,} are read",
            f"max_tokens of at most {context - prompt:,}" if prompt < context else "a shorter prompt",
            param="messages" if prompt >= context else "max_tokens", code="context_length_exceeded",
        )  # fmt: skip


class BusyError(RequestError):
    """More requests than the server takes."""

    status, type, retry = 429, "rate_limit_error", 1

    def __init__(self, cause: str, fix: str):
        super().__init__(cause, fix, code="rate_limit_exceeded")

    @classmethod
    def of(cls, waiting: int, queue: int) -> "BusyError":
        """Where as many wait as the queue has room for."""
        return cls(tr("{} requests wait already", waiting), tr("ask again later, or serve with --queue {}", 2 * queue))


class EndingError(BusyError):
    """A server that is about to end."""

    status, type = 503, "server_error"

    def __init__(self, cause: str = "the server is about to end"):
        super().__init__(cause, "ask again in a moment")


class Crash(RequestError):
    """An error of badak's own. The request is told that it happened; what it was is for the log."""

    status, type = 500, "server_error"

    def __init__(self, error: BaseException):
        super().__init__("the server failed on this request", "look into its log, and report it", code="internal_error")
        self.__cause__ = error
