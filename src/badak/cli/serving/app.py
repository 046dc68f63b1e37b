"""The server's ways, on starlette: OpenAI's, badak's own, health, metrics and a page."""

import asyncio
import base64
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from importlib.resources import files
from typing import Any

import numpy as np
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from badak.cli.serving.asking import ask
from badak.cli.serving.errors import BusyError, RequestError
from badak.cli.serving.fields import Fields, is_text, parsed
from badak.cli.serving.guard import Guard
from badak.cli.serving.limits import Limits
from badak.cli.serving.metrics import Metrics
from badak.cli.serving.models import Classifier, Encoder, Filler, Interpreter, Served, Writer
from badak.cli.serving.responses import LOG, EventStream, response_to, until_gone
from badak.cli.serving.telling import Answer
from badak.core.errors import ArgumentError, tr
from badak.generation.framing import Text

GONE = 499  # what proxies note for somebody who did not wait
BODY_SECONDS = 30.0  # for a body to come
END_SECONDS = 2.0  # that a model may take to end what it is at
POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"  # noqa: E501


class Service:
    """The models by their names, and all that a request of them takes."""

    def __init__(self, models: dict[str, Served], limits: Limits, log: bool = False):
        self.models, self.limits, self.log, self.ending = models, limits, log, False
        self.metrics = Metrics(models)
        self.started = int(time.time())
        self.pool = ThreadPoolExecutor(2, "badak-ask")
        self.asking = 0

    # Ways

    async def chat(self, request: Request) -> Response:
        """POST /v1/chat/completions"""
        return await self._write(request, chat=True)

    async def complete(self, request: Request) -> Response:
        """POST /v1/completions"""
        return await self._write(request, chat=False)

    async def _write(self, request: Request, chat: bool) -> Response:
        fields = await self._fields(request)
        model = self._model(fields, Writer)
        asked = await self._aside(partial(ask, chat, model, fields, self.limits))
        answer, began = Answer(model, asked), time.monotonic()
        answer.start()
        streams = False
        try:
            if not asked.stream:
                told = await until_gone(request, answer.whole())
                self.metrics.first(model.name, time.monotonic() - began)
                return JSONResponse(told)
            first = await until_gone(request, answer.next())
            self.metrics.first(model.name, time.monotonic() - began)
            streams = True
            return EventStream(answer.events(first), answer.leave)
        finally:
            if not streams:
                answer.leave()

    async def embed(self, request: Request) -> Response:
        """POST /v1/embeddings"""
        fields = await self._fields(request)
        model = self._model(fields, Encoder)
        first = fields.values.get("input")
        if isinstance(first, list) and first and isinstance(first[0], int | list):
            fix = tr("texts; with langchain-openai: OpenAIEmbeddings(check_embedding_ctx_length=False)")
            raise RequestError("input holds token numbers, and which tokenizer made them is not known", fix, param="input")
        texts = fields.texts("input", self.limits.max_inputs)
        form = fields.pick("encoding_format", "float", lambda x: x in ("float", "base64"), tr("float or base64"))
        truncate = fields.flag("truncate")
        fields.pick("dimensions", None, lambda x: x == model.width and type(x) is int, tr("{}, as the model has", model.width))
        fields.close()
        lengths = [len(ids) for ids in await self._aside(partial(model.encoder.tokenizer.encode_all, texts, marks=True))]
        longest = max(lengths)
        if longest > model.encoder.length and not truncate:
            cause = tr("a text has {:,} tokens, the model reads {:,}", longest, model.encoder.length)
            raise RequestError(cause, '"truncate": true leaves out the end', param="input", code="context_length_exceeded")
        vectors = await self._work(request, model, texts)
        tokens = sum(min(length, model.encoder.length) for length in lengths)
        usage = {"prompt_tokens": tokens, "total_tokens": tokens}
        return _listed(model, [{"object": "embedding", "embedding": _vector(row, form)} for row in vectors], usage=usage)

    async def classify(self, request: Request) -> Response:
        """POST /v1/classify"""
        fields = await self._fields(request)
        model = self._model(fields, Classifier)
        texts = _texts_or_pairs(fields, self.limits.max_inputs)
        fields.close()
        told = await self._work(request, model, texts)
        rows = []
        for one in told:
            of_class = {"label": one.label, "probability": one.value, "probabilities": dict(one.ranking)}
            rows.append({"cut": one.cut} | (of_class if one.ranking else {"value": one.value}))
        return _listed(model, rows)

    async def translate(self, request: Request) -> Response:
        """POST /v1/translate"""
        fields = await self._fields(request)
        model = self._model(fields, Interpreter)
        texts = fields.texts("input", self.limits.max_inputs)
        asked = {"num_beams": fields.whole("num_beams", None, 1, 64), "length_penalty": fields.number("length_penalty")}
        fields.close()
        try:
            config = replace(model.translator.config, **{name: value for name, value in asked.items() if value is not None})
        except ArgumentError as error:
            raise RequestError(error.cause, error.fix, param="length_penalty") from None
        made = await self._work(request, model, [(text, config) for text in texts])
        return _listed(model, [{"text": text} for text in made])

    async def fill(self, request: Request) -> Response:
        """POST /v1/fill-mask"""
        fields = await self._fields(request)
        model = self._model(fields, Filler)
        texts, top = fields.texts("input", self.limits.max_inputs), fields.whole("top", 5, 1, 100)
        fields.close()
        made = await self._work(request, model, [(text, top) for text in texts])
        told = lambda words: [[{"token": word, "probability": chance} for word, chance in one] for one in words]
        return _listed(model, [{"text": text, "masks": told(words)} for text, words in made])

    async def list_models(self, request: Request) -> Response:
        """GET /v1/models"""
        return JSONResponse({"object": "list", "data": [self._about(model) for model in self.models.values()]})

    async def one_model(self, request: Request) -> Response:
        """GET /v1/models/NAME"""
        return JSONResponse(self._about(self._named(request.path_params["name"])))

    async def health(self, request: Request) -> Response:
        """GET /health"""
        if self.ending or not all(model.worker.thread.is_alive() for model in self.models.values()):
            return JSONResponse({"status": "ending" if self.ending else "failed"}, 503)
        return JSONResponse({"status": "ok"})

    async def show_metrics(self, request: Request) -> Response:
        """GET /metrics"""
        text, kind = self.metrics.text()
        return PlainTextResponse(text, headers={"content-type": kind})

    async def page(self, request: Request) -> Response:
        """GET /"""
        text = (files("badak.cli.serving") / "page.html").read_text(encoding="utf-8")
        return HTMLResponse(text, headers={"content-security-policy": POLICY, "x-content-type-options": "nosniff"})

    # What they share

    def _about(self, model: Served) -> dict[str, Any]:
        about = {"id": model.name, "object": "model", "created": self.started, "owned_by": "badak", "task": model.task}
        return about | ({"context_length": model.engine.longest} if isinstance(model, Writer) else {})

    def _named(self, name: str) -> Served:
        if name not in self.models:
            known = ", ".join(self.models)
            cause = tr("there is no model {!r} here", name[:100])
            raise RequestError(cause, known, param="model", code="model_not_found", status=404)
        return self.models[name]

    def _model(self, fields: Fields, kind: type) -> Any:
        """The model that a body names; where it names none, the only one of that kind."""
        fitting = [model for model in self.models.values() if isinstance(model, kind)]
        name = fields.text("model")
        if name is None and len(fitting) == 1:
            return fitting[0]
        if name is None:
            raise RequestError(tr("model is missing, and {} models fit", len(fitting)), ", ".join(self.models), param="model")
        model = self._named(name)
        if not isinstance(model, kind):
            raise RequestError(
                tr("{} is for {}, and this is for {}", name, model.task, kind.task), tr("POST {}", WAYS[model.task]), param="model",  # type: ignore[attr-defined]
            )  # fmt: skip
        return model

    async def _fields(self, request: Request) -> Fields:
        """The body of a request. RequestError where it is too large, too slow, or no JSON."""
        kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind != "application/json":  # a page of another site cannot send it unasked
            cause = tr("content-type is {!r}; expected application/json", kind[:60])
            raise RequestError(cause, "content-type: application/json", status=415)
        body = bytearray()
        try:
            async with asyncio.timeout(BODY_SECONDS):
                async for chunk in request.stream():
                    body += chunk
                    if len(body) > self.limits.body:
                        cause = tr("the body has more than {:,} bytes", self.limits.body)
                        fix = tr("a smaller one, or serve with --body {}", 8 * self.limits.body)
                        raise RequestError(cause, fix, status=413, code="request_too_large")
        except TimeoutError:
            raise RequestError(tr("the body did not come within {:.0f} s", BODY_SECONDS), "send it at once", status=408) from None
        return parsed(bytes(body))

    async def _aside(self, work: Callable[[], Any]) -> Any:
        """Work of some milliseconds, such as cutting a text into tokens, next to the loop."""
        if self.asking >= self.limits.queue + self.limits.streams:
            raise BusyError.of(self.asking, self.limits.queue)
        self.asking += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self.pool, work)
        finally:
            self.asking -= 1

    async def _work(self, request: Request, model: Any, items: list[Any]) -> list[Any]:
        """What a model answers to texts, within the time that there is."""
        began = time.monotonic()
        try:
            async with asyncio.timeout(self.limits.timeout):
                made = await until_gone(request, model.lane.run(items))
        except TimeoutError:
            cause = tr("the answer took longer than the server's --timeout")
            raise RequestError(cause, "fewer texts", status=504, code="timeout") from None
        self.metrics.first(model.name, time.monotonic() - began)
        return made

    def answered(self, way: Callable[[Request], Awaitable[Response]]) -> Callable[[Request], Awaitable[Response]]:
        """A way that answers whatever happens."""

        async def run(request: Request) -> Response:
            began = time.monotonic()
            try:
                response = await way(request)
            except ClientDisconnect:
                response = Response(status_code=GONE)
            except Exception as error:
                response = response_to(error)
            self.metrics.request(way.__name__, response.status_code)
            if self.log:
                LOG.info(
                    "%s %s %d %.0f ms", request.method, request.url.path, response.status_code, 1e3 * (time.monotonic() - began)
                )
            return response

        return run

    def close(self) -> None:
        """End all models, and what they are at."""
        self.ending = True
        for model in self.models.values():
            model.worker.close(seconds=END_SECONDS)
        self.pool.shutdown(wait=False, cancel_futures=True)


WAYS = {  # where a model of a task is asked
    "generate": "/v1/chat/completions", "embed": "/v1/embeddings", "classify": "/v1/classify", "translate": "/v1/translate",
    "fill-mask": "/v1/fill-mask",
}  # fmt: skip


def app_of(service: Service, key: str | None = None, local: bool = True) -> Guard:
    """The server as an ASGI application. key: what requests have to know; local: whether only this machine reaches it."""
    posts = {
        WAYS["generate"]: service.chat, "/v1/completions": service.complete, WAYS["embed"]: service.embed,
        WAYS["classify"]: service.classify, WAYS["translate"]: service.translate, WAYS["fill-mask"]: service.fill,
    }  # fmt: skip
    gets = {
        "/": service.page, "/health": service.health, "/metrics": service.show_metrics, "/v1/models": service.list_models,
        "/v1/models/{name:path}": service.one_model,
    }  # fmt: skip
    routes = [Route(path, service.answered(way), methods=["POST"]) for path, way in posts.items()]
    routes += [Route(path, service.answered(way), methods=["GET"]) for path, way in gets.items()]

    async def refused(request: Request, error: Exception) -> Response:
        status = error.status_code if isinstance(error, HTTPException) else 500
        cause = tr("there is no {} {}", request.method, request.url.path[:100])
        return response_to(RequestError(cause, tr("one of {}", ", ".join([*posts, *gets])), status=status, code="not_found"))

    return Guard(Starlette(routes=routes, exception_handlers={404: refused, 405: refused}), key, local, service.limits.timeout)


def _listed(model: Any, rows: list[dict[str, Any]], **more: Any) -> JSONResponse:
    """What a model said of each input, in order."""
    data = [{"index": i, **row} for i, row in enumerate(rows)]
    return JSONResponse({"object": "list", "data": data, "model": model.name, **more})


def _texts_or_pairs(fields: Fields, most: int) -> list[Text]:
    """Texts, or pairs of texts."""
    value = fields.values.get("input")
    is_pair: Callable[[Any], bool] = lambda one: isinstance(one, list) and len(one) == 2 and all(map(is_text, one))
    if isinstance(value, list) and value and isinstance(value[0], list):
        example = tr('"input": [["a text", "another"]]')
        pairs = fields.pick(
            "input",
            None,
            lambda x: len(x) <= most and all(map(is_pair, x)),
            tr("texts, or at most {:,} pairs of texts", most),
            example,
        )
        return [(first, second) for first, second in pairs]
    return [*fields.texts("input", most)]


def _vector(row: np.ndarray, form: str) -> Any:
    """A vector as numbers, or as the base64 of its float32."""
    return row.tolist() if form == "float" else base64.b64encode(np.ascontiguousarray(row, "<f4").tobytes()).decode()
