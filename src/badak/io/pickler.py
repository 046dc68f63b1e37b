"""A value as a pickle of protocol 2, with PyTorch's names for tensors, dtypes and devices.

Python's pickler can only write names that it can import, and `torch` is not there; so this one writes the opcodes itself.
It follows the ordinary protocol (`__reduce_ex__(2)`) for everything that is not in its table. What is met twice is written
once, so that shared and circular values stay so.
"""

import copyreg
import enum
import struct
import types
from collections import OrderedDict
from collections.abc import Callable, Iterable
from typing import Any

from badak.core.errors import tr
from badak.core.public_api.homes import home
from badak.core.public_api.table import pytorch_place
from badak.io.errors import UnpicklableError
from badak.io.storage import UNTYPED
from badak.tensor import Tensor, dtypes
from badak.tensor.attributes import state_of
from badak.tensor.layouts import layout
from badak.tensor.sparse.layout import CompressedTensor, CooTensor, SparseTensor
from badak.tensor.storage import TypedStorage, UntypedStorage

BATCH = 1000  # items between two marks
MODULES = {"builtins": "__builtin__", "copyreg": "copy_reg"}  # protocol 2 is Python 2's
REBUILD = "torch._utils._rebuild_tensor_v2"
REBUILD_UNTYPED = "torch._utils._rebuild_tensor_v3"  # with the dtype, which such a storage does not say
REBUILD_KIND = "torch._tensor._rebuild_from_type_v2"
REBUILD_META = "torch._utils._rebuild_meta_tensor_no_storage"
# Tensor classes of packages above this one: class -> PyTorch's function that rebuilds it from (tensor, requires_grad, hooks).
WRAPPED: dict[type, str] = {}
# Of packages above this one: class -> what makes an instance of it impossible to load, as (what it does, fix); None: nothing.
CHECKS: dict[type, Callable[[Any], tuple[str, str] | None]] = {}


class Pickler:
    """Writes one pickle into `text`. place(tensor) -> (key, class of storage, its numbers, offset, stride).

    part   what follows in the description of a storage: (None,) in the format before PyTorch 1.6, "part of no other one".
    """

    def __init__(self, place: Callable[[Tensor], tuple[str, str, int, int, tuple[int, ...]]], part: tuple = ()) -> None:
        self.place, self.part, self.text = place, part, bytearray()
        self.memo: dict[int, tuple[int, Any]] = {}  # id -> (number, the value, kept alive)
        self.names: dict[str, int] = {}  # dotted names written so far
        self.path: list[str] = []  # where in the whole value we are
        self.remembered = 0

    def dump(self, value: Any) -> bytes:
        """The whole pickle. Raises UnpicklableError naming the place of what cannot be written."""
        self.text += b"\x80\x02"
        try:
            self.save(value)
        except RecursionError:
            raise self._refused(tr("nests too deep"), tr("flatten it")) from None
        self.text += b"."
        return bytes(self.text)

    def save(self, value: Any) -> None:
        """Write one value."""
        known = self.memo.get(id(value))
        if known is not None:
            self._get(known[0])
            return
        writer = WRITERS.get(type(value))
        if writer is not None:
            writer(self, value)
        elif isinstance(value, Tensor):
            self._tensor(value)
        elif isinstance(value, TypedStorage | UntypedStorage):
            self._storage(value)
        elif isinstance(value, type | types.FunctionType | types.BuiltinFunctionType):
            self._name_of(value)
        else:
            self._reduced(value)

    def _get(self, number: int) -> None:
        self.text += b"h" + bytes([number]) if number < 256 else b"j" + struct.pack("<I", number)

    def _put(self, value: Any) -> None:
        self.memo[id(value)] = self._remember(), value

    def _remember(self) -> int:
        number = self.remembered
        self.text += b"q" + bytes([number]) if number < 256 else b"r" + struct.pack("<I", number)
        self.remembered += 1
        return number

    def _name(self, dotted: str, module: str | None = None) -> None:
        """A class or function by name; the module is all but the last part unless given."""
        if dotted in self.names:
            self._get(self.names[dotted])
            return
        module = module or dotted.rpartition(".")[0]
        name = dotted[len(module) + 1 :]
        self.text += b"c" + MODULES.get(module, module).encode() + b"\n" + name.encode() + b"\n"
        self.names[dotted] = self._remember()

    def _called(self, dotted: str, *args: Any) -> None:
        self._name(dotted)
        self._fresh_tuple(args)
        self.text += b"R"

    def _fresh_tuple(self, items: tuple) -> None:
        """A tuple that nothing else refers to: not remembered."""
        self.text += b"("
        self._each(*items)
        self.text += b"t"

    def _each(self, *items: Any) -> None:
        for item in items:
            self.save(item)

    def _refused(self, what: str, fix: str) -> UnpicklableError:
        place = "".join(self.path)
        return UnpicklableError(tr("save: Can't pickle the value{}: it {}", f" at {place}" if place else "", what), fix)

    # the table

    def _int(self, value: int) -> None:
        if -(1 << 31) <= value < 1 << 31:
            self.text += b"K" + bytes([value]) if 0 <= value < 256 else b"J" + struct.pack("<i", value)
            return
        data = value.to_bytes(value.bit_length() // 8 + 1, "little", signed=True)
        self.text += (b"\x8a" + bytes([len(data)]) if len(data) < 256 else b"\x8b" + struct.pack("<i", len(data))) + data

    def _float(self, value: float) -> None:
        self.text += b"G" + struct.pack(">d", value)

    def _str(self, value: str) -> None:
        data = value.encode("utf-8", "surrogatepass")
        self.text += b"X" + struct.pack("<I", len(data)) + data
        self._put(value)

    def _bytes(self, value: bytes) -> None:
        self._called("_codecs.encode", value.decode("latin1"), "latin1")
        self._put(value)

    def _bytearray(self, value: bytearray) -> None:
        self._called("builtins.bytearray", bytes(value))
        self._put(value)

    def _tuple(self, value: tuple) -> None:
        self.text += b"("
        for at, item in enumerate(value):
            self._at(f"[{at}]", item)
        known = self.memo.get(id(value))
        if known is not None:  # it contains itself, and was written on the way
            self.text += b"1"
            self._get(known[0])
            return
        self.text += b"t"
        self._put(value)

    def _list(self, value: list) -> None:
        self.text += b"]"
        self._put(value)
        self._appended(value)

    def _appended(self, items: list) -> None:
        for at, item in enumerate(items):
            if at % BATCH == 0:
                self.text += b"(" if at == 0 else b"e("
            self._at(f"[{at}]", item)
        if items:
            self.text += b"e"

    def _dict(self, value: dict) -> None:
        self.text += b"}"
        self._put(value)
        self._items(value.items())

    def _items(self, items: Iterable[tuple[Any, Any]]) -> None:
        written = 0
        for key, item in items:
            if written % BATCH == 0:
                self.text += b"(" if written == 0 else b"u("
            self.save(key)
            self._at(f"[{key!r}]", item)
            written += 1
        if written:
            self.text += b"u"

    def _at(self, place: str, item: Any) -> None:
        self.path.append(place)
        self.save(item)
        self.path.pop()

    def _ordered(self, value: Any) -> None:
        self._called("collections.OrderedDict")
        self._put(value)
        self._items(value.items())
        if value.__dict__:
            self.save(dict(value.__dict__))
            self.text += b"b"

    def _set(self, value: Any) -> None:
        self._called(f"builtins.{type(value).__name__}", list(value))
        self._put(value)

    def _complex(self, value: complex) -> None:
        self._called("builtins.complex", value.real, value.imag)

    def _size(self, value: dtypes.Size) -> None:
        self._called("torch.Size", tuple(value))

    def _device(self, value: dtypes.device) -> None:
        self._called("torch.device", *((value.type,) if value.index is None else (value.type, value.index)))

    def _dtype(self, value: dtypes.dtype) -> None:
        self._name(f"torch.{value.name}")

    def _layout(self, value: layout) -> None:
        self._called("torch.serialization._get_layout", f"torch.{value.name}")
        self._put(value)

    def _sparse(self, value: SparseTensor) -> None:
        coalesced = (value._tidy,) if isinstance(value, CooTensor) else ()
        parts = (*value.parts().values(), value._entries.detach(), value.shape, *coalesced)
        self._called("torch._utils._rebuild_sparse_tensor", value.layout, parts)
        self._put(value)

    def _storage(self, value: TypedStorage | UntypedStorage) -> None:
        """A storage, as the memory of a tensor that sees all of it."""
        kind = value.dtype if isinstance(value, TypedStorage) else dtypes.uint8
        if value.device == dtypes.META:
            raise self._refused(tr("is a storage on the meta device, which has no bytes"), tr("save the tensor"))
        whole = Tensor._of(value.untyped()._bytes.view(kind.numpy))
        key, storage, count, _, _ = self.place(whole)
        self._persistent(storage, key, count)
        self._put(value)

    def _persistent(self, storage: str, key: str, count: int) -> None:
        self.text += b"(" + b"X\x07\x00\x00\x00storage"
        self._name(f"torch.{storage}")
        self._each(key, "cpu", count, *self.part)
        self.text += b"tQ"

    def _tensor(self, value: Tensor) -> None:
        kind, state = type(value), state_of(value)
        wrapper = next((WRAPPED[one] for one in kind.__mro__ if one in WRAPPED), None)
        if wrapper is not None:
            self._name(f"{wrapper}_with_state" if state else wrapper)
            self.text += b"("
            self._plain_tensor(value, False)
            self.text += b"R"
            self.save(value.requires_grad)
            self._called("collections.OrderedDict")
            self._each(*([state] if state else []))
            self.text += b"t"
        elif state or not home(kind).startswith("badak."):  # of the program's own class, or with attributes
            self._name(REBUILD_KIND)
            self.text += b"("
            self._plain_tensor(
                value, value.requires_grad, lambda: self._name("torch.Tensor") if kind is Tensor else self._name_of(kind)
            )
            self.save(state)
            self.text += b"t"
        else:
            self._plain_tensor(value, value.requires_grad)
        self.text += b"R"
        self._put(value)

    def _plain_tensor(self, value: Tensor, grad: bool, between: Callable[[], None] = lambda: None) -> None:
        """PyTorch's function that makes a plain tensor, what `between` writes, and the function's arguments."""
        if value.device == dtypes.META:  # it has no memory
            self._name(REBUILD_META)
            between()
            self._fresh_tuple((value.dtype, tuple(value.shape), value.stride(), grad))
            return
        key, storage, count, offset, stride = self.place(value)
        untyped = storage == UNTYPED
        self._name(REBUILD_UNTYPED if untyped else REBUILD)
        between()
        self.text += b"("
        self._persistent(storage, key, count)
        self._each(offset, tuple(value._array.shape), stride, grad)
        self._called("collections.OrderedDict")
        if untyped:
            self.save(value.dtype)
        self.text += b"t"

    # everything else

    def _name_of(self, value: Any) -> None:
        module, name = value.__module__ and home(value), value.__qualname__
        if "<" in name:
            cause = tr("is {} ({})", tr("a lambda") if "lambda" in name else tr("defined inside a function"), name)
            raise self._refused(cause, tr("define it at the top of a module, or save a state_dict"))
        if isinstance(module, str) and module.startswith("badak.compat.torch."):  # as PyTorch names it
            module = pytorch_place(f"{module}.{name}").removesuffix(f".{name}").replace("badak.", "torch.", 1)
        if not isinstance(module, str):
            raise self._refused(tr("belongs to no module ({})", name), tr("save a state_dict"))
        self._name(f"{module}.{name}", module)

    def _reduced(self, value: Any) -> None:
        for base, check in CHECKS.items():
            if isinstance(value, base) and (complaint := check(value)):
                raise self._refused(*complaint)
        reduce = copyreg.dispatch_table.get(type(value))
        if reduce is None and type(value).__reduce_ex__ is enum.Enum.__reduce_ex__:
            reduce = _of_member
        try:
            said = reduce(value) if reduce else value.__reduce_ex__(2)
        except TypeError as error:
            cause = tr("is a {} ({})", type(value).__name__, error)
            raise self._refused(cause, tr("leave it out, or save a state_dict")) from error
        if isinstance(said, str):
            self._name(f"{value.__module__}.{said}", value.__module__)
            return
        function, args, state, items, pairs = (*said, None, None, None)[:5]
        if getattr(function, "__name__", "") == "__newobj__":
            self.save(args[0])
            self._fresh_tuple(tuple(args[1:]))
            self.text += b"\x81"
        else:
            self.save(function)
            self._fresh_tuple(tuple(args))
            self.text += b"R"
        self._put(value)
        if items is not None:
            self._appended(list(items))
        if pairs is not None:
            self._items(pairs)
        if state is not None:
            self._at(f".<{type(value).__name__}>", state)
            self.text += b"b"


def _of_member(member: enum.Enum) -> tuple:
    """A member by its value: before Python 3.11.4 it is said by `getattr`, which no file may name."""
    return type(member), (member._value_,)


WRITERS: dict[type, Callable[[Pickler, Any], None]] = {
    type(None): lambda out, value: out.text.extend(b"N"),
    bool: lambda out, value: out.text.extend(b"\x88" if value else b"\x89"),
    int: Pickler._int,
    float: Pickler._float,
    str: Pickler._str,
    bytes: Pickler._bytes,
    bytearray: Pickler._bytearray,
    tuple: Pickler._tuple,
    list: Pickler._list,
    dict: Pickler._dict,
    OrderedDict: Pickler._ordered,
    set: Pickler._set,
    frozenset: Pickler._set,
    complex: Pickler._complex,
    dtypes.Size: Pickler._size,
    dtypes.device: Pickler._device,
    dtypes.dtype: Pickler._dtype,
    layout: Pickler._layout,
    CooTensor: Pickler._sparse,
    CompressedTensor: Pickler._sparse,
}
