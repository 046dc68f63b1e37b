"""badak.save and badak.load: the .pt files of torch.save and torch.load, read without running anything."""

import io
import os
import pickle
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from badak.core.errors import ArgumentError, ArgumentTypeError, NotSupportedError, tr
from badak.io import allowed, options, program
from badak.io.allowed import CODECS
from badak.io.archive import Archive, record, write_archive, write_to, zeros
from badak.io.atomic import reading
from badak.io.errors import UnsafeFileError, UnseekableError, damaged, line, looks_like, shown
from badak.io.legacy import is_legacy, legacy_parts, load_legacy, swap
from badak.io.pickler import Pickler
from badak.io.placing import Placing
from badak.io.storage import Storage, described
from badak.io.unpickler import Unpickler
from badak.tensor import dtypes

PICKLES = ("pickle", "_pickle", "dill", "dill._dill", "cloudpickle", "cloudpickle.cloudpickle")  # which write pickles alike


def save(
    obj: Any,
    f: Any,
    pickle_module: Any = pickle,
    pickle_protocol: int = 2,
    _use_new_zipfile_serialization: bool = True,
    _disable_byteorder_record: bool = False,
) -> None:
    """Write tensors, a state_dict, an optimizer's state or other values to `f`, a path or a binary file.

    _use_new_zipfile_serialization=False writes the format before PyTorch 1.6.

    The real torch.load reads it, with weights_only=True where it holds tensors and plain values. Tensors that share memory
    share it in the file. A path is written under a temporary name first and then renamed, so that it is never half written.
    Whole modules are stored by the names of their classes: only badak, in a program that imports them, reads such a file.

    Raises UnpicklableError (an ArgumentError) for a lambda, a local class and the like, naming where in `obj` it is;
    FileError where the file cannot be written.
    Parity: of a memory larger than the tensors that are saved only the part that they see is stored; pickle_protocol is
    always 2.

    Args:
        obj: tensors, a state_dict, an optimizer's state, or nested containers of them
        f: a path or a binary file
        pickle_module, pickle_protocol: accepted; the protocol is 2

    Example:
        >>> import io
        >>> file = io.BytesIO()
        >>> badak.save({"w": badak.ones(2)}, file)
        >>> _ = file.seek(0)
        >>> badak.load(file)["w"].tolist()
        [1.0, 1.0]
    """
    placing = Placing()
    Pickler(placing.see).dump(obj)  # first look: which memory is there
    name = (Path(f).name.partition(".")[0] if isinstance(f, str | os.PathLike) else "") or "archive"
    if _use_new_zipfile_serialization:
        records = _records(obj, placing, byteorder=not _disable_byteorder_record)
        write_to(f, lambda file: write_archive(file, name, records))
    else:
        parts = list(legacy_parts(obj, placing))
        write_to(f, lambda file: [part(file) for part in parts])


def _records(obj: Any, placing: Placing, byteorder: bool) -> list[tuple[str, Callable[[Any], object], int]]:
    """The files of the archive: (name, what writes it, bytes)."""
    text = Pickler(placing.place).dump(obj)
    records = [record("data.pkl", text), record(".format_version", b"1"), record(".storage_alignment", b"64")]
    if byteorder:
        records.append(record("byteorder", b"little"))
    storages = ((key, zeros(size) if options.skipped else fill, size) for key, fill, size in placing.storages())
    records += [(f"data/{key}", fill, size) for key, fill, size in storages]
    return [*records, record("version", b"3\n")]


def load(
    f: Any,
    map_location: str | dtypes.device | dict[str, str] | Callable[..., Any] | None = None,
    pickle_module: Any = None,
    *,
    weights_only: bool | None = None,
    mmap: bool | None = None,
    **pickle_load_args: Any,
) -> Any:
    """What is in the .pt file `f` (a path or a binary file), written by badak.save or torch.save.

    Raises FileError for an absent, damaged or foreign file and for tensors that reach outside their storage;
    UnsafeFileError (a pickle.UnpicklingError) for one that names a class or function that badak does not take from a file.
    Parity: tensors that were saved on a GPU come to the CPU without map_location too, there being no other place; PyTorch
    with weights_only=False executes what the file says.

    Args:
        f: a path or a binary file
        map_location: 'cpu', or anything that leads there: a device, a dict, or a function of (storage, location); 'meta'
            gives tensors without memory
        pickle_module: pickle, or dill and cloudpickle, whose files are pickles: as weights_only=False where that is not given
        **pickle_load_args: encoding= of texts that Python 2 wrote; "bytes" leaves them as they are
        weights_only: True (and None, without a pickle_module): tensors, plain values, and what
            `serialization.add_safe_globals` allows. False: also data classes of the standard library, and whole modules and
            plain classes that the running program has defined or imported: made empty, then given their attributes. No mode
            runs code that a file names.
        mmap: True: tensors see the file (copy on write) instead of being read; `f` must be a path. Their numbers are
            taken as they are: a checksum (CRC) would need them read. All else in the file, and every size, is still
            checked

    Returns: what was saved

    Example:
        >>> import io
        >>> file = io.BytesIO()
        >>> badak.save([1, 2], file)
        >>> _ = file.seek(0)
        >>> badak.load(file)
        [1, 2]
    """
    other = getattr(pickle_module, "__name__", repr(pickle_module))
    if pickle_module is not None and other not in PICKLES:
        raise NotSupportedError(tr("load: badak reads pickles itself, not with {}", other), "leave pickle_module out")
    encoding = pickle_load_args.get("encoding", "utf-8")
    if encoding not in (*CODECS, "bytes"):  # which are for what Python 2 wrote
        raise NotSupportedError(tr("load: encoding={!r}: not one of {}", encoding, (*CODECS, "bytes")), "encoding='latin1'")
    restore = _restore(map_location)
    strict = options.only_weights(weights_only, pickle_module is None)
    mmap = options.load.mmap if mmap is None else mmap
    if isinstance(f, str | os.PathLike):
        with reading(f) as file:
            return _load(file, str(f), restore, strict, f if mmap else None, encoding=encoding)
    if mmap:
        raise ArgumentError("load: f must be a file name in order to use the mmap argument", "badak.load('model.pt', mmap=True)")
    where = f"<{type(f).__name__}>"
    if not hasattr(f, "read"):
        raise ArgumentTypeError(tr("load: expected 'f' to be a path or a file with a read method; got {}", where[1:-1]),
                                "badak.load('model.pt')")  # fmt: skip
    if not hasattr(f, "seek") or not hasattr(f, "tell"):
        cause = tr("{} has no seek and tell. You can only torch.load from a file that is seekable. Please pre-load the data into a "
                   "buffer like io.BytesIO and try to load from it instead.", where)  # fmt: skip
        raise UnseekableError(cause, "io.BytesIO(f.read())")
    if hasattr(f, "readinto") and f.tell() == 0 and is_archive(f):  # tensors read where they stay, not the whole file first
        made = _from_archive(Archive(f, where), where, restore, strict)
        f.seek(0, os.SEEK_END)
        return made
    data = f.read()
    if not isinstance(data, bytes):
        raise ArgumentTypeError("load: the file was opened as text", "open(path, 'rb')")
    whole = io.BytesIO(data)
    made = _load(whole, where, restore, strict, None, True, encoding)
    if is_legacy(data) and whole.tell() < len(data):  # what follows is the next one's
        f.seek(whole.tell() - len(data), os.SEEK_CUR)
    return made


def is_archive(f: Any) -> bool:
    """Whether a file that is open for reading begins, where it stands, as an archive does; it stands there afterwards."""
    start = f.tell()
    begins = f.read(4)
    f.seek(start)
    return begins == b"PK\x03\x04"


def _load(
    file: BinaryIO,
    where: str,
    restore: Callable[[Storage], Storage],
    strict: bool,
    mapped: Any,
    more: bool = False,
    encoding: str = "utf-8",
) -> Any:
    first = file.read(24)
    file.seek(0)
    if is_legacy(first):
        if mapped is not None:
            raise ArgumentError(tr("load: {} has the format before PyTorch 1.6, which cannot be mapped", where), "leave mmap out")
        data = file if isinstance(file, io.BytesIO) else io.BytesIO(file.read())
        return load_legacy(data, where, _finder(where, strict), restore, more, encoding)
    if first[:4] not in (b"PK\x03\x04", b"PK\x05\x06"):
        raise damaged(where, tr("it begins with {!r}{}", first[:8], _look(first)))
    return _from_archive(Archive(file, where, mapped), where, restore, strict)


def _from_archive(archive: Archive, where: str, restore: Callable[[Storage], Storage], strict: bool) -> Any:
    order = archive.read("byteorder").tobytes() if "byteorder" in archive else _order_unsaid()
    if order not in (b"little", b"big"):
        raise damaged(where, tr("the byte order {}", shown(order)))
    storages: dict[str, Storage] = {}

    def persistent(said: Any) -> Storage:
        dtype, key, location, count, part = described(said, where)
        if part is not None:
            raise damaged(where, tr("a storage that is a part of another one"))
        if key not in storages:
            if archive.bytes_of(f"data/{key}") != count * dtype.itemsize:
                raise damaged(
                    where,
                    tr(
                        "storage {} of {} numbers ({}) has {} bytes", shown(key), count, dtype.name, archive.bytes_of(f"data/{key}")
                    ),
                )
            raw = np.zeros(count * dtype.itemsize, np.uint8) if options.skipped else archive.read(f"data/{key}", may_map=True)
            made = Storage(raw, dtype, location, where)
            if order == b"big":
                swap(made)
            made.check()
            storages[key] = restore(made)
        found = storages[key]
        if found.dtype is not dtype:
            found = Storage(found.raw, dtype, found.location, where, found.has_data)
            found.check()
        return found

    text = io.BytesIO(archive.read("data.pkl").tobytes())
    return Unpickler(text, where, _finder(where, strict), persistent).load()


def _order_unsaid() -> bytes:
    """The order of bytes in an archive that does not say it."""
    asked = options.load.endianness
    little = asked is None or asked.name == "LITTLE" or (asked.name == "NATIVE" and sys.byteorder == "little")
    return b"little" if little else b"big"


def _finder(where: str, strict: bool) -> Callable[[str, str], Any]:
    """What the names of a file stand for."""
    table = allowed.STRICT if strict else allowed.LOOSE
    classes = program.Program()
    found: dict[str, Any] = {}

    def find(module: str, name: str) -> Any:
        module = {"__builtin__": "builtins", "copy_reg": "copyreg"}.get(module, module)
        dotted = f"{module}.{name}"
        if dotted in table:  # first: vouched for or not, it is rebuilt from checked bytes
            return table[dotted]
        if dotted in allowed.vouched():
            return allowed.vouched_name(dotted, allowed.vouched()[dotted])
        if dotted not in found:
            found[dotted] = classes.find(module, name)
        if strict or type(found[dotted]) is str:
            raise _unsafe(where, dotted, found[dotted])
        return found[dotted]

    return find


def _unsafe(where: str, dotted: str, found: Any) -> UnsafeFileError:
    """The complaint about a name; found: what the program has under it, or why it has nothing."""
    name = line(dotted)
    cause = tr("{}: Weights only load failed: it names {}", where, name)
    if dotted.startswith(("torch.nn.modules.", "torch.nn.parallel.")):
        return UnsafeFileError(
            tr("{}: Weights only load failed: it holds a whole module (it names {}), to be rebuilt by running code", where, name),
            "in PyTorch: torch.save(model.state_dict(), path); here: model.load_state_dict(badak.load(path))",
        )
    if dotted.startswith("torch."):
        fix = tr("save tensors of the dtypes and kinds that badak has, and plain values")
        return UnsafeFileError(tr("{}, which badak does not have", cause), fix)
    if type(found) is not str or dotted in allowed.LOOSE:
        return UnsafeFileError(tr("{}, which is more than weights", cause), "badak.load(..., weights_only=False)")
    cause = tr("{} ({}), and badak never runs what a file names", cause, found)
    return UnsafeFileError(cause, tr("save a state_dict; or, if you trust {}, badak.serialization.add_safe_globals([it])", name))


def _restore(map_location: Any) -> Callable[[Storage], Storage]:
    """What becomes of a storage that was saved at some location: it comes to the CPU, or the request is refused."""
    if map_location is None:
        return lambda storage: storage
    if callable(map_location):

        def call(storage: Storage) -> Storage:
            found = map_location(storage, storage.location)
            if found is not None and not isinstance(found, Storage):
                cause = tr("load: map_location gave a {}, not a storage", type(found).__name__)
                raise ArgumentTypeError(cause, "return storage, or None")
            return storage if found is None else found

        return call
    if isinstance(map_location, dict):

        def look_up(storage: Storage) -> Storage:
            return storage.to(map_location[storage.location]) if storage.location in map_location else storage

        return look_up
    if dtypes.device(map_location).type != "meta":
        dtypes.check_device(map_location)
    return lambda storage: storage.to(map_location)


def _look(first: bytes) -> str:
    """What else the file may be, from its first bytes."""
    others = {b"\x80": "a plain pickle", b"\x93NUMPY": "a NumPy .npy file: numpy.load", b"storages": "a tar file of PyTorch 0.1"}
    header = "; it looks like safetensors: badak.io.safetensors.load_file" if first[8:9] == b"{" else ""
    return looks_like(first, others) or header
