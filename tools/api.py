"""Write docs/api.md, the list of public names with the first line of each docstring: `python tools/api.py [--check]`."""

import importlib
import inspect
import re
import sys
from pathlib import Path
from types import ModuleType

import badak

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "api.md"
NAMESPACES = ["", "nn", "nn.functional", "nn.init", "nn.utils", "optim", "optim.lr_scheduler", "autograd"]
NAMESPACES += ["distributions", "fft", "linalg", "special", "utils.data"]
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
    "generation.translate": "TranslateConfig bleu cross_attention translate translate_ids",
    "generation.attention_picture": "draw_translation",
    "generation.picture": "read_picture rank_classes",
    "data.padding": "BucketBatchSampler pad padding_mask",
    "data.csv": "Table table_files",
    "data.reviews": "",
    "data": "BucketBatchSampler WorkerInfo pad padding_mask",
    "data.text": "",
    "data.subwords": "",
    "data.tokenizer": "Tokenizer",
    "data.marian": "MarianTokens",
    "data.tokens": "TokenFile TokenWindows documents write_tokens",
    "data.bitext": "Corpus read_corpus read_lines split",
    "data.files": "read_pieces read_text text_files",
    "data.mnist": "",
    "training": "",
    "training.loop": "train evaluate update",
    "training.experiment": "Experiment",
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
    names = getattr(module, "__all__", None) or [name for name in vars(module) if not name.startswith("_")]
    return sorted((n for n in names if not inspect.ismodule(getattr(module, n))), key=str.lower)


def summary(thing: object) -> str:
    """The first line of a docstring, "" for a plain value."""
    if not callable(thing):
        return ""
    line = (inspect.getdoc(thing) or "").strip().split("\n")[0]
    return re.sub(r"([|\[\]<>*_\\])", r"\\\1", line)  # none of them is Markdown here


def own_names(module: ModuleType) -> list[str]:
    """What a file of badak defines itself, or a package takes from its files."""
    inside = module.__name__ if hasattr(module, "__path__") else None
    things = [(name, thing) for name, thing in vars(module).items() if not name.startswith("_") and callable(thing)]
    places = [(name, getattr(thing, "__module__", "") or "") for name, thing in things]
    return sorted((n for n, m in places if (m.startswith(inside) if inside else m == module.__name__)), key=str.lower)


def call(name: str, thing: object) -> str:
    """How a function or class is called: `generate(model, ids, config, eos=None)`."""
    if inspect.isclass(thing) and issubclass(thing, BaseException):
        return name
    try:
        parameters = inspect.signature(thing).parameters.values()  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return name
    bare = [p.replace(annotation=p.empty, default=p.default if plain(p.default) else Unsaid()) for p in parameters]
    return f"{name}{inspect.Signature(bare)}".replace("|", "\\|")


class Unsaid:
    """A default value that has no words of its own."""

    def __repr__(self) -> str:
        return "..."


def plain(default: object) -> bool:
    """Whether a default value is what its repr says."""
    return default is inspect.Parameter.empty or default is None or isinstance(default, bool | int | float | str | tuple)


def section(title: str, rows: list[str]) -> str:
    """One table under its heading."""
    return f"## {title} ({len(rows)})\n\n| name | |\n| --- | --- |\n" + "\n".join(rows) + "\n"


def page() -> str:
    """The whole page."""
    parts = ["# Public names\n\nWritten by `tools/api.py` from the docstrings; a test keeps it true.\n"]
    parts.append("The first part has PyTorch's names, the second, from `badak.models` on, badak's own, with how they are called.\n")
    for dotted in NAMESPACES:
        module = namespace(dotted)
        rows = [f"| `{name}` | {summary(getattr(module, name))} |".replace("|  |", "| |") for name in public_names(module)]
        parts.append(section(f"badak.{dotted}".rstrip("."), rows))
    for dotted, names in OWN.items():
        module = importlib.import_module(f"badak.{dotted}")
        things = [(name, getattr(module, name)) for name in names.split() or own_names(module)]
        parts.append(section(f"badak.{dotted}", [f"| `{call(n, t)}` | {summary(t)} |".replace("|  |", "| |") for n, t in things]))
    return "\n".join(parts)


if __name__ == "__main__":
    if "--check" in sys.argv:
        sys.exit(0 if PAGE.read_text(encoding="utf-8") == page() else "docs/api.md is out of date: python tools/api.py")
    PAGE.write_text(page(), encoding="utf-8")
