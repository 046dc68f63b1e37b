"""What a server did, in the form of Prometheus."""

from collections.abc import Iterator, Mapping
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Histogram
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest

SECONDS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300)


class Metrics:
    """Counters of requests, and what the models tell when they are asked."""

    def __init__(self, models: Mapping[str, Any]):
        self.registry, self.models = CollectorRegistry(), models
        self.requests = Counter(
            "badak_requests", "Requests by what was asked and the status", ["way", "status"], registry=self.registry
        )
        self.seconds = Histogram(
            "badak_first_answer_seconds", "From the request to the first token, or to the whole answer where it is not streamed",
            ["model"], buckets=SECONDS, registry=self.registry,
        )  # fmt: skip
        self.registry.register(self)  # type: ignore[arg-type]

    def request(self, way: str, status: int) -> None:
        """Count a request."""
        self.requests.labels(way, str(status)).inc()

    def first(self, model: str, seconds: float) -> None:
        """Note how long somebody waited."""
        self.seconds.labels(model).observe(seconds)

    def text(self) -> tuple[bytes, str]:
        """All of it, and its content type."""
        return generate_latest(self.registry), CONTENT_TYPE_LATEST

    def collect(self) -> Iterator[Any]:
        """What the models tell."""
        running = GaugeMetricFamily("badak_running", "Requests that a model works on", labels=["model"])
        waiting = GaugeMetricFamily("badak_waiting", "Requests that wait for their turn", labels=["model"])
        pages = GaugeMetricFamily("badak_cache_pages_free", "Free pages of the key-value cache", labels=["model"])
        tokens = CounterMetricFamily("badak_tokens", "Tokens read and written", labels=["model", "kind"])
        for name, model in self.models.items():
            worker = model.worker
            running.add_metric([name], worker.running)
            waiting.add_metric([name], worker.waiting)
            if hasattr(worker, "pool"):
                pages.add_metric([name], len(worker.pool.free))
                tokens.add_metric([name, "read"], worker.tokens_read)
                tokens.add_metric([name, "written"], worker.tokens_written)
        yield from (running, waiting, pages, tokens)
