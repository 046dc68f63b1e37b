"""What a code object asks for by name: its globals, closures and arguments, and the attributes of these and of other values.

Names are found in the bytecode. An attribute that is asked of a name, as in `self.config.dropout`, is a chain from there; one
that is asked of anything else (the result of a call, a local variable, an element) is free: it may be asked of whatever the code
can reach. So what is found is never less than what the code reads.
"""

import dis
import functools
import inspect
import re
import types
from typing import NamedTuple

_ATTRIBUTES = ("LOAD_ATTR", "LOAD_METHOD", "STORE_ATTR", "DELETE_ATTR", "LOAD_SUPER_ATTR")
_NOTHING = ("CACHE", "EXTENDED_ARG", "PRECALL", "NOP", "PUSH_NULL", "RESUME")
# code that names one of these may read attributes whose names stand nowhere in it
_BY_ANY_NAME = frozenset("attrgetter methodcaller __reduce_ex__ __getstate__".split())
# functions that are given the name of what they read; by whatever names they read, these stand in them or are given
FORMATS = frozenset({"format", "format_map", "vformat"})  # "{0.rate}".format(thing)
_MAKES = ("BINARY_OP", "BUILD_STRING")  # texts of others
_GIVEN_NAMES = frozenset("__getattribute__ __getattr__ __setattr__ __delattr__".split())


class Chain(NamedTuple):
    """A name, and the attributes that are asked of it one after the other. kind: "global", "cell" or "argument"."""

    kind: str
    root: str
    names: tuple[str, ...]


class Facts(NamedTuple):
    """What a code object asks for."""

    chains: frozenset[Chain]
    free: frozenset[str]  # attributes of values that have no name
    everything: bool  # whether it may ask for attributes by any name
    imports: frozenset[str]
    by_words: bool  # whether it may ask for attributes by the texts that it is given, and those that it finds


def _instructions(code: types.CodeType) -> list[tuple[dis.Instruction, int]]:
    """The instructions of a code object, and where each begins: at its first EXTENDED_ARG, if it has one."""
    found: list[tuple[dis.Instruction, int]] = []
    begin = None
    for step in dis.get_instructions(code):
        begin = step.offset if begin is None else begin
        if step.opname != "EXTENDED_ARG":
            if step.opname not in _NOTHING:
                found.append((step, begin))
            begin = None
    return found


def facts(code: types.CodeType, ran: set[int] | None = None) -> Facts:
    """The names in a code object, without those in the functions that are defined within it.

    ran: the places of the instructions that were executed, where that is known; what the others ask for does not count.
    """
    both = _instructions(code)
    steps = [step for step, _ in both]
    arguments = unchanged_arguments(code)
    chains, free, imports = set(), set(), set()
    everything, at = False, 0
    while at < len(steps):
        step, begin = both[at]
        at += 1
        if ran is not None and begin not in ran and step.offset not in ran:
            continue
        if step.opname == "IMPORT_NAME":
            imports.add(str(step.argval))
        elif step.opname == "MATCH_CLASS":
            everything = True
        elif step.opname.startswith("FORMAT_"):  # a part of an f-string
            free.add("__format__")
        elif step.opname in _ATTRIBUTES or step.opname == "IMPORT_FROM":
            free.add(str(step.argval))
        elif (found := _root(step, code, arguments)) is not None:
            kind, root = found
            names, at = _followed(steps, at)
            if kind:
                chains.add(Chain(kind, root, tuple(names)))
            free.update(names if not kind else ())
    asked = free.union(*(chain.names for chain in chains), (chain.root for chain in chains))
    everything = everything or not _BY_ANY_NAME.isdisjoint(asked)
    if not FORMATS.isdisjoint(asked):
        at_formats = (i for i, (step, begin) in enumerate(both) if _asks_for_format(step) and (ran is None or begin in ran))
        formats = [_text_before(steps, i) for i in at_formats]
        free.update(name for text in formats if text for name in named_in_format(text))
        everything = everything or None in formats
    by_words = code.co_name in _GIVEN_NAMES or not _GIVEN_NAMES.isdisjoint(asked)
    if by_words:
        free.update(word for word in _words(code.co_consts))
        made = [i for i, (step, begin) in enumerate(both) if step.opname in _MAKES and (ran is None or begin in ran)]
        everything = everything or not all(_is_raised(steps[i:]) for i in made)
    return Facts(frozenset(chains), frozenset(free), everything, frozenset(imports), by_words)


def named_in_format(text: str) -> list[str]:
    """The attributes that a text like "{0.rate}" asks for."""
    return re.findall(r"\.(\w+)", text)


def _asks_for_format(step: dis.Instruction) -> bool:
    return step.opname in _ATTRIBUTES and step.argval in FORMATS


def _text_before(steps: list[dis.Instruction], at: int) -> str | None:
    """The text whose `format` is asked for; None where that stands elsewhere."""
    before = steps[at - 1] if at else None
    return before.argval if before is not None and before.opname == "LOAD_CONST" and isinstance(before.argval, str) else None


def _words(constants: tuple) -> list[str]:
    return [text for text in _texts(constants) if text.isidentifier()]


def _texts(constants: tuple) -> list[str]:
    found = [each for each in constants if isinstance(each, str)]
    return found + [text for each in constants if isinstance(each, tuple) for text in _texts(each)]


def _is_raised(steps: list[dis.Instruction]) -> bool:
    """Whether what is put together first in these becomes the text of an error."""
    ends = (step.opname for step in steps if step.opname.startswith(("RAISE", "STORE", "RETURN", "POP_TOP")))
    return next(ends, "") == "RAISE_VARARGS"


@functools.lru_cache(2000)
def unchanged_arguments(code: types.CodeType) -> frozenset[str]:
    """The arguments that nothing is assigned to."""
    flags = bool(code.co_flags & inspect.CO_VARARGS) + bool(code.co_flags & inspect.CO_VARKEYWORDS)
    names = set(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount + flags])
    return frozenset(names - _assigned(code))


def _assigned(code: types.CodeType) -> set[str]:
    found: set[str] = set()
    for step in dis.get_instructions(code):
        if "STORE_FAST" in step.opname or step.opname in ("DELETE_FAST", "STORE_DEREF", "DELETE_DEREF", "LOAD_FAST_AND_CLEAR"):
            found.update(step.argval if isinstance(step.argval, tuple) else (step.argval,))
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            found |= _assigned(inner) & set(inner.co_freevars)
    return found


def _root(step: dis.Instruction, code: types.CodeType, arguments: frozenset[str]) -> tuple[str, str] | None:
    """(kind, name) of what an instruction loads by name; a local variable has the kind "". None: it loads nothing so."""
    name = step.argval[-1] if isinstance(step.argval, tuple) and step.argval else step.argval
    opname = step.opname
    if not isinstance(name, str):
        return None
    if opname.endswith(("_GLOBAL", "_GLOBALS", "_NAME")):
        return "global", name
    if opname in ("LOAD_DEREF", "LOAD_CLASSDEREF", "LOAD_FROM_DICT_OR_DEREF", "STORE_DEREF", "DELETE_DEREF", "LOAD_CLOSURE"):
        if name in code.co_freevars:
            return "cell", name
        return ("argument" if name in arguments else ""), name
    if opname.startswith("LOAD_FAST") or opname.endswith("LOAD_FAST"):
        return ("argument" if name in arguments else ""), name
    return None


def _followed(steps: list[dis.Instruction], at: int) -> tuple[list[str], int]:
    """The attributes that are asked of what was loaded right before `at`, and where they end."""
    names: list[str] = []
    while at < len(steps) and steps[at].opname in _ATTRIBUTES and not steps[at].is_jump_target:
        names.append(str(steps[at].argval))
        at += 1
        if steps[at - 1].opname in ("STORE_ATTR", "DELETE_ATTR"):
            break
    return names, at
