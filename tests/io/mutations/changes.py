"""Ways to damage bytes, JSON and pickles, drawn by chance. Each gives the changed data."""

import json
import pickletools
import struct
from collections.abc import Callable
from random import Random
from typing import Any

NUMBERS = (
    0,
    1,
    2,
    7,
    8,
    63,
    64,
    127,
    128,
    255,
    256,
    65535,
    65536,
    2**31 - 1,
    2**31,
    2**32 - 1,
    2**63 - 1,
    2**63,
    2**64 - 1,
)
ODD = (
    None,
    True,
    False,
    0,
    1,
    -1,
    2,
    3,
    10**6,
    2**31,
    2**63,
    -(2**63),
    10**30,
    10**400,
    0.5,
    -0.5,
    1e-300,
    1e308,
    float("nan"),
    float("inf"),
    "",
    "x",
    "a" * 5000,
    "\0",
    "\ud800",
    "../..",
    "/",
    "é\n",
    "$tuple",
    [],
    {},
    [[]],
    [None],
    {"": None},
    {"$tuple": 3},
    [1, [2, [3]]],
    {"a": {"b": {}}},
)


def flipped(data: bytes, chance: Random) -> bytes:
    """A few bits turned round."""
    changed = bytearray(data)
    for _ in range(chance.choice((1, 1, 1, 2, 4, 8))):
        changed[chance.randrange(len(changed))] ^= 1 << chance.randrange(8)
    return bytes(changed)


def overwritten(data: bytes, chance: Random) -> bytes:
    """A few bytes replaced."""
    changed = bytearray(data)
    for _ in range(chance.choice((1, 1, 2, 4, 16))):
        changed[chance.randrange(len(changed))] = chance.randrange(256)
    return bytes(changed)


def cut(data: bytes, chance: Random) -> bytes:
    """The end is missing, or the beginning."""
    at = chance.randrange(len(data) + 1)
    return data[:at] if chance.random() < 0.8 else data[at:]


def without(data: bytes, chance: Random) -> bytes:
    """A stretch is missing."""
    at, length = chance.randrange(len(data)), chance.choice((1, 2, 4, 8, 64, 512))
    return data[:at] + data[at + length :]


def spliced(data: bytes, chance: Random) -> bytes:
    """A stretch of it stands in another place too, or over another one."""
    length = chance.choice((1, 2, 4, 8, 30, 64, 512))
    source, at = chance.randrange(len(data)), chance.randrange(len(data) + 1)
    return data[:at] + data[source : source + length] + data[at + chance.choice((0, length)) :]


def numbered(data: bytes, chance: Random) -> bytes:
    """A number of 1, 2, 4 or 8 bytes in either order: a length, an offset, a size."""
    number, (width, code) = (
        chance.choice((*NUMBERS, len(data), len(data) + 1)),
        chance.choice(((1, "B"), (2, "H"), (4, "I"), (8, "Q"))),
    )
    at = chance.randrange(len(data))
    packed = struct.pack(chance.choice("<>") + code, number % (1 << 8 * width))
    return data[:at] + packed + data[at + width :]


def repeated(data: bytes, chance: Random) -> bytes:
    """A stretch many times."""
    at, length = chance.randrange(len(data)), chance.choice((1, 2, 4, 16))
    return data[:at] + data[at : at + length] * chance.choice((2, 10, 1000)) + data[at + length :]


BYTES: tuple[Callable[[bytes, Random], bytes], ...] = (flipped, overwritten, cut, without, spliced, numbered, repeated)


def damaged(data: bytes, chance: Random) -> bytes:
    """One or a few of the ways above."""
    for _ in range(chance.choice((1, 1, 1, 2, 3))):
        if data:
            data = chance.choice(BYTES)(data, chance)
    return data


# JSON


def edited(value: Any, chance: Random) -> Any:
    """A JSON value in which one or a few places are others: another value, absent, twice, under another name."""
    value = json.loads(json.dumps(value))
    for _ in range(chance.choice((1, 1, 1, 2, 4))):
        places = list(_places(value))
        if not places:
            return odd(chance)
        table, key = chance.choice(places)
        how = chance.random()
        if how < 0.5:
            table[key] = odd(chance)
        elif how < 0.6:
            table[key] = nudged(table[key], chance)
        elif how < 0.75:
            del table[key]
        elif how < 0.85 and isinstance(table, dict):
            table[chance.choice(("x", "", key + "x", str(key)[:-1]))] = table.pop(key)
        else:
            other, at = chance.choice(places)
            if at in other if isinstance(other, dict) else at < len(other):
                table[key] = json.loads(json.dumps(other[at]))
    return value


def odd(chance: Random) -> Any:
    """A value that does not belong there."""
    return json.loads(json.dumps(chance.choice(ODD)))


def nudged(value: Any, chance: Random) -> Any:
    """A value near this one."""
    if isinstance(value, bool) or value is None:
        return not value
    if isinstance(value, int | float) and abs(value) < 1e300:
        return chance.choice((value + 1, -value, value * 2, value * 1000, value + 0.5, str(value), [value]))
    if isinstance(value, str):
        return chance.choice((value[:-1], value + value, value.upper(), value[::-1], [value]))
    return [value]


def _places(value: Any):
    """(container, key) of every value within."""
    for key in list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
        yield value, key
        yield from _places(value[key])


def as_json(value: Any, chance: Random) -> bytes:
    """`value` as text, now and then with what a writer would not write: a key twice, deep brackets, other spaces."""
    text = json.dumps(value, ensure_ascii=chance.random() < 0.8)
    if chance.random() < 0.03:
        text = text.replace("{", '{"x": 1, "x": 2, ', 1)
    if chance.random() < 0.02:
        text = text[:-1] + ', "deep": ' + "[" * 100_000 + "]" * 100_000 + "}"
    return text.encode("utf-8", "surrogatepass")


# pickles


def opcodes(data: bytes) -> list[bytes]:
    """A pickle cut into its opcodes, each with its argument."""
    starts = [position for _, _, position in pickletools.genops(data)]
    return [data[start:stop] for start, stop in zip(starts, [*starts[1:], len(data)])]


def _text(value: str) -> bytes:
    return b"X" + struct.pack("<I", len(value)) + value.encode()


NAMES = """
os system,builtins eval,builtins getattr,subprocess Popen,collections OrderedDict,collections Counter,collections defaultdict,
collections deque,builtins set,builtins frozenset,builtins list,builtins dict,builtins int,builtins range,builtins slice,
builtins complex,builtins bytearray,_codecs encode,torch Size,torch device,torch Tensor,torch FloatStorage,torch BoolStorage,
torch float32,torch._utils _rebuild_tensor_v2,torch._utils _rebuild_tensor_v3,torch._utils _rebuild_parameter,
torch._tensor _rebuild_from_type_v2,torch.nn.parameter Parameter,numpy dtype,numpy ndarray,numpy._core.multiarray scalar,
numpy._core.multiarray _reconstruct,numpy._core.numeric _frombuffer,argparse Namespace,types SimpleNamespace,datetime datetime,
datetime timedelta,datetime timezone,pathlib PosixPath,badak.nn.linear Linear,badak.nn.containers Sequential,
badak.nn.module Module,badak.nn.functional relu,tests.io.mutations.readers Settings,tests.io.mutations.readers Color,
tests.io.attacks.objects Trap,tests.io.attacks.objects Calls,tests.io.attacks.objects Net,tests.io.attacks.objects Choice"""
GLOBALS = [f"c{name.replace(' ', chr(10))}\n".encode() for name in NAMES.replace("\n", "").split(",")]
VALUES = [
    b"N",
    b"\x88",
    b"\x89",
    b"K\x00",
    b"K\x05",
    b"M\xff\xff",
    b"J\xff\xff\xff\xff",
    b"\x8a\x08" + b"\xff" * 7 + b"\x7f",
    b"G" + b"\0" * 8,
    b"G\x7f\xf0" + b"\0" * 6,
    b")",
    b"]",
    b"}",
    b"\x8f",
    _text(""),
    _text("0"),
    _text("storage"),
    _text("cpu"),
    _text("forward"),
    _text("__class__"),
    _text("_modules"),
    _text("<f4"),
    _text("latin1"),
    _text("append"),
    b"C\x04abcd",
    b"h\x00",
    b"h\x01",
    b"h\x05",
    b"2",
]
ACTS = [bytes([code]) for code in b"(t\x85\x86\x87lde0a1suR\x81bQ\x90\x91\x94\x93o.\x97\x98\x92"]


def reassembled(data: bytes, chance: Random) -> bytes:
    """A pickle in which opcodes are missing, twice, in another order, replaced or added."""
    parts = opcodes(data)
    for _ in range(chance.choice((1, 1, 2, 3, 6))):
        at, how = chance.randrange(len(parts) or 1), chance.random()
        if how < 0.15:
            del parts[at : at + chance.choice((1, 1, 2, 5))]
        elif how < 0.3:
            parts[at:at] = parts[at : at + chance.choice((1, 1, 2, 5))]
        elif how < 0.4:
            other = chance.randrange(len(parts) or 1)
            parts[at : at + 1], parts[other : other + 1] = parts[other : other + 1], parts[at : at + 1]
        elif how < 0.65:
            parts[at : at + 1] = [chance.choice(VALUES)]
        elif how < 0.8:
            parts[at : at + 1] = [chance.choice(GLOBALS)]
        elif how < 0.9:
            parts.insert(at, chance.choice(VALUES + GLOBALS + ACTS))
        elif how < 0.95:
            parts[at:at] = [chance.choice(VALUES + GLOBALS + ACTS) for _ in range(chance.randrange(1, 8))]
        elif at < len(parts):
            parts[at] = damaged(parts[at], chance)
    return b"".join(parts)
