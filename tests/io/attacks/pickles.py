"""Pickles and archives of .pt files that lie or reach for more than data, made here opcode by opcode.

Each attack is (what the file is made of, what the complaint must say). `HARM` is what an attack would do if it ran.
"""

import copy
import io
import pickle
import struct
import zipfile

HARM = "badak_test_harm"


def harm(text="x"):
    """Would run if a pickle of an attack were executed."""
    raise AssertionError(f"{HARM}: code of a file was run with {text!r}")


def archive(text: bytes, records: dict[str, bytes] | None = None, compression=zipfile.ZIP_STORED) -> bytes:
    """A .pt file with this pickle and these further records."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", compression) as made:
        made.writestr("archive/data.pkl", text)
        for name, data in ({"byteorder": b"little", "version": b"3\n"} | (records or {})).items():
            made.writestr(f"archive/{name}", data)
    return file.getvalue()


def overlapping() -> bytes:
    """Two records that lie at one place."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as made:
        made.writestr("archive/data.pkl", b"N" * 4000)
        twin = copy.copy(made.filelist[0])
        twin.filename = twin.orig_filename = "archive/data/0"
        made.filelist.append(twin)
    return file.getvalue()


def text(value: str) -> bytes:
    data = value.encode()
    return b"X" + struct.pack("<I", len(data)) + data


def called(module: str, name: str, args: bytes = b"(t") -> bytes:
    """GLOBAL, arguments, REDUCE."""
    return b"c" + f"{module}\n{name}\n".encode() + args + b"R"


def storage(count: int = 6, key: str = "0", kind: str = "torch\nFloatStorage\n") -> bytes:
    return b"(" + text("storage") + b"c" + kind.encode() + text(key) + text("cpu") + integer(count) + b"tQ"


def integer(value: int) -> bytes:
    data = value.to_bytes(16, "little", signed=True)
    return b"\x8a" + bytes([len(data)]) + data


def tensor(offset=0, size=(2, 3), stride=(3, 1), **described) -> bytes:
    sizes, strides = (b"(" + b"".join(map(integer, numbers)) + b"t" for numbers in (size, stride))
    args = b"(" + storage(**described) + integer(offset) + sizes + strides + b"\x89" + called("collections", "OrderedDict") + b"t"
    return called("torch._utils", "_rebuild_tensor_v2", args)


def whole(body: bytes, protocol: int = 2) -> bytes:
    return b"\x80" + bytes([protocol]) + body + b"."


class Reduces:
    """Pickles as a call of `function`."""

    def __init__(self, function, *args):
        self.said = function, args

    def __reduce__(self):
        return self.said


NUMBERS = {"data/0": struct.pack("<6f", *range(6))}
SHELL = "(" + "S'touch " + HARM + "'\nt"

CALLS = {
    "os.system": called("os", "system", SHELL.encode()),
    "posix.system": called("posix", "system", SHELL.encode()),
    "builtins.eval": called("__builtin__", "eval", b"(" + text("1/0") + b"t"),
    "builtins.exec": called("builtins", "exec", b"(" + text("1/0") + b"t"),
    "builtins.getattr": called("builtins", "getattr", b"(" + text("x") + text("upper") + b"t"),
    "builtins.__import__": called("builtins", "__import__", b"(" + text("os") + b"t"),
    "subprocess.Popen": called("subprocess", "Popen", b"(" + text("true") + b"t"),
    "tests.io.attacks.pickles.harm": called("tests.io.attacks.pickles", "harm"),
    "importlib.import_module": called("importlib", "import_module", b"(" + text("antigravity") + b"t"),
    "torch.load": called("torch", "load", b"(" + text("/etc/passwd") + b"t"),
    "torch.hub.load": called("torch.hub", "load", b"(" + text("a/b") + b"t"),
    "badak.io.pt.load": called("badak.io.pt", "load", b"(" + text("/etc/passwd") + b"t"),
    "numpy.load": called("numpy", "load", b"(" + text("x") + b"t"),
    "builtins.open": called("builtins", "open", b"(" + text(HARM) + text("w") + b"t"),
    "collections.OrderedDict.fromkeys": called("collections", "OrderedDict.fromkeys"),
    "torch.Size.__class__": called("torch", "Size.__class__"),
}
WRAPS = {
    "plain": lambda call: whole(call),
    "in a dict": lambda call: whole(b"}" + text("a") + call + b"s"),
    "in a list": lambda call: whole(b"](" + call + b"e"),
    "in a tuple": lambda call: whole(call + b"\x85"),
    "as a key": lambda call: whole(b"}" + call + b"Ns"),
    "dropped": lambda call: whole(call + b"0N"),
    "remembered": lambda call: whole(call + b"q\x000h\x00"),
    "as a size": lambda call: whole(called("torch", "Size", b"(" + call + b"t")),
    "as metadata": lambda call: whole(called("collections", "OrderedDict") + b"}" + text("_metadata") + call + b"sb"),
    "after a tensor": lambda call: whole(b"](" + tensor() + call + b"e"),
}

LIES = {
    "reaches one item too far": (tensor(size=(7,), stride=(1,)), "reaches item 6 of a storage of 6"),
    "offset too far": (tensor(offset=1), "reaches item 6 of a storage of 6"),
    "offset beyond": (tensor(offset=7, size=(0,), stride=(1,)), "offset 7 reaches item 6"),
    "huge offset": (tensor(offset=1 << 62), "of a storage of 6"),
    "overflowing offset": (tensor(offset=1 << 100), "is none"),
    "negative offset": (tensor(offset=-1), "offset -1 is none"),
    "negative size": (tensor(size=(-2, 3)), "size (-2, 3)"),
    "negative stride": (tensor(stride=(3, -1)), "stride (3, -1)"),
    "huge size": (tensor(size=(1 << 62, 3)), "of a storage of 6"),
    "huge stride": (tensor(stride=(1 << 60, 1)), "of a storage of 6"),
    "wrapping size": (tensor(size=(1 << 63, 2), stride=(0, 0)), "a tensor of size (9223372036854775808, 2)"),
    "other dims": (tensor(size=(6,)), "size (6,), stride (3, 1)"),
    "too many dims": (tensor(size=(1,) * 65, stride=(1,) * 65), "is none"),
    "more numbers than bytes": (tensor(count=7), "storage '0' of 7 numbers (float32) has 24 bytes"),
    "terabytes": (tensor(count=1 << 40), "numbers (float32) has 24 bytes"),
    "negative count": (tensor(count=-1), "describes no storage"),
    "no such storage": (tensor(key="1"), "no record 'archive/data/1'"),
    "path as a key": (tensor(key="../../etc/passwd"), "no record 'archive/data/../../etc/passwd'"),
    "absolute path as a key": (tensor(key="/etc/passwd"), "no record 'archive/data//etc/passwd'"),
    "unknown dtype": (tensor(kind="torch\nQInt8Storage\n"), "torch.QInt8Storage"),
    "dtype is a class": (tensor(kind="collections\nOrderedDict\n"), "describes no storage"),
    "storage is a number": (
        called("torch._utils", "_rebuild_tensor_v2", b"(K\x01K\x00(t(t\x89Nt"),
        "torch._utils._rebuild_tensor_v2 cannot be made",
    ),
    "sparse": (called("torch._utils", "_rebuild_sparse_tensor"), "torch._utils._rebuild_sparse_tensor"),
    "state for a function": (b"ctorch._utils\n_rebuild_tensor_v2\n}" + text("__code__") + b"Nsb", "gives a Name a state"),
    "state for a class": (b"ccollections\nOrderedDict\n}" + text("items") + b"Nsb", "a state"),
    "state for a tensor": (tensor() + b"}" + text("_array") + b"Nsb", "gives a Tensor a state"),
    "method of a table hidden": (called("collections", "OrderedDict") + b"}" + text("items") + b"Nsb", None),
    "table of functions": (b"}" + text("f") + b"ctorch._utils\n_rebuild_tensor_v2\ns", "itself as a value"),
    "a call of a number": (b"K\x01)R", "int is called"),
    "a call of a tensor": (tensor() + b")R", "Tensor is called"),
    "old instance": (b"(ios\nsystem\n", "uses INST"),
    "old object": (b"(cos\nsystem\no", "os.system"),
    "extension": (b"\x82\x01", "uses EXT1"),
    "buffer": (b"\x97", "uses NEXT_BUFFER"),
    "array of objects": (
        called("numpy.core.multiarray", "scalar",
               b"(" + called("numpy", "dtype", b"(" + text("O") + b"\x89\x88t") + b"C\x01xt"),
        "numpy.dtype cannot be made",
    ),
    "bytearray of a terabyte": (called("builtins", "bytearray", b"(" + integer(1 << 40) + b"t"), "bytearray cannot be made"),
    "codec that unpacks": (called("_codecs", "encode", b"(" + text("x") + text("zlib") + b"t"), "_codecs.encode cannot be made"),
    "endless range": (called("builtins", "range", b"(" + integer(1 << 60) + b"t"), "builtins.range cannot be made"),
    "long text": (b"X\xff\xff\xff\x7fab", "of its pickle"),
    "long bytes": (b"\x8e" + struct.pack("<Q", 1 << 60) + b"ab", "of its pickle"),
    "long number": (b"\x8b" + struct.pack("<i", 1 << 30) + b"ab", "of its pickle"),
    "endless digits": (b"L" + b"9" * 5000 + b"L\n", "of its pickle"),
    "unknown opcode": (b"\xff", "at byte"),
    "empty stack": (b"0", "of its pickle"),
    "no mark": (b"t", "a mark is missing"),
    "marks as values": (b"((\x86", "a tuple of more values"),
    "no such memory": (b"h\x05", "the memo has no such entry"),
    "memory at four billion": (b"Nr\xff\xff\xff\xff", None),
    "key without value": (b"}(Nu", "a key without its value"),
    "list as a key": (b"}]Ns", "a list as a key"),
    "key nested deep": (b"}" + b")" + b"\x85" * 100_000 + b"Ns", "a key of more than"),
    "key that grows by powers": (b"}" + b")q\x00" + b"h\x00\x87q\x00"[:0] + b"".join(b"2\x86" for _ in range(60)) + b"Ns", "a key"),
    "member nested deep": (b"\x8f(" + b")" + b"\x85" * 100_000 + b"\x90", "a key of more than"),
    "items into a tensor": (tensor() + b"(NNu", "items are put into a Tensor"),
    "items into text": (text("x") + b"(Ne", "items are appended to a str"),
    "wrong persistent id": (text("module") + b"Q", "describes no storage"),
    "text as a persistent id": (b"Pstorage\n", "describes no storage"),
}  # fmt: skip

ARCHIVES = {
    "empty": (b"", "it begins with b''"),
    "short": (b"PK\x03\x04", "its zip archive cannot be read"),
    "end only": (b"PK\x05\x06" + b"\0" * 18, "has 0 records 'NAME/data.pkl'"),
    "web page": (b"<!DOCTYPE html>", "it looks like a web page"),
    "git lfs pointer": (b"version https://git-lfs.github.com/spec/v1\n", "it looks like a Git LFS pointer"),
    "plain pickle": (pickle.dumps({"a": 1}), "it looks like a plain pickle"),
    "harmful plain pickle": (pickle.dumps(Reduces(harm)), "it looks like a plain pickle"),
    "safetensors": (struct.pack("<Q", 2) + b"{}", "it looks like safetensors"),
    "other zip": (archive(b"").replace(b"data.pkl", b"data.txt"), "has 0 records 'NAME/data.pkl'"),
    "compressed": (archive(whole(b"N" * 1000), compression=zipfile.ZIP_DEFLATED), "is compressed"),
    "a bomb": (archive(whole(tensor(count=1 << 20)), {"data/0": bytes(1 << 22)}, zipfile.ZIP_DEFLATED), "is compressed"),
    "one place under two names": (overlapping(), "shares bytes with another one"),
    "torchscript": (archive(whole(b"N"), {"constants.pkl": b""}), "a TorchScript archive"),
    "odd byte order": (archive(whole(b"N"), {"byteorder": b"middle"}), "the byte order b'middle'"),
    "changed bytes": (archive(whole(tensor()), NUMBERS).replace(NUMBERS["data/0"], b"\1" * 24), "(their CRC differs)"),
    "no end": (archive(b"\x80\x02N"), "exhausted before seeing STOP"),
}  # fmt: skip
