"""What the folders of Marian call the settings and tensors of a Seq2Seq: the paper's Transformer, trained on many pairs of
languages (the "opus-mt" models).

Marian has the norm behind each part, and computes its positions: all sines, then all cosines. A Seq2Seq with the norm before each
part is written as Blenderbot, which has the same layers and keeps its positions as a table: ours is put there. Only such a table
is read.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from badak.models.pretrained import Format, Settings, told
from badak.models.seq2seq import Seq2Seq, Seq2SeqConfig, positions_of
from badak.tensor import Tensor, arange, cat, float32, zeros

SIZES = {
    "vocab_size": "vocab_size", "context": "max_position_embeddings", "d_model": "d_model", "heads": "encoder_attention_heads",
    "encoder_layers": "encoder_layers", "decoder_layers": "decoder_layers", "feedforward": "encoder_ffn_dim",
    "pad_id": "pad_token_id", "sos_id": "decoder_start_token_id", "eos_id": "eos_token_id",
}  # fmt: skip
ACTIVATIONS = {"relu": "relu", "gelu": "gelu", "swish": "silu", "silu": "silu"}


def _read(said: Settings) -> Seq2SeqConfig:
    norm_first = said.get("model_type") == "blenderbot"
    for name, *known in (
        ("scale_embedding", True),
        ("static_position_embeddings", True),
        ("normalize_before", norm_first),
        ("normalize_embedding", False),
        ("add_final_layernorm", norm_first),
        ("share_encoder_decoder_embeddings", True),
        ("tie_word_embeddings", True),
        ("activation_function", *ACTIVATIONS),
        ("decoder_attention_heads", said.whole("encoder_attention_heads")),
        ("decoder_ffn_dim", said.whole("encoder_ffn_dim")),
    ):
        if name in said or name == "scale_embedding":
            said.expect(name, *known)
    activation: Any = ACTIVATIONS[said.get("activation_function", "gelu")]
    return Seq2SeqConfig(
        **said.sizes(SIZES),
        dropout=said.number("dropout", 0.1),
        norm_first=norm_first,
        activation=activation,
        positions="halves",
        output_bias=True,
    )


def _write(config: Seq2SeqConfig, kind: str) -> dict[str, Any]:
    return {
        **told(config, SIZES),
        "decoder_attention_heads": config.heads,
        "decoder_ffn_dim": config.feedforward,
        "activation_function": config.activation,
        "dropout": config.dropout,
        **dict.fromkeys(("attention_dropout", "activation_dropout"), 0.0),
        "scale_embedding": True,
        "share_encoder_decoder_embeddings": True,
        "bos_token_id": config.sos_id,
        **({"encoder_no_repeat_ngram_size": 0} if config.norm_first else {}),
    }


_BIAS, _POSITIONS = "final_logits_bias", "embed_positions.weight"


def _no_bias(config: Seq2SeqConfig) -> dict[str, Tensor]:
    """transformers adds a bias to the logits in any case: zeros, where ours has none."""
    return {} if config.output_bias else {_BIAS: zeros(1, config.vocab_size)}


def _tables(config: Seq2SeqConfig) -> dict[str, Tensor]:
    """The same, and the positions, which Blenderbot keeps in a table on each side."""
    return _no_bias(config) | {f"model.{side}.{_POSITIONS}": positions_of(config).clone() for side in ("encoder", "decoder")}


def _settle(config: Seq2SeqConfig, tensors: Mapping[str, Tensor]) -> Seq2SeqConfig:
    """Whether there is a bias, and where the cosines of a table stand, is seen in the tensors."""
    bias, table = (next((x for name, x in tensors.items() if name.endswith(one)), None) for one in (_BIAS, _POSITIONS))
    if bias is not None and not bool((bias != 0).any()):
        config = replace(config, output_bias=False)
    pairs = replace(config, positions="pairs")
    if not config.norm_first or table is None or table.shape != (config.context, config.d_model):
        return config
    return pairs if bool((table.to(float32) - positions_of(pairs)).abs().max() <= 2**-8) else config


def _halved(model: Seq2Seq) -> dict[str, Tensor]:
    """The tensors of a model that computes the same with all sines before all cosines: the channels in another order.

    What maps from the C channels has them in its columns, what maps to them in its rows; norms have one number for each.
    """
    state, C = model.state_dict(), model.config.d_model
    if model.config.positions == "halves":
        return state
    order = cat([arange(0, C, 2), arange(1, C, 2)])
    turned = {}
    for name, x in state.items():
        reads = name.endswith(("token.weight", "in_proj_weight", "linear1.weight"))
        writes = name.endswith(("out_proj.weight", "out_proj.bias", "linear2.weight", "linear2.bias")) or ".norm" in name
        turned[name] = x[:, order] if reads else x[order] if writes else x
    return turned


def _layer(side: str, attentions: dict[str, str], norms: dict[str, str]) -> dict[str, str | tuple[str, ...]]:
    """Our names and theirs within a layer of one side."""
    layer = f"{side}.layers.{{}}."
    names: dict[str, str | tuple[str, ...]] = {f"{layer}linear1": f"{layer}fc1", f"{layer}linear2": f"{layer}fc2"}
    for ours, theirs in attentions.items():
        names[f"{layer}{ours}.out_proj"] = f"{layer}{theirs}.out_proj"
        for kind in ("weight", "bias"):
            names[f"{layer}{ours}.in_proj_{kind}"] = tuple(f"{layer}{theirs}.{one}_proj.{kind}" for one in "qkv")
    return names | {f"{layer}{ours}": f"{layer}{theirs}" for ours, theirs in norms.items()}


_NAMES: dict[str, str | tuple[str, ...]] = {
    "token": "shared",
    "bias": "~final_logits_bias",
    **_layer("encoder", {"self_attn": "self_attn"}, {"norm1": "self_attn_layer_norm", "norm2": "final_layer_norm"}),
    **_layer("decoder", {"self_attn": "self_attn", "multihead_attn": "encoder_attn"},
             {"norm1": "self_attn_layer_norm", "norm2": "encoder_attn_layer_norm", "norm3": "final_layer_norm"}),
}  # fmt: skip
_SINES = r"model\.(en|de)coder\.embed_positions\.weight"
_AGAIN = r"lm_head\.weight|model\.(en|de)coder\.embed_tokens\.weight"  # the table again

Seq2Seq.formats = [
    Format("marian", "MarianMTModel", _read, _write, _NAMES, "model.", idle=rf"{_AGAIN}|{_SINES}",
           fits=lambda config: not config.norm_first, settle=_settle, constants=_no_bias, state=_halved),
    Format("blenderbot", "BlenderbotForConditionalGeneration", _read, _write,
           {**_NAMES, "encoder.norm": "encoder.layer_norm", "decoder.norm": "decoder.layer_norm"}, "model.", idle=_AGAIN,
           fits=lambda config: config.norm_first, settle=_settle, constants=_tables),
]  # fmt: skip
