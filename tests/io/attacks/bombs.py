"""Small pickles that would take for ever, fill the memory or end the process."""

import struct

from tests.io.attacks.pickles import called, integer, text

DEEP = b")" + b"\x85" * 200_000  # a tuple in a tuple in a tuple: hashing it recurses in C until the stack ends
WIDE = b")" + b"2\x86" * 60  # (x, x) of (x, x) of ...: 2^60 steps to hash or to print, in 121 bytes
HUGE = b"\x8b" + struct.pack("<i", 3_000_000) + b"\x7f" * 3_000_000  # an integer of 24 million bits
LONG = b"X" + struct.pack("<I", 1_000_000) + b"a" * 1_000_000
MEGABYTE = b"B" + struct.pack("<I", 1_000_000) + bytes(1_000_000)
KEY = "a key of more than"


def keys_of_one_hash(count: int) -> bytes:
    """Integers that differ by multiples of 2^61 - 1, the modulus of Python's hash of numbers."""
    return b"".join(integer(n * (2**61 - 1)) + b"N" for n in range(count))


def member(kind: str, item: bytes) -> bytes:
    """A set, frozenset, Counter ... of one item."""
    if kind in ("set", "frozenset"):
        return called("builtins", kind, b"](" + item + b"e\x85")
    return (
        called("collections", kind, b"}" + item + b"Ns\x85")
        if kind != "OrderedDict"
        else called("collections", kind, b"](" + item + b"N\x86e\x85")
    )


def given(module: str, name: str, *args: bytes) -> bytes:
    """A call with these arguments."""
    return called(module, name, b"(" + b"".join(args) + b"t")


def sized(number: bytes) -> bytes:
    """A tensor of which every size and stride is one number, 64 times."""
    storage = b"(" + text("storage") + b"ctorch\nFloatStorage\n" + text("0") + text("cpu") + b"K\x06tQ"
    sizes = b"(" + number + b"q\x05" + b"h\x05" * 63 + b"tq\x06"
    return given("torch._utils", "_rebuild_tensor_v2", storage, b"K\x00", sizes, b"h\x06", b"\x89", b"N")


BOMBS = {
    **{
        f"{kind} of {what}": (member(kind, item), KEY)
        for kind in ("set", "frozenset", "Counter", "OrderedDict")
        for what, item in (("deep tuples", DEEP), ("wide tuples", WIDE))
    },
    **{f"{what} as a key": (b"}" + item + b"Ns", KEY) for what, item in (("deep tuples", DEEP), ("wide tuples", WIDE))},
    **{f"{what} added to a set": (b"\x8f(" + item + b"\x90", KEY) for what, item in (("deep tuples", DEEP), ("wide tuples", WIDE))},
    **{f"{what} in a frozenset": (b"(" + item + b"\x91", KEY) for what, item in (("deep tuples", DEEP), ("wide tuples", WIDE))},
    **{
        f"{what} as a persistent id": (item + b"Q", "describes no storage")
        for what, item in (("wide tuples", WIDE), ("a number", HUGE))
    },
    **{
        f"{what} as a device": (given("torch", "device", item), "torch.device cannot be made")
        for what, item in (("wide tuples", WIDE), ("a text", LONG), ("a number", HUGE))
    },
    **{
        f"{what} as a codec": (given("_codecs", "encode", text("x"), item), "_codecs.encode cannot be made")
        for what, item in (("wide tuples", WIDE), ("a text", LONG))
    },
    **{
        f"{what} as a size": (given("torch", "Size", item), "torch.Size cannot be made")
        for what, item in (("wide tuples", WIDE), ("a number", HUGE))
    },
    "wide tuples as a dtype": (given("numpy", "dtype", WIDE), "numpy.dtype cannot be made"),
    "wide tuples as the state of a dtype": (given("numpy", "dtype", text("<f4")) + WIDE + b"b", "of its pickle"),
    "wide tuples as attributes": (b"cargparse\nNamespace\n)\x81" + WIDE + b"b", "argparse.Namespace"),
    "wide tuples as storage": (
        given("torch._utils", "_rebuild_tensor_v2", WIDE, b"K\x00", WIDE, WIDE),
        "cannot be made",
    ),
    "a number as every size": (sized(HUGE), "is none"),
    "a number as a key": (b"}" + HUGE + b"Ns", KEY),
    "keys of one hash": (b"}(" + keys_of_one_hash(20_000) + b"u", "keys of one hash"),
    "members of one hash": (
        called("builtins", "set", b"](" + keys_of_one_hash(20_000).replace(b"N", b"") + b"e\x85"),
        "of its pickle",
    ),
    "a megabyte copied often": (
        MEGABYTE + b"q\x010cbuiltins\nbytearray\nq\x02(" + b"h\x02h\x01\x85R" * 20_000 + b"t",
        "its calls copy more",
    ),
    "a text encoded often": (
        LONG + b"q\x010c_codecs\nencode\nq\x02(" + b"h\x02h\x01\x85R" * 20_000 + b"t",
        "its calls copy more",
    ),
    "a long list as a set often": (
        b"](" + b"K\x01" * 100_000 + b"eq\x010cbuiltins\nset\nq\x02(" + b"h\x02h\x01\x85R" * 20_000 + b"t",
        "its calls copy more",
    ),
    "a name of a megabyte": (LONG + LONG + b"\x93", "it names aaaa"),
    "a name of several lines": (text("os\nfix: ") + text("system\n\n") + b"\x93", "it names os\\nfix: .system\\n\\n"),
    "a name that rings the bell": (text("\x1b[31m\x07") + text("x") + b"\x93", "it names \\x1b[31m\\x07.x"),
    "a tensor of truths of two": (
        given(
            "torch._utils",
            "_rebuild_tensor_v2",
            b"(" + text("storage") + b"ctorch\nBoolStorage\n" + text("byteorder") + text("cpu") + b"K\x06tQ",
            b"K\x00",
            b"(K\x06t",
            b"(K\x01t",
            b"\x89N",
        ),
        "no record",
    ),
}
