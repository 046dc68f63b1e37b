"""A pickle read as data: a machine of its own for the pickle opcodes, which can build values and nothing else.

Python's unpickler imports what a file names and calls it with what the file gives: reading a pickle means running it. This
one imports nothing. A name in the file is a key into a table, by `find`: the entry is a plain value or a `Name`, which says
what *badak* does where the file calls it, and which kinds of arguments it takes. A name that is not in the table ends the
reading. What the opcodes act on is as narrow:

    REDUCE, NEWOBJ     a `Name`, with arguments whose very types it lists
    BUILD              what such a `Name` has made, and OrderedDict (for `_metadata`)
    APPEND(S)          list, deque               SETITEM(S)   dict, OrderedDict, Counter, defaultdict
    ADDITEMS           set                       keys, members: small plain values (`limits.Keys`)

Types are compared by identity, since `==`, `isinstance` and `hasattr` can end in code of a class. Opcodes that reach further
(extension registries, old-style instances, out-of-band buffers) are refused. Lengths are checked against the bytes that are
there, the memo is a dict (an index of four billion costs one entry), and a call pays for what it copies (`limits.Budget`).
"""

import io
import pickletools
import struct
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable
from typing import Any

from badak.core.errors import BadakError, tr
from badak.io.errors import UnsafeFileError, damaged, line, reason
from badak.io.limits import Budget, Keys

TABLES = (dict, OrderedDict, Counter, defaultdict)
LISTS = (list, deque)
LAST_PROTOCOL = 5
_mark = object()

Kind = Callable[[Any], bool]  # whether an argument is of the kind that is expected


def exactly(*kinds: type) -> Kind:
    """Values of these very types, not of classes derived from them."""
    return lambda value: any(type(value) is kind for kind in kinds)


def derived(*bases: type) -> Kind:
    """Values of classes derived from these."""
    return lambda value: issubclass(type(value), bases)


def anything(value: Any) -> bool:
    """Every value: for what is kept and not looked at."""
    return True


def named(value: Any) -> bool:
    """A name itself, where a file hands a function over as an argument."""
    return type(value) is Name


class Name:
    """A class or function that a file names: what happens where the file calls it, makes one, or gives one its state."""

    __slots__ = ("name", "call", "takes", "needs", "new", "build", "finished", "value")

    def __init__(
        self,
        name: str,
        call: Callable | None = None,
        *takes: Kind,
        needs: int | None = None,
        new: Callable | None = None,
        build: Callable | None = None,
        finished: Callable[[Any], bool] | None = None,
        value: Any = None,
    ) -> None:
        self.name = name  # "module.name"
        self.call = call  # call(*args) -> the value of REDUCE
        self.new = new  # new(*args) -> the value of NEWOBJ
        self.takes = takes  # of both: the kind of each argument
        self.needs = len(takes) if needs is None else needs  # of both: how many arguments at least
        self.build = build  # build(made, state), in place
        self.finished = finished  # finished(made): whether it has got the state that it is nothing without
        self.value = value  # what stands for the name itself where the file stores it as a value; None: refused

    def fits(self, args: tuple) -> bool:
        """Whether these are arguments that it takes."""
        return self.needs <= len(args) <= len(self.takes) and all(kind(arg) for kind, arg in zip(self.takes, args))

    def arguments(self, args: tuple, stored: Callable[[Any], Any]) -> tuple:
        """`args`, in which names have become the values that they stand for, unless a name is what is expected."""
        kinds = [*self.takes, *[anything] * (len(args) - len(self.takes))]
        return tuple(arg if kind is named else stored(arg) for kind, arg in zip(kinds, args))


class Vouched(Name):
    """What the program itself vouches for: it takes whatever the file gives it."""

    __slots__ = ()

    def fits(self, args: tuple) -> bool:
        return True


class Unpickler:
    """Reads one pickle from `file`; `where` is the file's name in messages.

    find(module, name) gives a Name or a plain value. persistent(id) gives what a persistent id stands for.
    """

    encoding = "utf-8"  # of Python 2's texts

    def __init__(self, file: io.BytesIO, where: str, find: Callable[[str, str], Any], persistent: Callable[[Any], Any]) -> None:
        self.file, self.where, self.find, self.persistent = file, where, find, persistent
        self.stack: list[Any] = []
        self.memo: dict[int, Any] = {}
        self.builders: dict[int, tuple[Any, Callable]] = {}  # id of what was made: (it, how it takes its state)
        self.unfinished: list[tuple[Any, Callable]] = []  # what was made: (it, whether it has its state)
        self.naming: dict[int, tuple[tuple, tuple | None]] = {}  # id of a tuple with names in it: (it, it as a value)
        self.keys, self.budget, self.read = Keys(), Budget(), 0

    def load(self) -> Any:
        """The value of the pickle. Raises FileError for a damaged one, UnsafeFileError for one that names too much."""
        begin = self.file.tell()
        try:
            for opcode, argument, position in pickletools.genops(self.file):
                self.read = (position or 0) - begin
                if opcode.name == "STOP":
                    self.expect_finished()
                    made = self.pop()
                    if self.stack:  # bytes of it are missing, and this is a part of what it held
                        raise ValueError(f"{len(self.stack)} values are left over at its end")
                    return self.stored(made)
                ACTIONS[opcode.name](self, argument)
        except BadakError:
            raise
        except (
            ValueError, LookupError, TypeError, AttributeError, ArithmeticError, MemoryError, RecursionError, EOFError, struct.error
        ) as error:  # fmt: skip
            raise damaged(self.where, tr("at byte {} of its pickle ({})", begin + self.read, reason(error))) from error
        raise damaged(self.where, tr("its pickle has no end"))

    def expect_finished(self) -> None:
        """Raise ValueError where something was made that has not got its state."""
        for made, finished in self.unfinished:
            if not finished(made):
                raise ValueError(f"a {line(type(made).__name__)} without its state")

    def unsafe(self, what: str) -> UnsafeFileError:
        """The complaint about a pickle that wants more than data."""
        cause = tr("{}: Weights only load failed: {}", self.where, what)
        return UnsafeFileError(cause, "save a state_dict (tensors and plain values) instead")

    # what the actions share

    def top(self) -> Any:
        """The value on top of the stack."""
        if self.stack[-1] is _mark:
            raise ValueError("a mark stands where a value belongs")
        return self.stack[-1]

    def pop(self) -> Any:
        """The value on top of the stack, taken off."""
        self.top()
        return self.stack.pop()

    def to_mark(self) -> list[Any]:
        """The items above the last mark, taken off the stack together with it."""
        stack = self.stack
        for at in range(len(stack) - 1, -1, -1):
            if stack[at] is _mark:
                items = stack[at + 1 :]
                del stack[at:]
                return items
        raise ValueError("a mark is missing")

    def stored(self, value: Any) -> Any:
        """`value` as something to keep: a name becomes what it stands for, alone or in a tuple."""
        if type(value) is tuple and id(value) in self.naming:
            _, plain = self.naming[id(value)]
            if plain is None:
                plain = tuple(self.stored(item) for item in value)
                self.naming[id(value)] = value, plain
            return plain
        if not issubclass(type(value), Name):
            if value is _mark:
                raise ValueError("a mark stands where a value belongs")
            return value
        if value.value is None:
            raise self.unsafe(tr("it holds {} itself as a value", value.name))
        return value.value

    def tuple_of(self, items: list[Any]) -> tuple:
        """A tuple. Names stay in it, for it may be the arguments of a call; tuples within it are values."""
        if self.naming:
            items = [self.stored(item) if type(item) is tuple else item for item in items]
        made = tuple(items)
        for item in made:
            if issubclass(type(item), Name):
                self.naming[id(made)] = made, None
                break
        return made

    def called(self, name: Any, args: Any, how: str) -> Any:
        """What a name makes of its arguments; how: "call" or "new"."""
        if not issubclass(type(name), Name):
            raise ValueError(f"a {type(name).__name__} is called")
        function = getattr(name, how)
        if function is None:
            raise self.unsafe(tr("it calls {}, which badak does not do for a file", name.name))
        if type(args) is not tuple:
            raise ValueError(f"{name.name} is called with a {type(args).__name__} as its arguments")
        args = name.arguments(args, self.stored)
        self.budget.charge(args, self.read)
        try:
            if not name.fits(args):
                raise TypeError("arguments of other kinds or of another number")
            made = function(*args)
        except BadakError:
            raise
        except Exception as error:  # what the program vouches for may raise anything
            raise damaged(self.where, tr("{} cannot be made of what the file gives ({})", name.name, reason(error))) from error
        if name.build is not None:
            self.builders[id(made)] = made, name.build
        if name.finished is not None:
            self.unfinished.append((made, name.finished))
        return made

    # the actions that change a value

    def fill(self, items: list[Any]) -> None:
        """Put key, value, key, value ... into the dict on top of the stack."""
        table = self.top()
        if not any(type(table) is kind for kind in TABLES):
            raise ValueError(f"items are put into a {type(table).__name__}")
        if len(items) % 2:
            raise ValueError("a key without its value")
        for at in range(0, len(items), 2):
            table[self.keys.check(self.stored(items[at]), table)] = self.stored(items[at + 1])

    def extend(self, items: list[Any]) -> None:
        """Append items to the list on top of the stack."""
        target = self.top()
        if not any(type(target) is kind for kind in LISTS):
            raise ValueError(f"items are appended to a {type(target).__name__}")
        target.extend([self.stored(item) for item in items])

    def add(self, items: list[Any]) -> None:
        """Add items to the set on top of the stack."""
        target = self.top()
        if type(target) is not set:
            raise ValueError(f"items are added to a {type(target).__name__}")
        target.update([self.keys.check(self.stored(item), target) for item in items])

    def build(self) -> None:
        """Give the value on top of the stack its state."""
        state = self.stored(self.pop())
        made = self.top()
        self.budget.charge((state,), self.read)
        if id(made) in self.builders:
            self.builders[id(made)][1](made, state)
        elif type(made) is OrderedDict and type(state) is dict:  # state_dict()._metadata
            for name, value in state.items():
                if type(name) is str and not hasattr(OrderedDict, name):
                    made.__dict__[name] = value
        else:
            raise self.unsafe(tr("it gives a {} a state, which badak does not do", type(made).__name__))


Action = Callable[[Unpickler, Any], Any]


def _push(make: Callable[[Unpickler, Any], Any]) -> Action:
    return lambda machine, argument: machine.stack.append(make(machine, argument))


def _tuple_of(count: int) -> Action:
    def action(machine: Unpickler, argument: Any) -> None:
        items = machine.stack[-count:]
        if len(items) < count or any(item is _mark for item in items):
            raise ValueError("a tuple of more values than there are")
        machine.stack[-count:] = [machine.tuple_of(items)]

    return action


def _refuse(opcode: str) -> Action:
    def action(machine: Unpickler, argument: Any) -> None:
        raise machine.unsafe(tr("the pickle uses {}, which could run code", opcode))

    return action


def _protocol(machine: Unpickler, argument: int) -> None:
    if argument > LAST_PROTOCOL:
        raise ValueError(f"protocol {argument}; the last one is {LAST_PROTOCOL}")


def _get(machine: Unpickler, argument: int) -> Any:
    if argument not in machine.memo:
        raise ValueError("the memo has no such entry")
    return machine.memo[argument]


def _put(machine: Unpickler, argument: int | None) -> None:
    machine.memo[len(machine.memo) if argument is None else argument] = machine.top()


def _stack_global(machine: Unpickler, argument: Any) -> Any:
    name, module = machine.pop(), machine.pop()
    if type(name) is not str or type(module) is not str:
        raise ValueError("a name that is no text")
    return machine.find(module, name)


def _global(machine: Unpickler, argument: str) -> Any:
    module, _, name = argument.partition(" ")
    return machine.find(module, name)


def _call(how: str) -> Callable[[Unpickler, Any], Any]:
    def make(machine: Unpickler, argument: Any) -> Any:
        args, name = machine.pop(), machine.pop()
        return machine.called(name, args, how)

    return make


def _frozen(machine: Unpickler, argument: Any) -> frozenset:
    items = machine.to_mark()
    return frozenset([machine.keys.check(machine.stored(item), items) for item in items])


def _dict(machine: Unpickler, argument: Any) -> None:
    items = machine.to_mark()
    machine.stack.append({})
    machine.fill(items)


def _list(machine: Unpickler, argument: Any) -> None:
    items = machine.to_mark()
    machine.stack.append([])
    machine.extend(items)


def _pair(machine: Unpickler, argument: Any) -> None:
    value, key = machine.pop(), machine.pop()
    machine.fill([key, value])


def _text(machine: Unpickler, argument: Any) -> str | bytes:
    """A text of Python 2, which is bytes."""
    if type(argument) is not str:
        return argument  # type: ignore[no-any-return]
    raw = argument.encode("latin1")
    return raw if machine.encoding == "bytes" else raw.decode(machine.encoding)


VALUES = (
    "INT BININT BININT1 BININT2 LONG LONG1 LONG4 FLOAT BINFLOAT UNICODE BINUNICODE "
    "SHORT_BINUNICODE BINUNICODE8 BINBYTES SHORT_BINBYTES BINBYTES8 BYTEARRAY8"
).split()
REFUSED = "INST OBJ EXT1 EXT2 EXT4 NEWOBJ_EX NEXT_BUFFER READONLY_BUFFER".split()
ACTIONS: dict[str, Action] = {
    **dict.fromkeys(VALUES, _push(lambda machine, argument: argument)),
    **dict.fromkeys(("STRING", "BINSTRING", "SHORT_BINSTRING"), _push(_text)),
    **{opcode: _refuse(opcode) for opcode in REFUSED},
    **dict.fromkeys(("GET", "BINGET", "LONG_BINGET"), _push(_get)),
    **dict.fromkeys(("PUT", "BINPUT", "LONG_BINPUT", "MEMOIZE"), _put),
    "PROTO": _protocol,
    "FRAME": lambda machine, argument: None,
    "NONE": _push(lambda machine, argument: None),
    "NEWTRUE": _push(lambda machine, argument: True),
    "NEWFALSE": _push(lambda machine, argument: False),
    "EMPTY_LIST": _push(lambda machine, argument: []),
    "EMPTY_TUPLE": _push(lambda machine, argument: ()),
    "EMPTY_DICT": _push(lambda machine, argument: {}),
    "EMPTY_SET": _push(lambda machine, argument: set()),
    "MARK": _push(lambda machine, argument: _mark),
    "TUPLE": _push(lambda machine, argument: machine.tuple_of(machine.to_mark())),
    "TUPLE1": _tuple_of(1),
    "TUPLE2": _tuple_of(2),
    "TUPLE3": _tuple_of(3),
    "FROZENSET": _push(_frozen),
    "LIST": _list,
    "DICT": _dict,
    "APPEND": lambda machine, argument: machine.extend([machine.pop()]),
    "APPENDS": lambda machine, argument: machine.extend(machine.to_mark()),
    "SETITEM": _pair,
    "SETITEMS": lambda machine, argument: machine.fill(machine.to_mark()),
    "ADDITEMS": lambda machine, argument: machine.add(machine.to_mark()),
    "POP": lambda machine, argument: machine.stack.pop(),
    "POP_MARK": lambda machine, argument: machine.to_mark(),
    "DUP": _push(lambda machine, argument: machine.top()),
    "GLOBAL": _push(_global),
    "STACK_GLOBAL": _push(_stack_global),
    "REDUCE": _push(_call("call")),
    "NEWOBJ": _push(_call("new")),
    "BUILD": lambda machine, argument: machine.build(),
    "PERSID": _push(lambda machine, argument: machine.persistent(argument)),
    "BINPERSID": _push(lambda machine, argument: machine.persistent(machine.stored(machine.pop()))),
}
