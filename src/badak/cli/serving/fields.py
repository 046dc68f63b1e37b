"""The fields of a request's body: each of a kind and within its limits, none without a meaning."""

import json
import math
from collections.abc import Callable, Sequence
from typing import Any

from badak.cli.serving.errors import RequestError
from badak.core.errors import tr
from badak.io.errors import shown

# What OpenAI's API has and changes nothing in an answer
WITHOUT_EFFECT = ("user", "metadata", "safety_identifier", "prompt_cache_key")
# What it has and badak has not, and the values with which it is not there
ABSENT: dict[str, tuple[Any, ...]] = {
    "presence_penalty": (0,), "frequency_penalty": (0,), "logit_bias": ({},), "best_of": (1,), "suffix": ("",), "tools": ([],),
    "tool_choice": ("none", "auto"), "functions": ([],), "function_call": ("none", "auto"), "parallel_tool_calls": (True, False),
    "store": (False,), "service_tier": ("auto", "default"), "modalities": (["text"],), "dimensions": (),
}  # fmt: skip


def parsed(body: bytes) -> "Fields":
    """The object that a body is. RequestError for anything else."""
    fix = tr('a JSON object in UTF-8, e.g. {"model": "NAME", "prompt": "a text"}')
    try:
        value = json.loads(body.decode(), parse_constant=_no_number)
    except UnicodeDecodeError as error:
        raise RequestError(tr("the body is not UTF-8 text: byte {}", error.start), fix) from None
    except RecursionError:
        raise RequestError("the body is nested too deeply", fix) from None
    except ValueError as error:
        raise RequestError(tr("the body is not JSON: {}", str(error)[:100]), fix) from None
    if not isinstance(value, dict):
        raise RequestError(tr("the body is {}; expected an object", _named_kind(value)), fix)
    return Fields(value)


def _no_number(word: str) -> None:
    raise ValueError(f"{word} is no number")


class Fields:
    """An object of JSON whose fields are taken out one by one; `close()` refuses what is left. where: its path in the body."""

    def __init__(self, values: dict[str, Any], where: str = ""):
        self.values, self.where = {name: value for name, value in values.items() if value is not None}, where

    def misfit(self, name: str, expected: str, fix: str | None = None) -> RequestError:
        """The complaint about a field."""
        got = tr("; got {}", shown(self.values[name])) if name in self.values else ""
        cause = tr("{}{}: expected {}{}", self.where, name, expected, got)
        return RequestError(cause, fix or "see docs/how-to/serve.md", param=self.where + name)

    def pick(self, name: str, default: Any, good: Callable[[Any], bool], expected: str, fix: str | None = None) -> Any:
        """A value that is `good`, or the default where there is none."""
        if name not in self.values:
            return default
        if not good(self.values[name]):
            raise self.misfit(name, expected, fix)
        return self.values.pop(name)

    def number(self, name: str, default: Any = None) -> Any:
        """A finite number; its limits are known to whoever takes it."""
        return self.pick(name, default, lambda x: type(x) in (int, float) and abs(x) < 1e30 and math.isfinite(x), tr("a number"))

    def whole(self, name: str, default: Any = None, least: int = 0, most: int = 1 << 31) -> Any:
        """An integer in least..most."""
        kind = tr("an integer in {}..{}", least, most) if most < 1 << 31 else tr("an integer of at least {}", least)
        return self.pick(name, default, lambda x: type(x) is int and least <= x <= most, kind, f'"{name}": {max(least, 1)}')

    def flag(self, name: str) -> bool:
        """true or false; false where there is none."""
        return self.pick(name, False, lambda x: isinstance(x, bool), tr("true or false"))

    def text(self, name: str, default: Any = None) -> Any:
        """A text."""
        return self.pick(name, default, is_text, tr("a text of Unicode characters"), tr('"{}": "a text"', name))

    def table(self, name: str) -> "Fields | None":
        """An object within this one."""
        value = self.pick(name, None, lambda x: isinstance(x, dict), tr("an object"))
        return None if value is None else Fields(value, f"{self.where}{name}.")

    def texts(self, name: str, most: int) -> list[str]:
        """A text, or a list of 1..most texts."""
        kind = tr("a text, or a list of 1 to {:,} texts", most)
        value = self.pick(name, None, lambda x: is_text(x) or _all(x, is_text, most), kind, tr('"{}": ["a text"]', name))
        if value is None:
            cause = tr("{}{} is missing: {}", self.where, name, kind)
            raise RequestError(cause, tr('"{}": ["a text"]', name), param=self.where + name)
        return [value] if isinstance(value, str) else value

    def close(self) -> None:
        """Refuse fields that nobody has taken."""
        for name, value in self.values.items():
            absent = any(value == one and isinstance(value, bool) is isinstance(one, bool) for one in ABSENT.get(name, ()))
            if name not in WITHOUT_EFFECT and not absent:
                cause = tr("{}{} is not supported here", self.where, shown(name))
                raise RequestError(cause, "leave it out", param=self.where + name[:60], code="unsupported_parameter")


def is_text(value: Any) -> bool:
    """Whether this is a string of Unicode characters: JSON can also say halves of one."""
    if not isinstance(value, str):
        return False
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def _all(value: Any, good: Callable[[Any], bool], most: int) -> bool:
    return isinstance(value, list) and 1 <= len(value) <= most and all(map(good, value))


def is_tokens(value: Any, most: int) -> bool:
    """Whether this is a list of token numbers."""
    return _all(value, lambda one: type(one) is int and 0 <= one < 1 << 31, most)


def _named_kind(value: Any) -> str:
    kinds: Sequence[tuple[type, str]] = ((list, "a list"), (str, "a text"), (bool, "true or false"), (type(None), "null"))
    return next((name for kind, name in kinds if isinstance(value, kind)), "a number")
