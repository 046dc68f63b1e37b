"""Models in GGUF files, llama.cpp's: what it calls their sizes and tensors, and how its bytes become layers without a copy.

    model = read_model(read_gguf("model.gguf"), "model.gguf")     a Llama or a GPT; weights in blocks stay as they lie in the file
    write_gguf(path, *model_as_gguf(model, "f16"))

Llama files hold queries and keys with the two halves of each head interleaved, as llama.cpp turns them; Qwen's do not. F16 becomes
float32 and Q6_K, which files called Q4_K_M hold, Q8_0: badak has no products for them.
(`io/gguf.py` reads and writes the file itself.)
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from badak import kernels, nn
from badak.core.errors import ArgumentError, FileError, tr
from badak.io.errors import line, shown
from badak.io.gguf import GGUF, Stored
from badak.kernels.block_formats import FORMATS, READ
from badak.kernels.half import BFLOAT16
from badak.kernels.reference.blocks import AT_ONCE, q6_k_numbers
from badak.models.gpt import GPT, GPTConfig
from badak.models.llama import Llama, LlamaConfig, RotaryScaling
from badak.models.pretrained import Pretrained, Settings
from badak.models.sizes import expect_sizes
from badak.nn.quantized import BlockEmbedding, BlockLinear, InBlocks, Int8Linear, JoinedLinear, LinearOf16Bits
from badak.tensor import Tensor, device

NUMBERS = {"f32": np.dtype(np.float32), "f16": np.dtype(np.float16), "bf16": BFLOAT16}
FILE_TYPES = {"f32": 0, "f16": 1, "bf16": 32, "q4_0": 2, "q8_0": 7}  # what general.file_type calls them
FREQUENCIES = "rope_freqs.weight"  # what each frequency is divided by
AGAIN = tr("copy or download it again")


@dataclass(frozen=True)
class Architecture:
    """How files of one architecture call what one of our models holds."""

    name: str  # general.architecture
    model: type[Pretrained]
    read: Callable[[Settings, Mapping[str, Stored]], Any]  # facts and tensors as our config
    write: Callable[[Any], dict[str, Any]]  # and back
    names: Mapping[str, tuple[str, ...]]  # our module: theirs, {} for the layer's number; several are joined along the rows
    interleaved: tuple[str, ...] = ()  # of theirs: heads whose halves alternate


_BLOCK = {"blocks.{}.norm1": ("blk.{}.attn_norm",), "blocks.{}.norm2": ("blk.{}.ffn_norm",),
          "blocks.{}.attention.out": ("blk.{}.attn_output",), "blocks.{}.feed_forward.down": ("blk.{}.ffn_down",),
          "token": ("token_embd",), "norm": ("output_norm",)}  # fmt: skip
_GPT2 = _BLOCK | {"position": ("position_embd",), "blocks.{}.attention.qkv": ("blk.{}.attn_qkv",),
                  "blocks.{}.feed_forward.up": ("blk.{}.ffn_up",)}  # fmt: skip
_LLAMA = _BLOCK | {
    "output": ("output",),
    "blocks.{}.attention.qkv": tuple(f"blk.{{}}.attn_{name}" for name in "qkv"),
    "blocks.{}.attention.q_norm": ("blk.{}.attn_q_norm",),
    "blocks.{}.attention.k_norm": ("blk.{}.attn_k_norm",),
    "blocks.{}.feed_forward.gate_up": ("blk.{}.ffn_gate", "blk.{}.ffn_up"),
}


def _read_gpt2(said: Settings, tensors: Mapping[str, Stored]) -> GPTConfig:
    eps = said.number("attention.layer_norm_epsilon", 1e-5)
    if abs(eps - 1e-5) > 1e-9:
        raise FileError(tr("{}: layer_norm_epsilon is {:g}; GPT has 1e-05", said.where, eps), "llama.cpp reads this file")
    width = said.whole("embedding_length")
    wide = said.whole("feed_forward_length", 4 * width)
    if width < 1 or wide % width:
        raise FileError(tr("{}: feed_forward_length {} is no multiple of embedding_length {}", said.where, wide, width), AGAIN)
    return GPTConfig(
        vocab_size=_rows(said, tensors), context=said.whole("context_length"), d_model=width,
        heads=said.whole("attention.head_count"), layers=said.whole("block_count"), feedforward_ratio=wide // width,
    )  # fmt: skip


def _write_gpt2(config: GPTConfig) -> dict[str, Any]:
    return {
        "context_length": config.context, "embedding_length": config.d_model, "block_count": config.layers,
        "feed_forward_length": config.feedforward_ratio * config.d_model, "attention.head_count": config.heads,
        "attention.layer_norm_epsilon": 1e-5,
    }  # fmt: skip


def _read_llama(said: Settings, tensors: Mapping[str, Stored]) -> LlamaConfig:
    heads, width = said.whole("attention.head_count"), said.whole("embedding_length")
    if heads < 1 or said.whole("expert_count", 0):
        what = tr("it has experts, and Llama has none") if heads > 0 else tr("attention.head_count is {}", heads)
        raise FileError(tr("{}: {}", said.where, what), "llama.cpp reads this file")
    size = said.whole("attention.key_length", width // heads)
    for name in ("attention.value_length", "rope.dimension_count"):
        said.expect(name, size, None)
    kind = said.get("rope.scaling.type", "none")
    if kind not in ("none", "linear"):
        cause = tr("{}: rope.scaling.type is {}; Llama knows none and linear", said.where, shown(kind))
        raise FileError(cause, "llama.cpp reads this file")
    scaling = RotaryScaling("linear", said.number("rope.scaling.factor")) if kind == "linear" else RotaryScaling()
    return LlamaConfig(
        vocab_size=_rows(said, tensors), context=said.whole("context_length"), d_model=width, heads=heads,
        num_key_value_heads=said.whole("attention.head_count_kv", heads), head_dim=0 if size * heads == width else size,
        layers=said.whole("block_count"), feedforward=said.whole("feed_forward_length"),
        norm_eps=said.number("attention.layer_norm_rms_epsilon"), rope_theta=said.number("rope.freq_base", 10_000.0),
        rotary_scaling=_stretched(said, tensors) if FREQUENCIES in tensors else scaling, tied="output.weight" not in tensors,
        qkv_bias="blk.0.attn_q.bias" in tensors, qk_norm="blk.0.attn_q_norm.weight" in tensors,
    )  # fmt: skip


def _rows(said: Settings, tensors: Mapping[str, Stored]) -> int:
    if "token_embd.weight" not in tensors:
        raise FileError(tr("{}: there is no token_embd.weight", said.where), AGAIN)
    return tensors["token_embd.weight"].shape[0]


def _stretched(said: Settings, tensors: Mapping[str, Stored]) -> RotaryScaling:
    """The scaling of Llama 3 that gives these divisors: files hold them, and not what they were made of."""
    table = tensors[FREQUENCIES]
    if table.kind == "f32" and table.rows.size:
        found = table.rows.view(np.float32).reshape(-1)
        factor, theta = float(found.max()), said.number("rope.freq_base", 10_000.0)
        if len(found) <= 1 << 15 and 1 <= factor < 1e6 and theta > 1:
            for original in (8192, 4096, 2048, 16384, 32768):
                scaling = RotaryScaling("llama3", factor, original=original)
                if np.allclose(_divisors(theta, scaling, 2 * len(found)), found, rtol=1e-4):
                    return scaling
    raise FileError(tr("{}: {} are no divisors of Llama 3's frequencies", said.where, FREQUENCIES), "llama.cpp reads this file")


def _divisors(theta: float, scaling: RotaryScaling, size: int) -> np.ndarray:
    """What each frequency of heads of `size` channels is divided by."""
    sizes: dict[str, Any] = {"d_model": size, "heads": 1, "num_key_value_heads": 1, "rope_theta": theta}
    plain, stretched = (LlamaConfig(**sizes, rotary_scaling=one).frequencies() for one in (RotaryScaling(), scaling))
    return (np.array(plain) / np.array(stretched)).astype(np.float32)


def _write_llama(config: LlamaConfig) -> dict[str, Any]:
    if config.sliding_window and config.sliding_window < config.context:
        cause = tr("GGUF: llama.cpp gives this architecture no sliding window; the model has one of {}", config.sliding_window)
        raise ArgumentError(cause, "badak.save(model.state_dict(), path), or save_pretrained(folder)")
    scaling = config.rotary_scaling
    linear = {"rope.scaling.type": "linear", "rope.scaling.factor": scaling.factor} if scaling.kind == "linear" else {}
    return {
        "context_length": config.context, "embedding_length": config.d_model, "block_count": config.layers,
        "feed_forward_length": config.feedforward, "attention.head_count": config.heads,
        "attention.head_count_kv": config.num_key_value_heads, "attention.key_length": config.width,
        "attention.value_length": config.width, "attention.layer_norm_rms_epsilon": config.norm_eps,
        "rope.freq_base": config.rope_theta, "rope.dimension_count": config.width, **linear,
    }  # fmt: skip


ARCHITECTURES = {
    one.name: one
    for one in (
        Architecture("gpt2", GPT, _read_gpt2, _write_gpt2, _GPT2),
        Architecture("llama", Llama, _read_llama, _write_llama, _LLAMA, ("attn_q", "attn_k")),
        Architecture("qwen2", Llama, _read_llama, _write_llama, _LLAMA),
        Architecture("qwen3", Llama, _read_llama, _write_llama, _LLAMA),
    )
}


def _interleaved(rows: np.ndarray, size: int, back: bool = False) -> np.ndarray:
    """Rows (H D, ...) of heads of D = `size`: i of the first half, i of the second, and so on; `back` undoes that."""
    halves = (size // 2, 2) if back else (2, size // 2)
    return rows.reshape(-1, *halves, *rows.shape[1:]).swapaxes(1, 2).reshape(rows.shape)


# reading


def read_model(file: GGUF, where: Any) -> Any:
    """The model of a file, in evaluation mode. Raises FileError for an architecture or settings that badak's models do not have,
    for tensors that are missing, too many or of another shape."""
    name = file.facts.get("general.architecture")
    chosen = ARCHITECTURES.get(name) if isinstance(name, str) else None
    if chosen is None:
        cause = tr("{}: the architecture is {}; badak reads {}", where, shown(name), ", ".join(ARCHITECTURES))
        raise FileError(cause, "llama.cpp reads this file")
    said = Settings({key.removeprefix(f"{chosen.name}."): _decimal(value) for key, value in file.facts.items()})
    said.where = where
    try:
        config = chosen.read(said, file.tensors)
    except ArgumentError as error:
        raise FileError(tr("{}: {}", where, error.cause), AGAIN) from None
    size = sum(x.rows.nbytes for x in file.tensors.values())
    expect_sizes(config, [x.shape for x in file.tensors.values()], size, where, AGAIN)
    on_meta: Any = device("meta")
    with on_meta:
        model: Any = chosen.model(config)
    _Filling(chosen, model, file.tensors, where).fill()
    model.compute_tables()
    return model.eval()


def _decimal(value: Any) -> Any:
    """A float32 as the shortest decimal that it is: 1e-05, not 9.999999747e-06."""
    exact = isinstance(value, float) and np.isfinite(value) and float(np.float32(value)) == value
    return float(str(np.float32(value))) if exact else value


class _Filling:
    """A model on the meta device that gets the tensors of a file."""

    def __init__(self, chosen: Architecture, model: Any, tensors: Mapping[str, Stored], where: Any) -> None:
        self.chosen, self.model, self.tensors, self.where = chosen, model, tensors, where
        self.used = {FREQUENCIES}

    def fill(self) -> None:
        for name, module in list(self.model.named_modules()):
            theirs = _theirs(self.chosen, name)
            if theirs and not isinstance(module, nn.Identity):
                parent, _, last = name.rpartition(".")
                self.model.get_submodule(parent)._modules[last] = self.made(name, module, theirs)
        left = sorted(name for name in set(self.tensors) - self.used if not self._again(name))
        if left:
            cause = tr("{}: {} tensors have no place in {}: {}", self.where, len(left), type(self.model).__name__,
                       ", ".join(map(line, left[:5])))  # fmt: skip
            raise FileError(cause, "llama.cpp reads this file")

    def _again(self, name: str) -> bool:
        """Whether it is the head of a model that has none of its own, and the very bytes of its embedding."""
        one, token = self.tensors[name], self.tensors["token_embd.weight"]
        return name == "output.weight" and one[:2] == token[:2] and np.array_equal(one.rows, token.rows)

    def made(self, name: str, module: nn.Module, theirs: tuple[str, ...]) -> nn.Module:
        """The module with what the file has for it."""
        if isinstance(module, nn.Linear):
            return self.linear(name, module, theirs)
        lookup = isinstance(module, nn.Embedding) and name in self.model.lookups
        for own, old in list(module._parameters.items()):
            if old is None:
                continue
            one = self.one(f"{theirs[0]}.{own}", tuple(old.shape))
            if lookup and one.kind in FORMATS:
                return BlockEmbedding.of_blocks(one.rows, None, one.kind, one.shape[-1])
            module._parameters[own] = nn.Parameter(Tensor._of(numbers(one)), requires_grad=False)
        return module

    def linear(self, name: str, module: nn.Linear, theirs: tuple[str, ...]) -> nn.Module:
        """The layer of one tensor, or of several: joined where they are of one kind."""
        counts, inputs = self.model.rows_of(f"{name}.weight", len(theirs)), module.in_features
        parts = [self.one(f"{one}.weight", (count, inputs)) for one, count in zip(theirs, counts)]
        biases: list[Any] = [None] * len(parts)
        if module.bias is not None:
            biases = [numbers(self.one(f"{one}.bias", (count,))) for one, count in zip(theirs, counts)]
        for at, one in enumerate(theirs):
            if one.endswith(self.chosen.interleaved):
                size = self.model.config.width
                parts[at] = parts[at]._replace(rows=_interleaved(parts[at].rows, size, back=True))
                biases[at] = None if biases[at] is None else _interleaved(biases[at], size, back=True)
        if len({part.kind for part in parts}) > 1:
            return JoinedLinear([_layer(part, bias) for part, bias in zip(parts, biases)])
        bias = None if biases[0] is None else np.concatenate(biases)
        return _layer(Stored(parts[0].kind, (sum(counts), inputs), _joined([part.rows for part in parts])), bias)

    def one(self, name: str, shape: tuple[int, ...]) -> Stored:
        """The tensor of this name, whose shape is this one."""
        if name not in self.tensors:
            raise FileError(tr("{}: there is no tensor {}", self.where, name), tr("a whole file of {}", self.chosen.name))
        found = self.tensors[name]
        if found.shape != shape:
            raise FileError(tr("{}: {} is {} where its facts ask for {}", self.where, name, found.shape, shape), AGAIN)
        self.used.add(name)
        return as_q8_0(found) if found.kind in READ else found


def _theirs(chosen: Architecture, name: str) -> tuple[str, ...]:
    """What a file calls the module of this name; () where it holds nothing of its own."""
    number = re.search(r"\.(\d+)\.", name)
    return tuple(one.format(number and number[1]) for one in chosen.names.get(re.sub(r"\.\d+\.", ".{}.", name), ()))


def as_q8_0(x: Stored) -> Stored:
    """A tensor in q6_k in the next format that has products, so many rows at a time that their numbers take little memory."""
    step = max(1, AT_ONCE // x.shape[-1])
    made = [kernels.active().quantize_blocks(q6_k_numbers(x.rows[n : n + step]), "q8_0") for n in range(0, len(x.rows), step)]
    return Stored("q8_0", x.shape, np.concatenate(made))


def numbers(x: Stored) -> np.ndarray:
    """A tensor as float32; in the file itself where it is so there."""
    if x.kind in FORMATS:
        return kernels.active().dequantize_blocks(x.rows, x.kind, x.shape[-1]).reshape(x.shape)
    return x.rows.view(NUMBERS[x.kind]).reshape(x.shape).astype(np.float32, copy=False)


def _joined(parts: list[np.ndarray]) -> np.ndarray:
    """The rows of all parts; no copy where they lie one after the other."""
    if all(a.ctypes.data + a.nbytes == b.ctypes.data for a, b in zip(parts, parts[1:])):
        return np.lib.stride_tricks.as_strided(parts[0], (sum(map(len, parts)), parts[0].shape[1]), parts[0].strides)
    return np.concatenate(parts)


def _layer(x: Stored, bias: np.ndarray | None) -> nn.Module:
    """A Linear of these bytes."""
    if x.kind in FORMATS:
        return BlockLinear.of_blocks(x.rows, bias, x.kind, x.shape[1])
    if x.kind == "bf16":
        return LinearOf16Bits(x.rows.view(BFLOAT16), bias)
    on_meta: Any = device("meta")
    with on_meta:
        layer = nn.Linear(x.shape[1], x.shape[0], bias=bias is not None)
    layer._parameters["weight"] = nn.Parameter(Tensor._of(numbers(x)), requires_grad=False)
    if bias is not None:
        layer._parameters["bias"] = nn.Parameter(Tensor._of(bias), requires_grad=False)
    return layer


# writing


def model_as_gguf(model: Any, kind: str = "f32") -> tuple[dict[str, Any], dict[str, Stored]]:
    """(facts, tensors) of a GPT or a Llama. kind: of weights that are not in blocks, "f32", "f16" or "bf16".

    Raises ArgumentError for a model that GGUF has no architecture for.
    """
    chosen, tensors = _architecture_of(model), {}
    stored = set()
    for name, module in model.named_modules():
        theirs = _theirs(chosen, name)
        if not theirs or isinstance(module, nn.Identity):
            continue
        for last, whole in _held(module, name, kind):
            counts = model.rows_of(f"{name}.{last}", len(theirs)) if len(theirs) > 1 else [len(whole.rows)]
            stored.add(whole.kind)
            for one, rows in zip(theirs, np.split(whole.rows, np.cumsum(counts)[:-1])):
                rows = _interleaved(rows, model.config.width) if one.endswith(chosen.interleaved) else rows
                tensors[f"{one}.{last}"] = Stored(whole.kind, (len(rows), *whole.shape[1:]), rows)
    facts = {"general.architecture": chosen.name, "general.name": model.hints.kind or type(model).__name__}
    main = next((name for name in FILE_TYPES if name in stored and name in FORMATS), kind)
    facts |= {"general.file_type": FILE_TYPES[main], "general.quantization_version": 2}
    facts |= {f"{chosen.name}.{key}": value for key, value in chosen.write(model.config).items()}
    facts[f"{chosen.name}.vocab_size"] = model.config.vocab_size
    scaling = getattr(model.config, "rotary_scaling", None)
    if scaling is not None and scaling.kind == "llama3":
        table = _divisors(model.config.rope_theta, scaling, model.config.width)
        tensors[FREQUENCIES] = Stored("f32", table.shape, table[:, None].view(np.uint8))
    return facts, tensors


def _architecture_of(model: Any) -> Architecture:
    if isinstance(model, GPT):
        return ARCHITECTURES["gpt2"]
    config: Any = getattr(model, "config", None)
    if not isinstance(model, Llama) or config.qk_norm and config.qkv_bias:
        cause = tr("GGUF: no architecture for {}", type(model).__name__)
        raise ArgumentError(cause, "a GPT, or a Llama as Llama, Qwen2 or Qwen3 are")
    return ARCHITECTURES["qwen3" if config.qk_norm else "qwen2" if config.qkv_bias else "llama"]


def _held(module: nn.Module, name: str, kind: str) -> list[tuple[str, Stored]]:
    """(weight or bias, what is written of it), of a module; vectors are always float32."""
    if isinstance(module, Int8Linear):
        raise ArgumentError(tr("GGUF: {} is int8 with a scale for each row", name), 'badak.quantize(model, "q8_0")')
    made = []
    for last, x in [*module._parameters.items(), *module._buffers.items()]:
        if x is None:
            continue
        array = np.ascontiguousarray(x.detach()._array)
        if isinstance(module, InBlocks) and last == "weight":
            if module.in_features % FORMATS[module.form].size == 0:
                made.append((last, Stored(module.form, (len(array), module.in_features), array)))
                continue
            array = module.numbers()  # rows that are no whole blocks
        which = "bf16" if array.dtype == BFLOAT16 else kind if array.ndim > 1 and name != "position" else "f32"
        array = array.astype(NUMBERS[which])
        made.append((last, Stored(which, array.shape, array.reshape(len(array), -1).view(np.uint8))))
    return made
