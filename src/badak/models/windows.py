"""The sliding windows of Llama's kin, as their folders say them."""

from typing import Any

from badak.core.errors import ArgumentError, FileError, tr
from badak.io.errors import shown
from badak.models.llama import LlamaConfig
from badak.models.pretrained import Settings

SLIDING, FULL = "sliding_attention", "full_attention"


def read_windows(said: Settings) -> dict[str, Any]:
    """sliding_window and layer_types, with what transformers takes where nothing is said: Mistral has the window in all layers,
    Qwen from max_window_layers on, and only where use_sliding_window says so; Llama has none."""
    kind, layers = said.get("model_type"), said.whole("num_hidden_layers")
    if kind == "llama" or (kind != "mistral" and not said.flag("use_sliding_window")):
        return {}
    window = said.whole("sliding_window", 4096) if said.get("sliding_window", 4096) is not None else 0
    if not window or kind == "mistral":
        return {"sliding_window": window}
    types = said.get("layer_types")
    if types is None:
        first = said.whole("max_window_layers", 28)
        types = [SLIDING if layer >= first else FULL for layer in range(min(layers, 10_000))]
    if not isinstance(types, list) or not all(one in (SLIDING, FULL) for one in types):
        raise FileError(tr("{}: layer_types must name {} or {} for each layer; got {}", said.where, SLIDING, FULL, shown(types)),
                        "restore the file from a copy")  # fmt: skip
    if types == [FULL] * layers:
        return {}
    return {"sliding_window": window, "layer_types": () if types == [SLIDING] * layers else tuple(types)}


def kind_of(config: LlamaConfig, before: str) -> str:
    """The family of a Llama; one that was read as Mistral remains so. ArgumentError where no family has its windows."""
    kind = "qwen3" if config.qk_norm else "qwen2" if config.qkv_bias else ""
    if FULL in config.layer_types and not kind:
        fix = tr("badak.save(model.state_dict(), path), or a model with layer_types=(), qkv_bias=True or qk_norm=True")
        raise ArgumentError("no family of transformers has windows in some layers without biases or norms of queries and keys", fix)
    return kind or ("mistral" if config.sliding_window or before == "mistral" else "llama")


def write_windows(config: LlamaConfig, kind: str) -> dict[str, Any]:
    """The windows of a family."""
    window = config.sliding_window or None
    if kind in ("llama", "mistral"):
        return {"sliding_window": window}
    types = [SLIDING if one else FULL for one in config.windows()]
    first = types.index(SLIDING) if window else config.layers
    return {"sliding_window": window, "use_sliding_window": window is not None, "max_window_layers": first, "layer_types": types}
