"""Settings as frozen dataclasses, stored as JSON, read back with every field checked.

A field states its limits in its metadata, most easily through `option`, and the class checks itself:

    @dataclass(frozen=True)
    class TrainConfig(Checked):
        lr: float = option(1e-3, "learning rate", above=0.0)
        steps: int = option(2000, "updates", unit="steps", at_least=1)
"""

import dataclasses
import difflib
import json
import math
import os
import types
import typing
from pathlib import Path
from typing import Any, Literal, TypeVar, Union

from badak.core.errors import ArgumentError, ArgumentTypeError, BadakError, FileError, tr
from badak.io.atomic import read_small, write_file
from badak.io.errors import LETTERS, line, reason, shown

T = TypeVar("T")
PROBLEMS = 10  # that one message names

LIMITS = {
    "at_least": (">=", lambda x, y: x >= y),
    "above": (">", lambda x, y: x > y),
    "at_most": ("<=", lambda x, y: x <= y),
    "below": ("<", lambda x, y: x < y),
}


def option(default: Any, help: str, unit: str = "", **limits: float) -> Any:  # noqa: A002  (argparse's word)
    """A dataclass field with a default, a sentence, a unit and limits (at_least, above, at_most, below)."""
    assert set(limits) <= set(LIMITS), limits
    metadata = {"help": help, "unit": unit, **limits}
    if isinstance(default, (list, dict)):
        return dataclasses.field(default_factory=lambda: type(default)(default), metadata=metadata)
    return dataclasses.field(default=default, metadata=metadata)


def check(config: Any) -> None:
    """Raise ArgumentError naming every field of a dataclass whose value has the wrong type or lies outside its limits."""
    hints = typing.get_type_hints(type(config))
    wrong = {
        one: problem
        for one in dataclasses.fields(config)
        if (problem := _complaint(one, hints[one.name], getattr(config, one.name))) is not None
    }
    if wrong:
        known = [f"{one.name}={one.default!r}" for one in wrong if one.default is not dataclasses.MISSING]
        fix = tr("for example {}", ", ".join(known)) if known else tr("give a value of that kind")
        raise ArgumentError(tr("{}: {}", type(config).__name__, tr("; ").join(wrong.values())), fix)


class Checked:
    """The base of settings that are checked when they are made."""

    def __post_init__(self) -> None:
        check(self)


def to_dict(config: Any) -> dict[str, Any]:
    """A dataclass, and the dataclasses within, as a table of JSON values."""
    return {one.name: _to_json(getattr(config, one.name)) for one in dataclasses.fields(config)}


def from_dict(cls: type[T], table: Any, where: str | os.PathLike) -> T:
    """A `cls` from a table of JSON values; `where` is the file's name, for messages.

    Fields that are absent take their defaults. Raises FileError that names every unknown or missing key (with the nearest
    known one), every value of a wrong type and every value outside its limits.
    """
    problems: list[str] = []
    made = _from_table(cls, table, "", problems)
    if problems:
        more = f"; and {len(problems) - PROBLEMS:,} more" if len(problems) > PROBLEMS else ""
        cause = tr("{}: {}{}", where, tr("; ").join(problems[:PROBLEMS]), more)
        raise FileError(cause, "restore the file from a copy, or correct what is named")
    return typing.cast(T, made)


def write_config(path: str | os.PathLike, config: Any) -> None:
    """Write a dataclass to `path` as JSON: to a temporary name first, then renamed."""
    text = json.dumps(to_dict(config), indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    write_file(path, lambda file: file.write(text.encode()))


def read_config(path: str | os.PathLike, cls: type[T]) -> T:
    """Read a `cls` from the JSON file `path`. Raises FileError as `from_dict` does, and for a file that is no JSON."""
    return from_dict(cls, read_json(path), path)


def read_json(path: str | os.PathLike) -> Any:
    """The value of a JSON file. Raises FileError naming file, line and cause, and for one of more than 64 MB."""
    return parse_json(read_small(path), path)


def parse_json(data: bytes | str, where: str | os.PathLike) -> Any:
    """The value of JSON text; `where` is the file's name, for messages. Raises FileError as `read_json` does."""
    try:
        return json.loads(data, object_pairs_hook=_once)
    except json.JSONDecodeError as error:
        cause = tr("{}: not JSON: line {}, column {}: {}", where, error.lineno, error.colno, error.msg)
        raise FileError(cause, "fix that line, or restore the file from a copy") from error
    except RecursionError as error:
        raise FileError(tr("{}: not JSON: its brackets go too deep", where), "write it again, or restore it from a copy") from error
    except ValueError as error:  # a key twice, a number of thousands of digits, no UTF-8
        raise FileError(tr("{}: not JSON: {}", where, reason(error)), "write it again, or restore it from a copy") from error


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    table: dict[str, Any] = {}
    for key, value in pairs:
        if key in table:
            raise ValueError(f"the key '{line(key)}' stands there twice")
        table[key] = value
    return table


def _to_json(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return to_dict(value)
    if isinstance(value, (list, tuple)):
        return [_to_json(item) for item in value]
    if isinstance(value, dict):
        return {key: _to_json(item) for key, item in value.items()}
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    cause = tr("config: {!r} ({}) has no JSON form", value, type(value).__name__)
    raise ArgumentTypeError(cause, "use numbers, texts, lists and nested dataclasses")


def _from_table(cls: Any, table: Any, prefix: str, problems: list[str]) -> Any:
    """A `cls` from `table`, or None after adding to `problems`."""
    if not isinstance(table, dict):
        problems.append(
            tr("expected {} of settings; got {}", tr("{} to be a table", prefix[:-1]) if prefix else tr("a table"), _kind(table))
        )
        return None
    before = len(problems)
    hints = typing.get_type_hints(cls)
    known = {one.name: one for one in dataclasses.fields(cls) if one.init}
    unknown = [key for key in table if key not in known]
    problems += [_unknown(prefix, key, known) if at < PROBLEMS else "an unknown key" for at, key in enumerate(unknown)]
    values = {}
    for name, one in known.items():
        if name in table:
            wrong = len(problems)
            values[name] = _convert(hints[name], table[name], prefix + name, problems)
            if len(problems) == wrong and (complaint := _complaint(one, hints[name], values[name], prefix)):
                problems.append(complaint)
        elif one.default is dataclasses.MISSING and one.default_factory is dataclasses.MISSING:
            problems.append(tr("the key '{}{}' is missing", prefix, name))
    if len(problems) > before:
        return None
    try:
        return cls(**values)
    except BadakError as error:
        problems.append(error.cause)
        return None


def _unknown(prefix: str, key: str, known: dict[str, Any]) -> str:
    near = difflib.get_close_matches(key[:LETTERS], known, n=1, cutoff=0.5)  # its time grows with the square
    return f"unknown key '{prefix}{line(key)}'" + (f" (nearest: '{prefix}{near[0]}')" if near else f" (known: {', '.join(known)})")


def _convert(kind: Any, value: Any, name: str, problems: list[str]) -> Any:
    """The JSON value as a value of type `kind`: lists become tuples, integers floats, tables dataclasses."""
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin in (Union, types.UnionType):
        return _convert_union(arguments, value, name, problems)
    if dataclasses.is_dataclass(kind):
        return _from_table(kind, value, name + ".", problems)
    if kind is float and type(value) is int and abs(value) < 1 << 1000:
        return float(value)
    if kind is Path and isinstance(value, str) and "\0" not in value:
        return Path(value)
    if origin in (list, tuple) and isinstance(value, list):
        inner = [arguments[0]] * len(value) if origin is list or arguments[1:] == (...,) else list(arguments)
        if len(inner) == len(value):
            return origin(_convert(one, item, f"{name}[{at}]", problems) for at, (one, item) in enumerate(zip(inner, value)))
    if origin is dict and isinstance(value, dict):
        return {key: _convert(arguments[1], item, f"{name}.{line(key)}", problems) for key, item in value.items()}
    if not _fits(kind, value):
        problems.append(tr("expected {}; got {}", _being(name, kind), _kind(value)))
    return value


def _convert_union(choices: tuple, value: Any, name: str, problems: list[str]) -> Any:
    """The first of several types that the value fits; the complaint is about all of them."""
    for choice in choices:
        tried: list[str] = []
        made = _convert(choice, value, name, tried)
        if not tried:
            return made
    tables = [choice for choice in choices if dataclasses.is_dataclass(choice)]
    if len(tables) == 1 and isinstance(value, dict):
        return _convert(tables[0], value, name, problems)
    problems.append(tr("expected {}; got {}", _being(name, Union[choices]), _kind(value)))  # noqa: UP007
    return None


def _complaint(one: dataclasses.Field, kind: Any, value: Any, prefix: str = "") -> str | None:
    """What is wrong with the value of one field, or None."""
    if not _fits(kind, value):
        return tr("expected {}; got {}", _being(prefix + one.name, kind), _kind(value))
    limits = [(word, one.metadata[word]) for word in LIMITS if word in one.metadata]
    if value is None or all(LIMITS[word][1](value, bound) for word, bound in limits):
        return None
    rule = " and ".join(f"{prefix}{one.name} {LIMITS[word][0]} {bound}" for word, bound in limits)
    unit = one.metadata.get("unit")
    return tr("expected {}{}; got {}", rule, f" ({unit})" if unit else "", shown(value))


def _fits(kind: Any, value: Any) -> bool:
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if kind is Any:
        return True
    if origin in (Union, types.UnionType):
        return any(_fits(choice, value) for choice in arguments)
    if origin is Literal:
        return any(type(value) is type(choice) and value == choice for choice in arguments)
    if origin is list:
        return isinstance(value, list) and all(_fits(arguments[0], item) for item in value)
    if origin is tuple:
        inner = [arguments[0]] * len(value) if isinstance(value, tuple) and arguments[1:] == (...,) else arguments
        return isinstance(value, tuple) and len(inner) == len(value) and all(map(_fits, inner, value))
    if origin is dict:
        return isinstance(value, dict) and all(
            _fits(arguments[0], key) and _fits(arguments[1], item) for key, item in value.items()
        )
    if kind is float:
        return type(value) is float and math.isfinite(value) or type(value) is int and abs(value) < 1 << 1000
    if kind in (int, bool, str):
        return type(value) is kind
    return value is None if kind is type(None) else isinstance(value, kind)


KIND_WORDS = {
    int: "an integer",
    float: "a finite number",
    bool: "true or false",
    str: "a text",
    type(None): "null",
    Path: "a path",
}


def _being(name: str, kind: Any) -> str:
    return tr("{} to be {}", name, _describe(kind))


def _describe(kind: Any) -> str:
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin is Literal:
        return tr("one of {}", ", ".join(json.dumps(choice) for choice in arguments))
    if origin in (Union, types.UnionType):
        return tr(" or ").join(_describe(choice) for choice in arguments)
    if origin in (list, tuple):
        return (
            f"a list of {len(arguments)} values"
            if origin is tuple and arguments[1:] != (...,)
            else tr("a list, each item {}", _describe(arguments[0]))
        )
    return KIND_WORDS.get(kind) or (tr("a table") if origin is dict else f"a {getattr(kind, '__name__', kind)}")


def _kind(value: Any) -> str:
    """A value as a reader of the file would see it, with its kind."""
    kinds = {
        bool: "boolean",
        int: "integer",
        float: "number",
        str: "text",
        list: "list",
        tuple: "list",
        dict: "table",
        type(None): "null",
    }
    kind = kinds.get(type(value), line(type(value).__name__))
    return kind if value is None or isinstance(value, dict) else tr("the {} {}", kind, shown(value))
