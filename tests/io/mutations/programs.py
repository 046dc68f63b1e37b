"""Pickles as programs: each opcode with any argument, in any place; parts of one file in another; programs made from nothing."""

import pickletools
import struct
from random import Random

from tests.io.mutations.changes import GLOBALS, NAMES, NUMBERS, VALUES, damaged, opcodes

OPCODES = [info for info in pickletools.opcodes if info.name not in ("STOP", "PROTO", "FRAME")]
TEXTS = ("", "0", "1", "storage", "cpu", "forward", "__class__", "__dict__", "__setstate__", "_modules", "<f4", "é", "\x00")
ENDINGS = ((b"\x85", b"R"), (b"(", b"t", b"R"), (b"}", b"b"), (b"N", b"b"), (b"0",), (b"2",), (b"Q",))  # what is done to a value
MODULES = [name.strip() for name in NAMES.replace("\n", "").split(",")]
_LENGTHS = {"1": "<B", "4": "<I", "8": "<Q"}


def _number(chance: Random) -> int:
    return chance.choice((chance.randrange(12), chance.choice(NUMBERS), -chance.choice(NUMBERS)))


def _line(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass").replace(b"\n", b"\\n") + b"\n"


def _counted(kind: str, data: bytes, chance: Random) -> bytes:
    """Data behind its length, which now and then is another one."""
    code = _LENGTHS[kind[-1]]
    size = chance.choice(NUMBERS) if chance.random() < 0.05 else len(data)
    return struct.pack(code, size % (1 << 8 * struct.calcsize(code))) + data


def _argument(kind: str, chance: Random) -> bytes:
    """The bytes of an argument of one of pickletools' kinds."""
    number, text = _number(chance), chance.choice((chance.choice(TEXTS), *chance.choice(MODULES).split()))
    fixed = {"uint1": "<B", "uint2": "<H", "int4": "<I", "uint4": "<I", "uint8": "<Q"}
    if kind in fixed:
        return struct.pack(fixed[kind], number % (1 << 8 * struct.calcsize(fixed[kind])))
    if kind == "float8":
        return struct.pack(">d", chance.choice((0.0, 0.5, -1e300, float("inf"), float("nan"))))
    if kind == "stringnl_noescape_pair":
        return chance.choice(MODULES).replace(" ", "\n").encode() + b"\n"
    if kind == "stringnl":
        return _line(repr(text))
    if kind.startswith(("stringnl", "unicodestringnl")):
        return _line(text)
    if kind.startswith(("decimalnl", "floatnl")):
        return _line(str(number) + "L" * (kind == "decimalnl_long"))
    if kind.startswith("long"):
        return _counted(kind, number.to_bytes(9, "little", signed=True), chance)
    return _counted(kind, text.encode("utf-8", "surrogatepass"), chance)


def opcode(info: pickletools.OpcodeInfo, chance: Random) -> bytes:
    """One opcode with an argument by chance."""
    return info.code.encode("latin-1") + (_argument(info.arg.name, chance) if info.arg else b"")


def rewritten(data: bytes, other: bytes, chance: Random) -> bytes:
    """A pickle in which opcodes, arguments and whole stretches are others; `other` gives some of them."""
    parts, foreign = opcodes(data), opcodes(other)
    for _ in range(chance.choice((1, 1, 2, 3, 8))):
        at, how = chance.randrange(len(parts) + 1), chance.random()
        if how < 0.25:
            parts[at : at + 1] = [opcode(chance.choice(OPCODES), chance)]
        elif how < 0.5 and at < len(parts):
            parts[at] = _with_another_argument(parts[at], chance)
        elif how < 0.65:
            parts[at:at] = [opcode(chance.choice(OPCODES), chance) for _ in range(chance.randrange(1, 5))]
        elif how < 0.8:
            start = chance.randrange(len(foreign))
            stretch = foreign[start : start + chance.choice((1, 2, 5, 20))]
            parts[at : at + chance.choice((0, len(stretch)))] = stretch
        elif how < 0.9:
            parts[at:at] = chance.choice(ENDINGS)
        else:
            del parts[at : at + chance.choice((1, 2, 3))]
    return b"".join(parts)


def _with_another_argument(part: bytes, chance: Random) -> bytes:
    info = next((info for info in pickletools.opcodes if info.code.encode("latin-1") == part[:1]), None)
    if info is None or info.arg is None:
        return damaged(part, chance)
    return opcode(info, chance)


def invented(chance: Random) -> bytes:
    """A program of its own, which takes from the stack and from the memo no more than is there."""
    parts, stack, memo = [b"\x80\x02"], "", 0  # the stack: a letter for each value, m for a mark
    for _ in range(chance.choice((3, 10, 30, 80))):
        how = chance.random()
        if how < 0.35:
            made, stack = [chance.choice(VALUES[:-4] + GLOBALS)], stack + "v"
        elif how < 0.42 and memo:
            made, stack = [b"h" + bytes([chance.randrange(memo)])], stack + "v"
        else:
            info = chance.choice(OPCODES)
            after = _stack_after(info, stack)
            if after is None or info.name in ("GET", "BINGET", "LONG_BINGET", "PUT", "BINPUT", "LONG_BINPUT"):
                continue
            made, stack = [opcode(info, chance)], after
        parts += made
        if stack[-1:] == "v" and memo < 200 and chance.random() < 0.2:
            parts.append(b"q" + bytes([memo]))
            memo += 1
    parts += [b"0" if kind == "v" else b"1" for kind in reversed(stack[1:])]
    return b"".join(parts) + (b"" if stack[:1] == "v" else b"N") + b"."


def _stack_after(info: pickletools.OpcodeInfo, stack: str) -> str | None:
    """What is on the stack after this opcode; None where it needs more than there is."""
    before, after = info.stack_before, info.stack_after
    if pickletools.markobject in before:
        fixed = before.index(pickletools.markobject)
        if "m" not in stack:
            return None
        stack = stack[: stack.rindex("m")]
    else:
        fixed = len(before)
    if fixed and stack[-fixed:] != "v" * fixed:
        return None
    return (stack[:-fixed] if fixed else stack) + "".join("m" if one is pickletools.markobject else "v" for one in after)
