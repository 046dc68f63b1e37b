"""Models in folders: Hugging Face's form, config.json next to tensors in safetensors files, read and written without its library.

    model = GPT.from_pretrained("gpt2")            a folder, or a name of the Hugging Face Hub
    model.save_pretrained("mine")                  what transformers reads, too; with all that the folder said (`hints.py`)

What a folder calls its settings and tensors, and what we call them, stands in `published.py`.
"""

import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

from badak import nn
from badak.core.errors import ArgumentError, DTypeError, FileError, tr
from badak.data.tokenizer_files import AnyVocabulary, token_ids, tokenizer_files
from badak.io import config
from badak.io.atomic import as_path
from badak.io.errors import line, shown
from badak.io.whole import whole_folder
from badak.models.card import card_of
from badak.models.folder import BESIDE, CONFIG, SHARD, json_bytes, read_tensors, write_folder
from badak.models.hints import GENERATION, MARKS, Hints, read_hints
from badak.models.sizes import expect_sizes
from badak.nn.quantized import Quantized
from badak.tensor import Tensor, cat, device
from badak.tensor.dtypes import dtype as DType  # noqa: N812
from badak.tensor.dtypes import float32

CARD = "README.md"
LARGEST = 1 << 40  # of an integer in config.json
NAMED = 5  # tensors that one message names


@dataclass(frozen=True)
class Format:
    """How the folders of one architecture call what one of our models holds."""

    kind: str  # model_type in config.json
    architecture: str  # the class that transformers has for it
    read: Callable[["Settings"], Any]  # their settings as our config
    write: Callable[[Any, str], dict[str, Any]]  # and back; of a model that was read, with the model_type that it had
    names: Mapping[str, str | tuple[str, ...]]  # our module: theirs, {} for the layer's number; several are joined along the rows
    base: str = ""  # what stands before the names of the model proper, where it has a head; "~" before ours: not within
    turned: tuple[str, ...] = ()  # our modules whose weights are kept as (inputs, outputs)
    idle: str = r"(?!)"  # a pattern of names that carry nothing that we need
    also: tuple[str, ...] = ()  # other kinds that are read
    beside: Callable[[Any], dict[str, Any]] = lambda config: {}  # other files that belong to the folder, and what they say
    fits: Callable[[Any], bool] = lambda config: True  # whether it can hold a model of this config
    settle: Callable[[Any, Mapping[str, Tensor]], Any] = lambda config, tensors: config  # the config, once the tensors are known
    state: Callable[[Any], Mapping[str, Tensor]] = lambda model: model.state_dict()  # what is written of a model
    constants: Callable[[Any], dict[str, Tensor]] = lambda config: {}  # tensors by their names that our model has no need of


class Settings(dict):
    """The settings of a config.json, which knows its name for complaints."""

    where: Any = CONFIG

    def whole(self, name: str, default: int | None = None) -> int:
        """An integer."""
        return self._of(int, name, default)

    def sizes(self, names: Mapping[str, str]) -> dict[str, Any]:
        """Integers that have to be said, by our names; names: ours and theirs."""
        return {ours: self.whole(theirs) for ours, theirs in names.items()}

    def number(self, name: str, default: float | None = None) -> float:
        """A number."""
        return float(self._of((int, float), name, default))

    def flag(self, name: str, default: bool = False) -> bool:
        """True or false."""
        return self._of(bool, name, default)

    def expect(self, name: str, *known: Any) -> None:
        """Refuse a setting that our model does not have; the first of `known` is the usual one."""
        value = self.get(name, known[0])
        if value not in known:
            cause = tr("{}: {} is {}; this model knows {}", self.where, line(name), shown(value), ", ".join(map(repr, known)))
            raise FileError(cause, "transformers reads this folder: badak run SCRIPT")

    def table(self, name: str) -> "Settings":
        """A table of further settings, empty where there is none."""
        value = self.get(name)
        if not isinstance(value, dict | None):
            raise FileError(tr("{}: {} must be a table; got {}", self.where, name, shown(value)), "restore the file from a copy")
        inner = Settings(value or {})
        inner.where = self.where
        return inner

    def _of(self, kind: Any, name: str, default: Any) -> Any:
        value = self.get(name)
        value = default if value is None else value
        fits = isinstance(value, kind) and (kind is bool or not isinstance(value, bool))
        if not fits or type(value) is int and abs(value) > LARGEST:
            wanted = tr("true or false") if kind is bool else tr("an integer") if kind is int else tr("a number")
            raise FileError(tr("{}: {} must be {}; got {}", self.where, name, wanted, shown(value)), "restore the file from a copy")
        return value


def told(config: Any, names: Mapping[str, str]) -> dict[str, Any]:
    """What of `config` goes by other names; names: ours and theirs."""
    return {theirs: getattr(config, ours) for ours, theirs in names.items()}


class Pretrained(nn.Module):
    """A model that can be read from a folder and written to one."""

    config: Any
    formats: ClassVar[list[Format]] = []  # the first one that fits is written
    writes: ClassVar[bool] = True  # whether it writes texts, token by token
    marks: ClassVar[tuple[str, str]] = ("", "")  # what stands before and behind each text, as a Tokenizer calls it
    lookups: ClassVar[tuple[str, ...]] = ()  # embeddings of which only rows are read, and `heads.tied`: they may be in blocks
    hints: Hints = Hints()

    @classmethod
    def from_pretrained(cls, folder: str | os.PathLike, dtype: DType | None = None) -> Any:
        """The model of a folder, in evaluation mode; a name such as "gpt2" is fetched from the Hugging Face Hub.

        dtype: of the weights, float32 unless told. Raises FileError for a folder of another architecture, for settings that
        this model does not have, for tensors that are missing, too many or of another shape, and for damaged files.
        """
        _expect_dtype("from_pretrained", dtype)
        place = found(folder)
        settings = read_settings(place)
        chosen = next((one for one in cls.formats if settings.get("model_type") in (one.kind, *one.also)), None)
        if chosen is None:
            known = ", ".join(dict.fromkeys(kind for one in cls.formats for kind in (one.kind, *one.also)))
            cause = tr("{}: model_type is {}; {} reads {}", settings.where, shown(settings.get("model_type")), cls.__name__, known)
            raise FileError(cause, "badak.models.from_pretrained(folder) chooses the class")
        config, tensors = _config(chosen, settings), read_tensors(place)
        size = sum(x.numel() * x.element_size() for x in tensors.values())
        expect_sizes(
            config, [x.shape for x in tensors.values()], size, settings.where, tr("the {} that belongs to these weights", CONFIG)
        )
        config = chosen.settle(config, tensors)
        on_meta: Any = device("meta")
        with on_meta:  # nothing is drawn: the seed's numbers stay those of the program
            model = cls(config)
        state = _ours(model, chosen, tensors, place)
        model.load_state_dict({name: x.to(dtype or float32) for name, x in state.items()}, assign=True)
        model.compute_tables()
        model.hints = read_hints(place, settings)
        return model.eval()

    def save_pretrained(
        self, folder: str | os.PathLike, dtype: DType | None = None, shard: int = SHARD, tokenizer: AnyVocabulary | None = None
    ) -> None:
        """Write config.json, generation_config.json, the tensors, the tokenizer and README.md into `folder`, for transformers, too.

        dtype: of the tensors on disk, theirs unless told. Above `shard` bytes they go into several files, with an index.
        tokenizer: the one of the model; without it that of the folder which the model was read from. A folder that is not there
        yet is made as a whole or not at all; in one that is there, files of these names are replaced, but no README.md.
        """
        _expect_dtype("save_pretrained", dtype)
        if type(shard) is not int or shard < 1:
            raise ArgumentError(tr("save_pretrained: shard must be 1 or more bytes; got {}", shown(shard)), f"shard={SHARD}")
        short = next((name for name, part in self.named_modules() if isinstance(part, Quantized)), None)
        if short is not None:
            cause = tr("save_pretrained: {} is quantized, and such a folder holds whole weights", short)
            raise ArgumentError(cause, "badak quantize MODEL OUT.gguf, or badak.save(model.state_dict(), path)")
        place, chosen = as_path(folder), _format_of(self)
        tensors = _theirs(self, chosen, dtype)
        stored = {x.dtype for x in tensors.values() if x.is_floating_point()}
        hints = self.hints if tokenizer is None else self._hints_of(tokenizer)
        sizes = {"architectures": [chosen.architecture], "model_type": chosen.kind, **chosen.write(self.config, hints.kind)}
        if len(stored) == 1:
            sizes["dtype"] = str(stored.pop()).rpartition(".")[2]
        said = hints.config(sizes)
        tables = {CONFIG: said, **chosen.beside(self.config)}
        if self.writes or hints.generation is not None:
            tables[GENERATION] = hints.writing(said)
        files = {**{name: json_bytes(value) for name, value in tables.items()}, **hints.files}
        card = (hints.card or card_of(said["architectures"][0])).encode()
        if place.is_dir():
            write_folder(place, files if os.path.lexists(place / CARD) else files | {CARD: card}, tensors, shard)
            return
        with whole_folder(place) as stage:
            write_folder(stage, files | {CARD: card}, tensors, shard)

    def _hints_of(self, tokenizer: AnyVocabulary) -> Hints:
        """What is known of the model, with another tokenizer."""
        size, before = len(tokenizer), self.hints
        if size > self.config.vocab_size:
            cause = tr("save_pretrained: a tokenizer of {:,} tokens, a model of {:,}", size, self.config.vocab_size)
            raise ArgumentError(cause, "the tokenizer that the model was trained with")
        ids = token_ids(tokenizer)
        generation = None if before.generation is None else {**before.generation, **{name: ids.get(name) for name in MARKS}}
        return replace(
            before, settings={**before.settings, **ids}, generation=generation,
            files=tokenizer_files(tokenizer, self.marks, self.config.context),
        )  # fmt: skip

    def compute_tables(self) -> None:
        """Make again what no folder holds, for it can be computed."""
        for module in self.modules():
            if isinstance(module, nn.RotaryEmbedding):
                module.reset_parameters()

    def rows_of(self, name: str, parts: int) -> list[int]:
        """How many rows of one of our tensors each of the tensors has that a folder keeps it in: equally many."""
        return [self.state_dict()[name].shape[0] // parts] * parts


def from_pretrained(folder: str | os.PathLike, dtype: DType | None = None) -> Pretrained:
    """The model of a folder, of the class that its config.json asks for: see `Pretrained.from_pretrained`."""
    _expect_dtype("from_pretrained", dtype)
    return class_of(folder).from_pretrained(folder, dtype)


def class_of(folder: str | os.PathLike) -> type[Pretrained]:
    """The class that the config.json of a folder asks for."""
    return _class_of(read_settings(found(folder)))


def _format_of(model: Pretrained) -> Format:
    """The one that a model is written in."""
    return next((one for one in model.formats if one.fits(model.config)), model.formats[0])


def architecture_of(model: Pretrained) -> str:
    """The class of transformers that reads what `save_pretrained` writes. ArgumentError where there is none."""
    chosen = _format_of(model)
    return chosen.write(model.config, model.hints.kind).get("architectures", [chosen.architecture])[0]


def config_of(folder: str | os.PathLike) -> Any:
    """The config of the model that `from_pretrained` would give, whose weights are not read."""
    settings = read_settings(found(folder))
    formats = _class_of(settings).formats
    return _config(next(one for one in formats if settings.get("model_type") in (one.kind, *one.also)), settings)


def model_type_of(folder: str | os.PathLike) -> tuple[str, bool]:
    """(what the folder calls its kind of model, whether `from_pretrained` reads it)."""
    kind = read_settings(found(folder)).get("model_type")
    return str(kind), any(kind in (one.kind, *one.also) for cls in _classes(Pretrained) for one in cls.formats)


def _class_of(settings: Settings) -> type[Pretrained]:
    said = settings.get("architectures")
    asked = said if isinstance(said, list) and said else [None]
    kinds = [(one, cls) for cls in _classes(Pretrained) for one in cls.formats]
    fits = [(one, cls) for one, cls in kinds if settings.get("model_type") in (one.kind, *one.also)]
    if not fits:
        known = ", ".join(dict.fromkeys(kind for one, _ in kinds for kind in (one.kind, *one.also)))
        cause = tr("{}: model_type is {}; badak.models reads {}", settings.where, shown(settings.get("model_type")), known)
        raise FileError(cause, "transformers reads many more: badak run SCRIPT")
    same = [cls for one, cls in fits if asked[0] == one.architecture]
    return (same or [fits[0][1]])[0]


def _expect_dtype(where: str, dtype: Any) -> None:
    """Refuse what no weight can be."""
    if dtype is not None and not (isinstance(dtype, DType) and dtype.is_floating_point):
        got = dtype.name if isinstance(dtype, DType) else shown(dtype)
        raise DTypeError(tr("{}: expected dtype as floats; got {}", where, got), "badak.float32, badak.float16 or badak.bfloat16")


def _classes(cls: type[Pretrained]) -> Iterator[type[Pretrained]]:
    for below in cls.__subclasses__():
        yield below
        yield from _classes(below)


# The folder


def found(folder: str | os.PathLike, fetch: bool = True) -> Path:
    """The folder itself, or where the Hub's files of that name lie once fetched; without `fetch`, where they lie already."""
    place = as_path(folder)
    if place.is_dir():
        return place
    if place.exists():
        raise FileError(tr("{}: is a file", place), "the folder that holds config.json and model.safetensors")
    if not is_hub_name(folder):
        raise FileError(tr("{}: there is no such folder", place), "the folder that holds config.json and model.safetensors")
    return _fetched(str(folder), fetch)


def is_hub_name(name: str | os.PathLike) -> bool:
    """Whether this is no path here, and could be a model on the Hub: "gpt2", or "owner/name" where no folder is called owner."""
    if not isinstance(name, str) or not re.fullmatch(r"[\w.-]+(/[\w.-]+)?", name) or as_path(name).exists():
        return False
    return "/" not in name or not as_path(name.partition("/")[0]).exists()


def _fetched(name: str, fetch: bool) -> Path:
    try:
        import huggingface_hub  # an extra: only whoever fetches needs it
    except ImportError:
        cause = tr("{}: there is no such folder, and huggingface_hub, which could fetch it, is not installed", name)
        fix = tr("pip install huggingface_hub, or put its config.json, model.safetensors and tokenizer.json into a folder {}", name)
        raise FileError(cause, fix) from None
    try:
        for weights in ("*.safetensors", "*.bin"):  # the older form only where the newer one is not there
            wanted = [*BESIDE, weights]
            place = Path(huggingface_hub.snapshot_download(name, allow_patterns=wanted, local_files_only=not fetch))
            if any(place.glob(weights)):
                break
    except Exception as error:  # of the network, of the Hub, of its cache: all end here
        if not fetch:
            cause = tr(
                "{}: the run began with these weights of the Hub; they are not on this machine, and a run fetches nothing", name
            )
            raise FileError(cause, tr("badak generate {} fetches them", name)) from error
        cause = tr("{}: there is no such folder, and the Hub does not give it ({})", name, line(str(error).splitlines()[0]))
        fix = tr("look at the name and the network, or put its config.json, model.safetensors and tokenizer.json into a folder {}",
                 name)  # fmt: skip
        raise FileError(cause, fix) from error
    return place


def read_settings(place: Path) -> Settings:
    """config.json of a folder."""
    read = config.read_json(place / CONFIG)
    if not isinstance(read, dict):
        raise FileError(tr("{}: expected a table of settings; got {}", place / CONFIG, type(read).__name__), "restore the file")
    settings = Settings(read)
    settings.where = place / CONFIG
    return settings


# Settings and names


def _config(chosen: Format, settings: Settings) -> Any:
    try:
        return chosen.read(settings)
    except ArgumentError as error:
        raise FileError(tr("{}: {}", settings.where, error.cause), "restore the file from a copy") from None


def _parts(model: Pretrained, chosen: Format) -> Iterator[tuple[str, tuple[str, ...], bool]]:
    """(our name, theirs, whether they are turned) of every tensor of the model."""
    for name in model.state_dict():
        number = re.search(r"\.(\d+)\.", name)
        whole = re.sub(r"\.\d+\.", ".{}.", name)
        module, _, last = whole.rpartition(".")
        known, tail = (chosen.names[whole], "") if whole in chosen.names else (chosen.names[module], f".{last}")
        theirs = (known,) if isinstance(known, str) else known
        names = [(one[1:] if one[0] == "~" else chosen.base + one).format(number and number[1]) + tail for one in theirs]
        yield name, tuple(names), module in chosen.turned and last == "weight"


def _ours(model: Pretrained, chosen: Format, tensors: dict[str, Tensor], place: Path) -> dict[str, Tensor]:
    """The model's state_dict, of the tensors of a folder."""
    parts = list(_parts(model, chosen))
    if chosen.base and not any(name.startswith(chosen.base) for name in tensors):  # of the model proper, without a head
        tensors = {chosen.base + name: x for name, x in tensors.items()}
    needless = {name for name, x in chosen.constants(model.config).items() if name in tensors and _alike(tensors[name], x)}
    wanted = {name for _, names, _ in parts for name in names}
    absent = sorted(wanted - set(tensors))
    if absent:
        cause = tr("{}: {} of {} tensors are missing: {}", place, len(absent), len(wanted), _some(absent))
        raise FileError(cause, tr("a folder of {}, whole", chosen.architecture))
    left = sorted(name for name in set(tensors) - wanted - needless if not re.fullmatch(chosen.idle, name))
    if left:
        cause = tr("{}: {} tensors have no place in {}: {}", place, len(left), type(model).__name__, _some(left))
        raise FileError(cause, "transformers reads this folder: badak run SCRIPT")
    shapes, state = {name: x.shape for name, x in model.state_dict().items()}, {}
    for name, names, turned in parts:
        pieces = [tensors[one].T if turned else tensors[one] for one in names]
        for one, x, rows in zip(names, pieces, model.rows_of(name, len(names))):
            if x.shape != (rows, *shapes[name][1:]):
                raise _misshapen(place, one, x, (rows, *shapes[name][1:]), turned)
        state[name] = (pieces[0] if len(pieces) == 1 else cat(pieces)).contiguous()
    return state


def _theirs(model: Pretrained, chosen: Format, dtype: DType | None) -> dict[str, Tensor]:
    """The tensors of the model by the names that a folder has for them."""
    state, tensors = chosen.state(model), {}
    for name, names, turned in _parts(model, chosen):
        x = state[name].detach()
        x = x.to(dtype) if dtype is not None and x.is_floating_point() else x
        for one, piece in zip(names, x.split(model.rows_of(name, len(names)))):
            tensors[one] = (piece.T if turned else piece).contiguous()
    more = chosen.constants(model.config)
    return tensors | {name: x if dtype is None else x.to(dtype) for name, x in more.items()}


def _alike(x: Tensor, constant: Tensor) -> bool:
    """Whether a tensor of a folder, which may have been rounded to 16 bits, is this one."""
    return x.shape == constant.shape and bool((x.to(float32) - constant).abs().max() <= 2**-8)


def _misshapen(place: Path, name: str, x: Tensor, wanted: tuple[int, ...], turned: bool) -> FileError:
    got, wanted = (tuple(x.T.shape), wanted[::-1]) if turned else (tuple(x.shape), wanted)
    cause = tr("{}: {} is {} where {} asks for {}", place, line(name), got, CONFIG, wanted)
    return FileError(cause, tr("the {} that belongs to these tensors", CONFIG))


def _some(names: list[str]) -> str:
    more = tr(" and {:,} more", len(names) - NAMED) if len(names) > NAMED else ""
    return ", ".join(line(name) for name in names[:NAMED]) + more
