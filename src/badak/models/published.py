"""What Hugging Face's folders call the settings and tensors of our models: one table for each architecture."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from badak.core.errors import ArgumentError, FileError, tr
from badak.io.config import read_json
from badak.io.errors import shown
from badak.models.bert import BERT, BERTClassifier, BERTConfig, BERTEncoder, SentenceConfig, SentenceEncoder, TextConfig
from badak.models.gpt import GPT, GPTConfig
from badak.models.llama import Llama, LlamaConfig, RotaryScaling
from badak.models.pretrained import Format, Settings, read_settings, told
from badak.models.windows import kind_of, read_windows, write_windows
from badak.tensor import Tensor, zeros

# GPT-2

_GPT2 = {"vocab_size": "vocab_size", "d_model": "n_embd", "heads": "n_head", "layers": "n_layer"}


def _read_gpt2(said: Settings) -> GPTConfig:
    for name, *known in (
        ("activation_function", "gelu_new", "gelu_pytorch_tanh"),
        ("scale_attn_weights", True),
        ("scale_attn_by_inverse_layer_idx", False),
        ("add_cross_attention", False),
        ("layer_norm_epsilon", 1e-5),
        ("tie_word_embeddings", True),
    ):
        said.expect(name, *known)
    return GPTConfig(
        **said.sizes(_GPT2),
        context=said.whole("n_positions", said.get("n_ctx")),
        feedforward_ratio=_ratio(said, "n_inner", said.whole("n_embd")),
        dropout=said.number("resid_pdrop", 0.1),
        initializer_range=said.number("initializer_range", 0.02),
    )


def _write_gpt2(config: GPTConfig, kind: str) -> dict[str, Any]:
    return {
        **told(config, _GPT2),
        "n_positions": config.context,
        "n_inner": config.feedforward_ratio * config.d_model,
        "activation_function": "gelu_new",
        "layer_norm_epsilon": 1e-5,
        **dict.fromkeys(("resid_pdrop", "embd_pdrop", "attn_pdrop"), config.dropout),
        "initializer_range": config.initializer_range,
    }


GPT.formats = [
    Format(
        "gpt2", "GPT2LMHeadModel", _read_gpt2, _write_gpt2,
        {
            "token": "wte", "position": "wpe", "norm": "ln_f",
            "blocks.{}.norm1": "h.{}.ln_1", "blocks.{}.norm2": "h.{}.ln_2",
            "blocks.{}.attention.qkv": "h.{}.attn.c_attn", "blocks.{}.attention.out": "h.{}.attn.c_proj",
            "blocks.{}.feed_forward.up": "h.{}.mlp.c_fc", "blocks.{}.feed_forward.down": "h.{}.mlp.c_proj",
        },
        base="transformer.",
        turned=(
            "blocks.{}.attention.qkv", "blocks.{}.attention.out", "blocks.{}.feed_forward.up", "blocks.{}.feed_forward.down",
        ),
        idle=r"lm_head\.weight|.*\.attn\.(masked_)?bias",  # the token table again, and the causal mask
    )
]  # fmt: skip

# Llama and its kin

_SIZES = {"vocab_size": "vocab_size", "d_model": "hidden_size", "heads": "num_attention_heads", "layers": "num_hidden_layers"}
_LLAMA = _SIZES | {"feedforward": "intermediate_size"}


def _read_llama(said: Settings) -> LlamaConfig:
    kind = said.get("model_type")
    said.expect("hidden_act", "silu")
    said.expect("mlp_bias", False)
    if kind == "llama":
        said.expect("attention_bias", False)
    sizes = said.sizes(_LLAMA)
    heads, rotary = sizes["heads"], said.table("rope_parameters")
    return LlamaConfig(
        **sizes,
        context=said.whole("max_position_embeddings", 2048),
        num_key_value_heads=said.whole("num_key_value_heads", heads),
        head_dim=0 if said.whole("head_dim", 0) * heads in (0, sizes["d_model"]) else said.whole("head_dim"),
        norm_eps=said.number("rms_norm_eps", 1e-6),
        rope_theta=rotary.number("rope_theta", said.get("rope_theta", 10_000.0)),
        rotary_scaling=_scaling(rotary or said.table("rope_scaling")),
        tied=said.flag("tie_word_embeddings"),
        qkv_bias=kind == "qwen2" or said.flag("attention_bias"),
        qk_norm=kind == "qwen3",
        **read_windows(said),
    )


def _scaling(rotary: Settings) -> RotaryScaling:
    kind = rotary.get("rope_type", rotary.get("type", "default"))
    if kind == "default":
        return RotaryScaling()
    if kind == "linear":
        return RotaryScaling("linear", rotary.number("factor"))
    rotary["rope_type"] = kind
    rotary.expect("rope_type", "default", "linear", "llama3")
    original = rotary.whole("original_max_position_embeddings", 8192)
    low, high = rotary.number("low_freq_factor"), rotary.number("high_freq_factor")
    return RotaryScaling("llama3", rotary.number("factor"), low, high, original)


def _write_llama(config: LlamaConfig, before: str) -> dict[str, Any]:
    scaling = config.rotary_scaling
    rotary: dict[str, Any] = {"rope_type": "default", "rope_theta": config.rope_theta}
    if scaling.kind != "none":
        rotary |= {"rope_type": scaling.kind, "factor": scaling.factor}
    if scaling.kind == "llama3":
        rotary |= {"low_freq_factor": scaling.low, "high_freq_factor": scaling.high}
        rotary |= {"original_max_position_embeddings": scaling.original}
    kind = kind_of(config, before)
    return {
        "model_type": kind,
        "architectures": [f"{kind.capitalize()}ForCausalLM"],
        **told(config, _LLAMA),
        "max_position_embeddings": config.context,
        "num_key_value_heads": config.num_key_value_heads,
        "head_dim": config.width,
        "hidden_act": "silu",
        "rms_norm_eps": config.norm_eps,
        "rope_parameters": rotary,
        "tie_word_embeddings": config.tied,
        "attention_bias": kind == "qwen3" and config.qkv_bias,
        **write_windows(config, kind),
    }


def _llama_constants(config: LlamaConfig) -> dict[str, Tensor]:
    """Qwen3 with biases has one behind its heads, too."""
    layers = range(config.layers if config.qk_norm and config.qkv_bias else 0)
    return {f"model.layers.{layer}.self_attn.o_proj.bias": zeros(config.d_model) for layer in layers}


Llama.formats = [
    Format(
        "llama", "LlamaForCausalLM", _read_llama, _write_llama,
        {
            "token": "embed_tokens", "norm": "norm", "output": "~lm_head",
            "blocks.{}.norm1": "layers.{}.input_layernorm", "blocks.{}.norm2": "layers.{}.post_attention_layernorm",
            "blocks.{}.attention.qkv": tuple(f"layers.{{}}.self_attn.{name}_proj" for name in "qkv"),
            "blocks.{}.attention.out": "layers.{}.self_attn.o_proj",
            "blocks.{}.attention.q_norm": "layers.{}.self_attn.q_norm",
            "blocks.{}.attention.k_norm": "layers.{}.self_attn.k_norm",
            "blocks.{}.feed_forward.gate_up": ("layers.{}.mlp.gate_proj", "layers.{}.mlp.up_proj"),
            "blocks.{}.feed_forward.down": "layers.{}.mlp.down_proj",
        },
        base="model.",
        idle=r".*\.rotary_emb\.inv_freq|lm_head\.weight",
        also=("mistral", "qwen2", "qwen3"),
        constants=_llama_constants,
    )
]  # fmt: skip

# BERT and what stands on it

_BERT = _SIZES | {"context": "max_position_embeddings"}


def _read_bert(said: Settings) -> dict[str, Any]:
    for name, *known in (
        ("hidden_act", "gelu"),
        ("position_embedding_type", "absolute"),
        ("is_decoder", False),
        ("add_cross_attention", False),
        ("tie_word_embeddings", True),
    ):
        said.expect(name, *known)
    return {
        **said.sizes(_BERT),
        "feedforward_ratio": _ratio(said, "intermediate_size", said.whole("hidden_size")),
        "dropout": said.number("hidden_dropout_prob", 0.1),
        "pad_id": said.whole("pad_token_id", 0),
        "type_vocab_size": said.whole("type_vocab_size", 2),
        "norm_eps": said.number("layer_norm_eps", 1e-12),
    }


def _write_bert(config: BERTConfig, kind: str) -> dict[str, Any]:
    return {
        **told(config, _BERT),
        "intermediate_size": config.feedforward_ratio * config.d_model,
        "hidden_act": "gelu",
        "pad_token_id": config.pad_id,
        "type_vocab_size": config.type_vocab_size or 1,  # transformers adds a vector in any case: zeros, where ours has none
        "layer_norm_eps": config.norm_eps,
        **dict.fromkeys(("hidden_dropout_prob", "attention_probs_dropout_prob"), config.dropout),
    }


_LAYER = "encoder.layers.{}."
_THEIRS = "encoder.layer.{}."
_ENCODER: dict[str, str | tuple[str, ...]] = {
    "token": "embeddings.word_embeddings",
    "position": "embeddings.position_embeddings",
    "segment": "embeddings.token_type_embeddings",
    "norm": "embeddings.LayerNorm",
    **{
        f"{_LAYER}self_attn.in_proj_{kind}": tuple(f"{_THEIRS}attention.self.{name}.{kind}" for name in ("query", "key", "value"))
        for kind in ("weight", "bias")
    },
    f"{_LAYER}self_attn.out_proj": f"{_THEIRS}attention.output.dense",
    f"{_LAYER}norm1": f"{_THEIRS}attention.output.LayerNorm",
    f"{_LAYER}linear1": f"{_THEIRS}intermediate.dense",
    f"{_LAYER}linear2": f"{_THEIRS}output.dense",
    f"{_LAYER}norm2": f"{_THEIRS}output.LayerNorm",
}
_SEGMENTS = "bert.embeddings.token_type_embeddings.weight"


def _bert_constants(config: BERTConfig) -> dict[str, Tensor]:
    return {} if config.type_vocab_size else {_SEGMENTS: zeros(1, config.d_model)}


def _settle_bert(config: Any, tensors: Mapping[str, Tensor]) -> Any:
    """One kind of sentences whose vector is zero is none."""
    table = next((x for name, x in tensors.items() if _SEGMENTS.endswith(name)), None)
    none = config.type_vocab_size == 1 and table is not None and table.shape == (1, config.d_model) and not bool((table != 0).any())
    return replace(config, type_vocab_size=0) if none else config


_OURS: dict[str, Any] = {"settle": _settle_bert, "constants": _bert_constants}
_IDLE = r".*\.position_ids"
_POOLER = r"|(bert\.)?pooler\..*"


def _read_text(said: Settings) -> TextConfig:
    said.expect("problem_type", None, "single_label_classification", "regression")
    return TextConfig(**_read_bert(said), classes=_labels(said), pooling="cls", pooler=True)


def _labels(said: Settings) -> int:
    labels = said.get("id2label")
    return len(labels) if isinstance(labels, dict) else said.whole("num_labels", 2)


def _write_text(config: TextConfig, kind: str) -> dict[str, Any]:
    if config.pooling != "cls" or not config.pooler:
        cause = tr("no folder of BertForSequenceClassification can say pooling={!r} with pooler={}", config.pooling, config.pooler)
        raise ArgumentError(cause, "badak.save(model.state_dict(), path), or a model with pooling='cls' and pooler=True")
    names = {str(at): f"LABEL_{at}" for at in range(config.classes)}
    numbers = {name: int(at) for at, name in names.items()}
    problem = "regression" if config.classes == 1 else "single_label_classification"
    return {**_write_bert(config, kind), "id2label": names, "label2id": numbers, "problem_type": problem}


_POOLING = {"cls": "pooling_mode_cls_token", "mean": "pooling_mode_mean_tokens"}


def _read_sentence(said: Settings) -> SentenceConfig:
    """config.json, and what sentence-transformers puts next to it: how the vectors of the tokens become one."""
    place = said.where.parent
    pooling: Any = "mean"
    normalize = True
    if (place / "modules.json").is_file():
        normalize = "Normalize" in _modules(place / "modules.json")
    if (place / "1_Pooling" / "config.json").is_file():
        settings = read_settings(place / "1_Pooling")
        wanted = [name for name, value in settings.items() if name.startswith("pooling_mode_") and value is True]
        pooling = next((ours for ours, theirs in _POOLING.items() if wanted == [theirs]), "")
        if not pooling:
            cause = tr("{}: pools by {}; SentenceEncoder knows {}", settings.where, shown(wanted), ", ".join(_POOLING.values()))
            raise FileError(cause, _ELSEWHERE)
    return SentenceConfig(**_read_bert(said), pooling=pooling, normalize=normalize)


_ELSEWHERE = tr("sentence-transformers reads this folder: badak run SCRIPT")


def _modules(path: Path) -> list[str]:
    """The kinds of modules that a sentence encoder is made of."""
    parts = read_json(path)
    if not isinstance(parts, list) or not all(isinstance(part, dict) for part in parts):
        raise FileError(tr("{}: expected a list of modules; got {}", path, type(parts).__name__), "restore the file from a copy")
    kinds = [str(part.get("type")).rpartition(".")[2] for part in parts]
    other = next((kind for kind in kinds if kind not in ("Transformer", "Pooling", "Normalize")), None)
    if other is not None:
        raise FileError(tr("{}: has a module {}, which SentenceEncoder lacks", path, shown(other)), _ELSEWHERE)
    return kinds


def _beside_sentences(config: SentenceConfig) -> dict[str, Any]:
    kinds = ["Transformer", "Pooling", *(["Normalize"] if config.normalize else [])]
    paths = ["", "1_Pooling", "2_Normalize"]
    return {
        "modules.json": [
            {"idx": at, "name": str(at), "path": path, "type": f"sentence_transformers.models.{kind}"}
            for at, (kind, path) in enumerate(zip(kinds, paths))
        ],
        "1_Pooling/config.json": {
            "word_embedding_dimension": config.d_model,
            **{theirs: ours == config.pooling for ours, theirs in _POOLING.items()},
        },
        "sentence_bert_config.json": {"max_seq_length": config.context, "do_lower_case": False},
    }


BERTEncoder.formats = [
    Format("bert", "BertModel", lambda said: BERTConfig(**_read_bert(said)), _write_bert, _ENCODER, "bert.",
           idle=rf"{_IDLE}{_POOLER}|(bert\.)?cls\..*", **_OURS)
]  # fmt: skip
BERT.formats = [
    Format(
        "bert", "BertForMaskedLM", lambda said: BERTConfig(**_read_bert(said)), _write_bert,
        {
            **_ENCODER,
            "head.dense": "~cls.predictions.transform.dense",
            "head.norm": "~cls.predictions.transform.LayerNorm",
            "head.bias": "~cls.predictions.bias",
        },
        base="bert.",
        idle=rf"{_IDLE}{_POOLER}|cls\.predictions\.decoder\..*|cls\.seq_relationship\..*",  # the token table again; sentence pairs
        **_OURS,
    )
]  # fmt: skip
BERTClassifier.formats = [
    Format("bert", "BertForSequenceClassification", _read_text, _write_text,
           {**_ENCODER, "pooler": "pooler.dense", "head": "~classifier"}, "bert.", idle=_IDLE, **_OURS)
]  # fmt: skip
SentenceEncoder.formats = [
    Format("bert", "BertModel", _read_sentence, _write_bert, _ENCODER, "bert.", idle=rf"{_IDLE}{_POOLER}",
           beside=_beside_sentences, **_OURS)
]  # fmt: skip


def _ratio(said: Settings, name: str, width: int) -> int:
    """How many times the model's width the feed-forward part has."""
    wide = said.whole(name, 4 * width)
    if width < 1 or wide % width:
        said.expect(name, 4 * width)
    return wide // max(width, 1)
