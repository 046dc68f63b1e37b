"""The public names of badak, place by place: what the API reference of the site lists, and what tests go through."""

import importlib
import inspect
from types import ModuleType

import badak

NAMESPACES = ["", "nn", "nn.functional", "nn.init", "nn.utils", "optim", "optim.lr_scheduler", "autograd"]
NAMESPACES += ["distributions", "fft", "linalg", "special", "nested", "utils.data"]
OWN = {  # file or package of badak's own: its names, all of them where none is given
    "nn.lora": "",
    "models": "",
    "generation": "",
    "generation.text": "",
    "generation.explain": "Step explain loop_in",
    "generation.chat": "Chat",
    "generation.folder": "Template TextGenerator is_published open_folder place_of",
    "generation.embed": "TextEncoder cosines nearest passages",
    "generation.classify": "TextClassifier Prediction Word",
    "generation.translate": "TranslateConfig bleu chrf cross_attention translate translate_ids",
    "generation.attention_picture": "draw_translation",
    "generation.picture": "read_picture rank_classes",
    "data.padding": "BucketBatchSampler pad padding_mask",
    "data.csv": "Table table_files",
    "data.reviews": "",
    "data": "BucketBatchSampler WorkerInfo pad padding_mask",
    "data.text": "",
    "data.pieces": "",
    "data.tokenizer": "Tokenizer",
    "data.marian": "MarianTokens",
    "data.tokens": "TokenFile TokenWindows documents write_tokens",
    "data.bitext": "Corpus read_corpus read_lines split",
    "data.files": "read_pieces read_text text_files",
    "data.mnist": "",
    "training": "",
    "training.loop": "train evaluate update",
    "training.experiment": "Experiment",
    "training.dialogues": "ChatFormat dialogue_rows questions read_questions",
    "training.grpo": "GRPOLoss GroupSampler group_advantages grpo_loss mean_reward token_logprobs",
    "training.vocabulary": "noted",
    "training.run": "Run",
    "training.load": "Translator load_fill_mask load_translator load_generator",
    "training.build": "start resume build open_model open_vocabulary Trained",
    "io.safetensors": "load load_file read_metadata save save_file",
    "io.checkpoint": "Checkpoint exists load load_model read_step save",
    "io.config": "check from_dict option read_config to_dict write_config",
    "inspect.audit": "Audit Finding",
    "inspect.visualize": "Look",
    "inspect.doctor.report": "Checkup Finding",
    "kernels": "",
    "core.errors": "ArgumentError BadakError BadakWarning DeviceError DTypeError FileError GraphError ArgumentTypeError "
    "NotSupportedError IndexOutOfRangeError OutOfMemoryError ShapeError StateError",
}


def namespace(dotted: str) -> ModuleType:
    """badak.<dotted>."""
    found = badak
    for part in filter(None, dotted.split(".")):
        found = getattr(found, part)
    return found


def public_names(module: ModuleType) -> list[str]:
    """The names that a namespace offers: not private, not its submodules."""
    names = vars(module).get("__all__") or [name for name in vars(module) if not name.startswith("_")]
    things = [(n, getattr(module, n)) for n in names]
    shown = (n for n, thing in things if not inspect.ismodule(thing) and getattr(thing, "__module__", "") != "badak.core.errors")
    return sorted(shown, key=str.lower)


def own_names(module: ModuleType) -> list[str]:
    """What a file of badak defines itself, or a package takes from its files."""
    inside = module.__name__ if hasattr(module, "__path__") else None
    things = [(name, thing) for name, thing in vars(module).items() if not name.startswith("_") and callable(thing)]
    places = [(name, getattr(thing, "__module__", "") or "") for name, thing in things]
    return sorted((n for n, m in places if (m.startswith(inside) if inside else m == module.__name__)), key=str.lower)


def names(dotted: str) -> list[str]:
    """What the reference lists of badak.<dotted>, in its order."""
    if dotted in NAMESPACES:
        return public_names(namespace(dotted))
    return OWN[dotted].split() or own_names(importlib.import_module(f"badak.{dotted}"))
