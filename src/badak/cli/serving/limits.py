"""How much a server does at once, and for how long."""

from dataclasses import dataclass

from badak.io.config import Checked, option


@dataclass(frozen=True)
class Limits(Checked):
    """What a server takes on."""

    streams: int = option(16, "texts that are written at the same time", at_least=1, at_most=1_024)
    queue: int = option(64, "requests that may wait; further ones get status 429", at_least=0, at_most=100_000)
    cache_tokens: int = option(
        0, "tokens that the key-value cache holds (0 = --streams texts of --usual-tokens)", unit="tokens", at_least=0
    )
    usual_tokens: int = option(2_048, "length of a text for which the cache has room by default", unit="tokens", at_least=1)
    prefill_tokens: int = option(
        128, "tokens of a prompt that are read before the others get their next token", unit="tokens", at_least=1
    )
    max_inputs: int = option(2_048, "most texts in one request", unit="texts", at_least=1)
    timeout: float = option(600.0, "time after which an answer is cut off", unit="s", above=0)
    body: int = option(1 << 20, "largest body of a request; a larger one gets status 413", unit="bytes", at_least=1_024)
    connections: int = option(1_000, "most open connections; further ones get status 503", at_least=1)
    drain: float = option(30.0, "time that answers have to end after SIGTERM", unit="s", at_least=0)
