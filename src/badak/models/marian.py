"""What the folders of Marian call the settings and tensors of a Seq2Seq: the paper's Transformer, trained on many pairs of
languages (the "opus-mt" models).
"""

from typing import Any

from badak.errors import ArgumentError
from badak.models.pretrained import Format, Settings
from badak.models.seq2seq import Seq2Seq, Seq2SeqConfig

ACTIVATIONS = {"relu": "relu", "gelu": "gelu", "swish": "silu", "silu": "silu"}


def _read(said: Settings) -> Seq2SeqConfig:
    for name, *known in (
        ("scale_embedding", True),
        ("static_position_embeddings", True),
        ("normalize_before", False),
        ("normalize_embedding", False),
        ("add_final_layernorm", False),
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
        vocab_size=said.whole("vocab_size"),
        context=said.whole("max_position_embeddings"),
        d_model=said.whole("d_model"),
        heads=said.whole("encoder_attention_heads"),
        encoder_layers=said.whole("encoder_layers"),
        decoder_layers=said.whole("decoder_layers"),
        feedforward=said.whole("encoder_ffn_dim"),
        dropout=said.number("dropout", 0.1),
        norm_first=False,
        activation=activation,
        positions="halves",
        output_bias=True,
        pad_id=said.whole("pad_token_id"),
        sos_id=said.whole("decoder_start_token_id"),
        eos_id=said.whole("eos_token_id"),
    )


def _write(config: Seq2SeqConfig) -> dict[str, Any]:
    if config.norm_first or config.positions != "halves":
        raise ArgumentError(
            f"no folder of MarianMTModel can say norm_first={config.norm_first} with positions={config.positions!r}",
            "badak.save(model.state_dict(), path), or a model with norm_first=False and positions='halves'",
        )
    both = {f"{side}_{name}": value for side in ("encoder", "decoder")
            for name, value in (("attention_heads", config.heads), ("ffn_dim", config.feedforward))}  # fmt: skip
    return {
        **both,
        "vocab_size": config.vocab_size,
        "max_position_embeddings": config.context,
        "d_model": config.d_model,
        "encoder_layers": config.encoder_layers,
        "decoder_layers": config.decoder_layers,
        "activation_function": config.activation,
        "dropout": config.dropout,
        **dict.fromkeys(("attention_dropout", "activation_dropout"), 0.0),
        "scale_embedding": True,
        "share_encoder_decoder_embeddings": True,
        "pad_token_id": config.pad_id,
        "decoder_start_token_id": config.sos_id,
        "eos_token_id": config.eos_id,
        "forced_eos_token_id": config.eos_id,
    }


def _layer(side: str, attentions: dict[str, str], norms: dict[str, str]) -> dict[str, str | tuple[str, ...]]:
    """Our names and theirs within a layer of one side."""
    layer = f"{side}.layers.{{}}."
    names: dict[str, str | tuple[str, ...]] = {f"{layer}linear1": f"{layer}fc1", f"{layer}linear2": f"{layer}fc2"}
    for ours, theirs in attentions.items():
        names[f"{layer}{ours}.out_proj"] = f"{layer}{theirs}.out_proj"
        for kind in ("weight", "bias"):
            names[f"{layer}{ours}.in_proj_{kind}"] = tuple(f"{layer}{theirs}.{one}_proj.{kind}" for one in "qkv")
    return names | {f"{layer}{ours}": f"{layer}{theirs}" for ours, theirs in norms.items()}


Seq2Seq.formats = [
    Format(
        "marian", "MarianMTModel", _read, _write,
        {
            "token": "shared",
            "bias": "~final_logits_bias",
            **_layer("encoder", {"self_attn": "self_attn"},
                            {"norm1": "self_attn_layer_norm", "norm2": "final_layer_norm"}),
            **_layer("decoder", {"self_attn": "self_attn", "multihead_attn": "encoder_attn"},
                            {"norm1": "self_attn_layer_norm", "norm2": "encoder_attn_layer_norm", "norm3": "final_layer_norm"}),
        },
        base="model.",
        idle=r"lm_head\.weight|model\.(en|de)coder\.embed_(tokens|positions)\.weight",  # the table again, and sines
    )
]  # fmt: skip
