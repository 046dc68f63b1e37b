"""What a model begins with: initial weights, or those of a trained folder, some of them frozen or next to adapters."""

from dataclasses import dataclass, fields, replace
from pathlib import Path

from badak.core.errors import ArgumentError, StateError, tr
from badak.generation.folder import read_labels
from badak.models.bert import BERTClassifier, BERTConfig, BERTEncoder, SentenceEncoder, TextConfig
from badak.models.gpt import GPT, GPTConfig
from badak.models.llama import Llama, LlamaConfig
from badak.models.pretrained import config_of, found, from_pretrained, is_hub_name, read_tensors
from badak.nn.lora import add_lora
from badak.nn.quantization import quantize
from badak.nn.weight_hash import hash_of
from badak.tensor import Tensor
from badak.training.presets import GPTSetup, Setup, TextSetup

WRITERS = tr("a folder of GPT-2, Llama, Qwen or Mistral")
READERS = tr("a folder of BERT, of a text classifier on it, or of sentence-transformers, such as MiniLM")


def make_writer(config: GPTConfig | LlamaConfig) -> GPT | Llama:
    """The model of this shape, with initial weights."""
    return Llama(config) if isinstance(config, LlamaConfig) else GPT(config)


def expect_here(setup: Setup) -> None:
    """Refuse a run whose initial weights would be fetched: its folder may be somebody else's, and could ask for any download."""
    start = getattr(setup, "start", None)
    if start is not None and (not start.sha256 or getattr(start, "lora", False)) and is_hub_name(start.folder):
        found(start.folder, fetch=False)


def sized(setup: GPTSetup) -> GPTSetup:
    """`setup` with the sizes of the folder that it begins with; dropout is the setup's own."""
    if not setup.start.folder or setup.start.sha256:
        return setup
    config = config_of(setup.start.folder)
    if not isinstance(config, (GPTConfig, LlamaConfig)):
        raise ArgumentError(tr("{}: its model does not write from left to right", setup.start.folder), WRITERS)
    if setup.data.tokens in ("bpe", "wordpiece"):
        cause = tr("{} has its own tokenizer; got --tokens {} too", setup.start.folder, setup.data.tokens)
        raise ArgumentError(cause, "leave it out")
    data = replace(setup.data, tokens="tokenizer")
    return replace(setup, model=replace(config, dropout=setup.model.dropout), data=data)


def first_model(setup: GPTSetup) -> tuple[GPT | Llama, GPTSetup]:
    """The model that the training of `setup` begins with, and `setup` with the SHA-256 of the weights that were read.

    A run that goes on reads the folder again only where it keeps no more than adapters.
    """
    start = setup.start
    model = make_writer(setup.model)
    if start.folder and (start.lora or not start.sha256):
        model.load_state_dict(from_pretrained(start.folder).state_dict())
        found = hash_of(model)
        if start.sha256 not in ("", found):
            raise StateError(tr("{}: not the weights that this run began with", start.folder), "bring the old folder back")
        setup = replace(setup, start=replace(start, sha256=found))
    if start.base != "float32":
        quantize(model, start.base)
    if start.lora:
        add_lora(model, start.lora, start.lora_alpha, [end for end in ENDS if end in dict(model.blocks[0].named_modules())])
    freeze(model, start.freeze)
    return model, setup


ENDS = ("attention.qkv", "attention.out", "feed_forward.up", "feed_forward.gate_up", "feed_forward.down")


def freeze(model: GPT | Llama | BERTClassifier, layers: int) -> None:
    """Let the tables and the lowest layers learn no more."""
    blocks = model.encoder.layers if isinstance(model, BERTClassifier) else model.blocks
    if layers > len(blocks):
        raise ArgumentError(tr("--freeze {}: the model has {} layers", layers, len(blocks)), tr("--freeze {}", len(blocks)))
    tables = ("token", "position", "segment", *(["norm"] if isinstance(model, BERTClassifier) else []))  # a GPT's norm is its last
    still = [*filter(None, (getattr(model, name, None) for name in tables)), *blocks[:layers]]
    for part in still if layers else ():
        part.requires_grad_(False)


@dataclass(frozen=True)
class Learned:
    """What an encoder of a folder has learned, for a text classifier to begin with."""

    folder: str
    config: TextConfig
    weights: dict[str, Tensor]  # by the names of a BERTClassifier, its head included where the folder's is one
    sha256: str
    labels: tuple[str, ...] | None = None  # the classes of that head, () for a number


def read_learned(setup: TextSetup) -> Learned | None:
    """The folder that `setup` begins with; None where there is none, and for a run that goes on, which has its own weights."""
    if not setup.start.folder or setup.start.sha256:
        return None
    place, labels = found(setup.start.folder), None
    sentences = (place / "modules.json").is_file()  # a folder of sentence-transformers
    model = SentenceEncoder.from_pretrained(place) if sentences else from_pretrained(place)
    if not isinstance(model, BERTEncoder):
        raise ArgumentError(tr("{}: its model does not read a whole text at once", setup.start.folder), READERS)
    weights = {name: x for name, x in model.state_dict().items() if not name.startswith("head.")}
    if isinstance(model, BERTClassifier):
        weights, labels = dict(model.state_dict()), read_labels(place)
    elif not sentences:
        weights |= pooler_of(place, model.config.d_model)
    sizes = {one.name: getattr(model.config, one.name) for one in fields(BERTConfig)}
    config = TextConfig(**sizes, pooling=getattr(model.config, "pooling", "cls"), pooler=not sentences)
    return Learned(setup.start.folder, config, weights, hash_of(model), labels)


def pooler_of(place: Path, width: int) -> dict[str, Tensor]:
    """The linear map that a folder has behind its first token; {} where it has none."""
    tensors = read_tensors(place)
    for base in ("bert.", ""):
        pooler = {part: tensors.get(f"{base}pooler.dense.{part}") for part in ("weight", "bias")}
        if [getattr(x, "shape", None) for x in pooler.values()] == [(width, width), (width,)]:
            return {f"pooler.{part}": x.float() for part, x in pooler.items() if x is not None}
    return {}


def first_reader(setup: TextSetup, learned: Learned | None) -> tuple[BERTClassifier, TextSetup, list[str]]:
    """The model that the training of `setup` begins with, `setup` with the SHA-256 of what was learned, and which parts are new."""
    model, new = BERTClassifier(setup.model), list[str]()
    if learned is not None:
        state, weights = model.state_dict(), dict(learned.weights)
        weights["position.weight"] = weights["position.weight"][: setup.model.context]
        same = learned.labels is not None and learned.labels == setup.labels and bool(setup.labels)
        taken = {name: x for name, x in weights.items() if name in state and (same or not name.startswith("head."))}
        model.load_state_dict({**state, **taken})
        new = sorted({name.partition(".")[0] for name in set(state) - set(taken)})
        setup = replace(setup, start=replace(setup.start, sha256=learned.sha256))
    freeze(model, setup.start.freeze)
    return model, setup, new
