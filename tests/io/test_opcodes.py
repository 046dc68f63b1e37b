"""What each opcode of pickle means here, a value or a refusal; and no name of the table runs code of what it is given."""

import io
import pickletools
from collections import OrderedDict
from contextlib import suppress
from itertools import product

import pytest

import badak
from badak.core.errors import FileError
from badak.io import allowed
from tests.io.attacks.objects import TRAP
from tests.io.attacks.pickles import NUMBERS, archive, called, storage, text, whole
from tests.tiers import looped


class Refused(str):
    """The words of a refusal."""


def runs(opcode: str) -> Refused:
    """The refusal of an opcode that reaches further than data."""
    return Refused(f"uses {opcode}, which could run code")


ROWS: dict[str, tuple[bytes, object]] = {  # opcode: (a pickle that uses it, its value or the words of the refusal)
    "INT": (b"I7\n", 7),
    "BININT": (b"J\xff\xff\xff\xff", -1),
    "BININT1": (b"K\x07", 7),
    "BININT2": (b"M\x01\x02", 513),
    "LONG": (b"L-12L\n", -12),
    "LONG1": (b"\x8a\x02\x00\x80", -32768),
    "LONG4": (b"\x8b\x01\x00\x00\x00\x05", 5),
    "STRING": (b"S'a\\n'\n", "a\n"),
    "BINSTRING": (b"T\x02\x00\x00\x00ab", "ab"),
    "SHORT_BINSTRING": (b"U\x02ab", "ab"),
    "BINBYTES": (b"B\x02\x00\x00\x00ab", b"ab"),
    "SHORT_BINBYTES": (b"C\x02ab", b"ab"),
    "BINBYTES8": (b"\x8e\x02" + bytes(7) + b"ab", b"ab"),
    "BYTEARRAY8": (b"\x96\x02" + bytes(7) + b"ab", bytearray(b"ab")),
    "NEXT_BUFFER": (b"\x97", runs("NEXT_BUFFER")),
    "READONLY_BUFFER": (b"C\x01a\x98", runs("READONLY_BUFFER")),
    "NONE": (b"N", None),
    "NEWTRUE": (b"\x88", True),
    "NEWFALSE": (b"\x89", False),
    "UNICODE": (b"V\\u00e9\n", "é"),
    "SHORT_BINUNICODE": (b"\x8c\x02\xc3\xa9", "é"),
    "BINUNICODE": (b"X\x01\x00\x00\x00a", "a"),
    "BINUNICODE8": (b"\x8d\x01" + bytes(7) + b"a", "a"),
    "FLOAT": (b"F0.5\n", 0.5),
    "BINFLOAT": (b"G\x3f\xe0" + bytes(6), 0.5),
    "EMPTY_LIST": (b"]", []),
    "APPEND": (b"]Na", [None]),
    "APPENDS": (b"](NNe", [None, None]),
    "LIST": (b"(NNl", [None, None]),
    "EMPTY_TUPLE": (b")", ()),
    "TUPLE": (b"(NNt", (None, None)),
    "TUPLE1": (b"N\x85", (None,)),
    "TUPLE2": (b"NN\x86", (None, None)),
    "TUPLE3": (b"NNN\x87", (None, None, None)),
    "EMPTY_DICT": (b"}", {}),
    "DICT": (b"(K\x01Nd", {1: None}),
    "SETITEM": (b"}K\x01Ns", {1: None}),
    "SETITEMS": (b"}(K\x01NK\x02Nu", {1: None, 2: None}),
    "EMPTY_SET": (b"\x8f", set()),
    "ADDITEMS": (b"\x8f(K\x01K\x02\x90", {1, 2}),
    "FROZENSET": (b"(K\x01\x91", frozenset({1})),
    "POP": (b"NK\x010", None),
    "DUP": (b"N2\x86", (None, None)),
    "MARK": (b"(t", ()),
    "POP_MARK": (b"N(K\x01K\x021", None),
    "GET": (b"K\x07p5\n0g5\n", 7),
    "BINGET": (b"K\x07q\x050h\x05", 7),
    "LONG_BINGET": (b"K\x07q\x050j\x05\x00\x00\x00", 7),
    "PUT": (b"K\x07p5\n", 7),
    "BINPUT": (b"K\x07q\x05", 7),
    "LONG_BINPUT": (b"K\x07r\x05\x00\x00\x00", 7),
    "MEMOIZE": (b"K\x07\x940h\x00", 7),
    "EXT1": (b"\x82\x01", runs("EXT1")),
    "EXT2": (b"\x83\x01\x00", runs("EXT2")),
    "EXT4": (b"\x84\x01\x00\x00\x00", runs("EXT4")),
    "GLOBAL": (b"cos\nsystem\n", Refused("it names os.system")),
    "STACK_GLOBAL": (text("os") + text("system") + b"\x93", Refused("it names os.system")),
    "REDUCE": (called("collections", "OrderedDict", b")"), OrderedDict()),
    "BUILD": (called("collections", "OrderedDict", b")") + b"}" + text("_metadata") + b"Nsb", OrderedDict()),
    "INST": (b"(ios\nsystem\n", runs("INST")),
    "OBJ": (b"(ccollections\nOrderedDict\no", runs("OBJ")),
    "NEWOBJ": (b"ctorch.torch_version\nTorchVersion\n" + text("2.0") + b"\x85\x81", "2.0"),
    "NEWOBJ_EX": (b"ccollections\nOrderedDict\n)}\x92", runs("NEWOBJ_EX")),
    "PROTO": (b"\x80\x05N", None),
    "STOP": (b"N", None),
    "FRAME": (b"\x95\x01" + bytes(7) + b"N", None),
    "PERSID": (b"Pstorage\n", Refused("'storage' describes no storage")),
    "BINPERSID": (text("storage") + b"Q", Refused("'storage' describes no storage")),
}


def test_every_opcode_has_its_row():
    assert set(ROWS) == {opcode.name for opcode in pickletools.opcodes}


@pytest.mark.parametrize("opcode", ROWS)
@looped(weights_only=[True, False])
def test_an_opcode_means_what_its_row_says(opcode, weights_only):
    body, expected = ROWS[opcode]
    data = archive(whole(body))
    assert opcode in {found.name for found, _, _ in pickletools.genops(whole(body))}
    if isinstance(expected, Refused):
        with pytest.raises(FileError, match=expected):
            badak.load(io.BytesIO(data), weights_only=weights_only)
    else:
        found = badak.load(io.BytesIO(data), weights_only=weights_only)
        assert found == expected and type(found) is type(expected)


def test_a_later_protocol_is_refused():
    with pytest.raises(FileError, match="protocol 6; the last one is 5"):
        badak.load(io.BytesIO(archive(whole(b"N", protocol=6))))


ARGUMENTS = {  # one of each kind that a name may take
    "trap": TRAP, "text": text("latin1"), "bytes": b"C\x04abcd", "number": b"K\x02", "list": b"]", "tuple": b")", "dict": b"}",
    "storage": storage(), "dtype": called("numpy", "dtype", text("<f4") + b"\x85"), "none": b"N", "true": b"\x88",
    "trap in a tuple": TRAP + b"\x85", "trap in a list": b"]" + TRAP + b"a", "trap in a dict": b"}" + text("a") + TRAP + b"s",
    "pairs": b"](" + TRAP + b"N\x86e",
}  # fmt: skip


@pytest.mark.thin(17)
@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(allowed.LOOSE))
def test_no_name_of_the_table_runs_code_of_an_argument(name):
    """Every name is given objects of the program, whose every method would end the test, among arguments of other kinds."""
    module, _, last = name.rpartition(".")
    entry = allowed.LOOSE[name]
    takes = min(len(getattr(entry, "takes", ())), 8)
    for count in {1, getattr(entry, "needs", 1), takes} - {0}:
        for place, kind, others in product(range(count), ARGUMENTS, (None, "number", "tuple", "storage")):
            args = [ARGUMENTS[others or kind]] * count
            args[place] = ARGUMENTS[kind]
            body = f"c{module}\n{last}\n".encode() + b"(" + b"".join(args) + b"t"
            for act in (b"R", b"\x81"):
                with suppress(FileError):
                    badak.load(io.BytesIO(archive(whole(body + act), NUMBERS)), weights_only=False)


@pytest.mark.parametrize("kind", ["trap", "trap in a tuple", "trap in a list", "trap in a dict"])
@pytest.mark.parametrize("name", sorted(name for name, entry in allowed.LOOSE.items() if getattr(entry, "build", None)))
def test_no_state_runs_code(name, kind):
    module, _, last = name.rpartition(".")
    starts = {"scalar": b"", "_reconstruct": b"cnumpy\nndarray\nK\x00\x85C\x01b\x87R", "dtype": text("<f4") + b"\x85R",
              "TorchVersion": text("2") + b"\x85\x81", "Namespace": b")\x81"}  # fmt: skip
    state = ARGUMENTS[kind]
    for wrap in (
        b"%s",
        b"(K\x01%sNNNNNNt",
        b"(K\x01" + text("<") + b"NN%sK\xffK\xffK\x00t",
        b"(K\x01%sNN%st",
        b"N%s\x86",
        b"%sN\x86",
    ):
        body = f"c{module}\n{last}\n".encode() + starts.get(last, b")R") + wrap.replace(b"%s", state) + b"b"
        with suppress(FileError):
            badak.load(io.BytesIO(archive(whole(body))), weights_only=False)
