"""A pickle read as data: a machine of its own for the pickle opcodes, which can build values and nothing else.

Python's unpickler imports what a file names and calls it with what the file gives: reading a pickle means running it. This
one imports nothing. A name in the file is looked up in a table by `find`, which gives a plain value or a `Name` that says
what badak does where the file calls it; a name that is not in the table ends the reading. Opcodes that reach further
(extension registries, old-style instances, out-of-band buffers) are refused.

Further limits, for files made to exhaust a reader: lengths are checked against the bytes that are there, the memo is a dict
(an index of four billion costs one entry), and keys of dicts and sets are small, because hashing a tuple recurses in C.
"""

import io
import pickletools
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable
from typing import Any

from badak.errors import BadakError
from badak.io.errors import UnsafeFileError, damaged

KEY_ITEMS = 1000  # a key of a dict or set may hold this many values,
KEY_DEPTH = 8  # nested this deep
TABLES = (dict, OrderedDict, Counter, defaultdict)
_mark = object()


class Name:
    """A class or function that a file names: what happens where the file calls it, makes one, or gives one its state."""

    __slots__ = ("name", "call", "new", "build", "value")

    def __init__(
        self,
        name: str,
        call: Callable | None = None,
        *,
        new: Callable | None = None,
        build: Callable | None = None,
        value: Any = None,
    ):
        self.name = name  # "module.name"
        self.call = call  # call(*args) -> the value of REDUCE
        self.new = new  # new(*args) -> the value of NEWOBJ
        self.build = build  # build(made, state), in place
        self.value = value  # what stands for the name itself where the file stores it as a value; None: refused


class Unpickler:
    """Reads one pickle from `file`; `where` is the file's name in messages.

    find(module, name) gives a Name or a plain value. persistent(id) gives what a persistent id stands for.
    """

    def __init__(self, file: io.BytesIO, where: str, find: Callable[[str, str], Any], persistent: Callable[[Any], Any]):
        self.file, self.where, self.find, self.persistent = file, where, find, persistent
        self.stack: list[Any] = []
        self.memo: dict[int, Any] = {}
        self.builders: dict[int, tuple[Any, Callable]] = {}  # id of what was made: (it, how it takes its state)

    def load(self) -> Any:
        """The value of the pickle. Raises FileError for a damaged one, UnsafeFileError for one that names too much."""
        at = 0
        try:
            for opcode, argument, position in pickletools.genops(self.file):
                at = position or 0
                if opcode.name == "STOP":
                    return self._stored(self.stack.pop())
                ACTIONS[opcode.name](self, argument)
        except BadakError:
            raise
        except KeyError as error:
            if error.args and error.args[0] in REFUSED:
                raise UnsafeFileError(
                    f"{self.where}: Weights only load failed: the pickle uses {error.args[0]}, which could run code",
                    "save a state_dict (tensors and plain values) instead",
                ) from None
            raise self._damaged(f"at byte {at} of its pickle ({error!r})") from error
        except (ValueError, IndexError, TypeError, AttributeError, OverflowError, MemoryError, RecursionError) as error:
            raise self._damaged(f"at byte {at} of its pickle ({str(error).splitlines()[0] if str(error) else error!r})") from error
        raise self._damaged("its pickle has no end")

    def _damaged(self, what: str):
        return damaged(self.where, what)

    # what the actions share

    def _to_mark(self) -> list[Any]:
        """The items above the last mark, taken off the stack together with it."""
        stack = self.stack
        for at in range(len(stack) - 1, -1, -1):
            if stack[at] is _mark:
                items = stack[at + 1 :]
                del stack[at:]
                return items
        raise ValueError("a mark is missing")

    def _stored(self, value: Any) -> Any:
        """`value` as something to keep: a name becomes what it stands for."""
        if type(value) is not Name:
            if value is _mark:
                raise ValueError("a mark stands where a value belongs")
            return value
        if value.value is None:
            raise UnsafeFileError(
                f"{self.where}: Weights only load failed: it holds {value.name} itself as a value",
                "save numbers, texts, containers and tensors",
            )
        return value.value

    def _key(self, key: Any) -> Any:
        key = self._stored(key)
        if type(key) in (tuple, frozenset) and _count(key, KEY_DEPTH) > KEY_ITEMS:
            raise ValueError(f"a key of more than {KEY_ITEMS} values, or nested deeper than {KEY_DEPTH}")
        return key

    def _called(self, name: Any, args: Any, how: str) -> Any:
        if type(name) is not Name:
            raise ValueError(f"{type(name).__name__} is called")
        function = getattr(name, how)
        if function is None:
            raise UnsafeFileError(
                f"{self.where}: Weights only load failed: it calls {name.name}, which badak does not do for a file",
                "save a state_dict (tensors and plain values) instead",
            )
        if type(args) is not tuple:
            raise ValueError(f"{name.name} is called with {type(args).__name__} as arguments")
        try:
            made = function(*args)
        except BadakError:
            raise
        except (TypeError, ValueError, OverflowError, KeyError, AttributeError) as error:
            raise self._damaged(f"{name.name} cannot be made of what the file gives ({str(error).splitlines()[0]})") from error
        if name.build is not None:
            self.builders[id(made)] = made, name.build
        return made

    def fill(self, items: list[Any]) -> None:
        """Put key, value, key, value ... into the dict on top of the stack."""
        table = self.stack[-1]
        if type(table) not in TABLES and id(table) not in self.builders:
            raise ValueError(f"items are put into a {type(table).__name__}")
        if len(items) % 2:
            raise ValueError("a key without its value")
        for at in range(0, len(items), 2):
            table[self._key(items[at])] = self._stored(items[at + 1])

    def extend(self, items: list[Any]) -> None:
        """Append items to the list on top of the stack."""
        target = self.stack[-1]
        if type(target) is not list and not (id(target) in self.builders and hasattr(target, "extend")):
            raise ValueError(f"items are appended to a {type(target).__name__}")
        target.extend([self._stored(item) for item in items])

    def build(self) -> None:
        """Give the value on the stack its state."""
        state = self.stack.pop()
        made = self.stack[-1]
        if id(made) in self.builders:
            self.builders[id(made)][1](made, state)
        elif type(made) is OrderedDict and type(state) is dict:  # state_dict()._metadata
            for name, value in state.items():
                if type(name) is str and not hasattr(OrderedDict, name):
                    setattr(made, name, value)
        else:
            raise UnsafeFileError(
                f"{self.where}: Weights only load failed: it gives a {type(made).__name__} a state, which badak does not do",
                "save a state_dict (tensors and plain values) instead",
            )

    def members(self, kind: Callable, items: list[Any]) -> Any:
        """A set or frozenset of items."""
        return kind([self._key(item) for item in items])


def _count(key: Any, depth: int) -> int:
    """How many values a key holds, as soon as that is more than KEY_ITEMS or it is too deep: more than KEY_ITEMS."""
    if type(key) not in (tuple, frozenset):
        return 1
    if not depth or len(key) > KEY_ITEMS:
        return KEY_ITEMS + 1
    total = 1
    for item in key:
        total += _count(item, depth - 1)
        if total > KEY_ITEMS:
            break
    return total


def _push(make: Callable[[Unpickler, Any], Any]) -> Callable[[Unpickler, Any], None]:
    return lambda machine, argument: machine.stack.append(make(machine, argument))


def _tuple_of(count: int) -> Callable[[Unpickler, Any], None]:
    def action(machine: Unpickler, argument: Any) -> None:
        stack = machine.stack
        if len(stack) < count or _mark in stack[-count:]:
            raise ValueError("a tuple of more values than there are")
        stack[-count:] = [tuple(stack[-count:])]

    return action


def _pop(machine: Unpickler, argument: Any) -> None:
    machine.stack.pop()


def _pop_mark(machine: Unpickler, argument: Any) -> None:
    machine._to_mark()


def _get(machine: Unpickler, argument: Any) -> Any:
    if argument not in machine.memo:
        raise ValueError(f"the memo has no entry {argument}")
    return machine.memo[argument]


def _put(machine: Unpickler, argument: Any) -> None:
    if machine.stack[-1] is _mark:
        raise ValueError("a mark is remembered")
    machine.memo[len(machine.memo) if argument is None else argument] = machine.stack[-1]


def _stack_global(machine: Unpickler, argument: Any) -> Any:
    name, module = machine.stack.pop(), machine.stack.pop()
    if type(name) is not str or type(module) is not str:
        raise ValueError("a name that is no text")
    return machine.find(module, name)


def _global(machine: Unpickler, argument: str) -> Any:
    module, _, name = argument.partition(" ")
    return machine.find(module, name)


def _reduce(machine: Unpickler, argument: Any) -> Any:
    args, name = machine.stack.pop(), machine.stack.pop()
    return machine._called(name, args, "call")


def _newobj(machine: Unpickler, argument: Any) -> Any:
    args, name = machine.stack.pop(), machine.stack.pop()
    return machine._called(name, args, "new")


def _dict(machine: Unpickler, argument: Any) -> None:
    items = machine._to_mark()
    machine.stack.append({})
    machine.fill(items)


def _list(machine: Unpickler, argument: Any) -> None:
    items = machine._to_mark()
    machine.stack.append([])
    machine.extend(items)


def _one(machine: Unpickler, argument: Any) -> None:
    value = machine.stack.pop()
    machine.extend([value])


def _pair(machine: Unpickler, argument: Any) -> None:
    value, key = machine.stack.pop(), machine.stack.pop()
    machine.fill([key, value])


def _add_items(machine: Unpickler, argument: Any) -> None:
    items = machine._to_mark()
    if type(machine.stack[-1]) is not set:
        raise ValueError(f"items are added to a {type(machine.stack[-1]).__name__}")
    machine.stack[-1].update(machine._key(item) for item in items)


VALUES = (
    "INT BININT BININT1 BININT2 LONG LONG1 LONG4 FLOAT BINFLOAT STRING BINSTRING SHORT_BINSTRING UNICODE BINUNICODE "
    "SHORT_BINUNICODE BINUNICODE8 BINBYTES SHORT_BINBYTES BINBYTES8 BYTEARRAY8"
).split()
REFUSED = {"INST", "OBJ", "EXT1", "EXT2", "EXT4", "NEWOBJ_EX", "NEXT_BUFFER", "READONLY_BUFFER"}
ACTIONS: dict[str, Callable[[Unpickler, Any], None]] = {
    **dict.fromkeys(VALUES, _push(lambda machine, argument: argument)),
    **dict.fromkeys(("PROTO", "FRAME"), lambda machine, argument: None),
    **dict.fromkeys(("GET", "BINGET", "LONG_BINGET"), _push(_get)),
    **dict.fromkeys(("PUT", "BINPUT", "LONG_BINPUT", "MEMOIZE"), _put),
    "NONE": _push(lambda machine, argument: None),
    "NEWTRUE": _push(lambda machine, argument: True),
    "NEWFALSE": _push(lambda machine, argument: False),
    "EMPTY_LIST": _push(lambda machine, argument: []),
    "EMPTY_TUPLE": _push(lambda machine, argument: ()),
    "EMPTY_DICT": _push(lambda machine, argument: {}),
    "EMPTY_SET": _push(lambda machine, argument: set()),
    "MARK": _push(lambda machine, argument: _mark),
    "TUPLE": _push(lambda machine, argument: tuple(machine._to_mark())),
    "TUPLE1": _tuple_of(1),
    "TUPLE2": _tuple_of(2),
    "TUPLE3": _tuple_of(3),
    "FROZENSET": _push(lambda machine, argument: machine.members(frozenset, machine._to_mark())),
    "LIST": _list,
    "DICT": _dict,
    "APPEND": _one,
    "APPENDS": lambda machine, argument: machine.extend(machine._to_mark()),
    "SETITEM": _pair,
    "SETITEMS": lambda machine, argument: machine.fill(machine._to_mark()),
    "ADDITEMS": _add_items,
    "POP": _pop,
    "POP_MARK": _pop_mark,
    "DUP": _push(lambda machine, argument: machine.stack[-1]),
    "GLOBAL": _push(_global),
    "STACK_GLOBAL": _push(_stack_global),
    "REDUCE": _push(_reduce),
    "NEWOBJ": _push(_newobj),
    "BUILD": lambda machine, argument: machine.build(),
    "PERSID": _push(lambda machine, argument: machine.persistent(argument)),
    "BINPERSID": _push(lambda machine, argument: machine.persistent(machine.stack.pop())),
}
