"""A folder of Hugging Face as something that writes: its model, its tokenizer, where a text ends, how a conversation is put.

writer = open_folder("SmolLM2-135M-Instruct")
"".join(generate_text(writer.model, writer.vocabulary, "Once", GenerationConfig(), writer.ends))
"""

import importlib.util
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from badak.core.errors import ArgumentError, BadakError, FileError, NotSupportedError, tr
from badak.data.files import read_text
from badak.data.gguf_tokens import marks_of, tokenizer_of
from badak.data.tokenizer import Tokenizer
from badak.generation import renderer
from badak.generation.logit_filters import GenerationConfig
from badak.generation.settings import sample_config, suppressed
from badak.io.atomic import as_path
from badak.io.config import read_json
from badak.io.gguf import read_gguf
from badak.io.limited import limited
from badak.models.folder import CONFIG
from badak.models.gguf import read_model
from badak.models.hints import GENERATION, OWN, TEMPLATE, Hints, read_table
from badak.models.pretrained import found, from_pretrained, is_hub_name
from badak.nn import Module

ABOUT_TOKENS = "tokenizer_config.json"
Turn = dict[str, str]  # {"role": "user", "content": "Hello"}


@dataclass(frozen=True)
class TextGenerator:
    """What writes text: a model, its vocabulary, the tokens that end a text, and how turns become one text (None: as lines)."""

    model: Module
    vocabulary: Any
    ends: tuple[int, ...] = ()
    template: Callable[[Sequence[Turn]], str] | None = None
    alone: bool = False  # each text stands alone: the model never saw one line after another
    config: GenerationConfig = GenerationConfig()  # how it writes unless told otherwise


def place_of(name: str | os.PathLike) -> Path:
    """The folder of this name; where there is none and the name could be one of the Hub's, where its files lie once fetched."""
    return found(name) if is_hub_name(name) else as_path(name)


def is_published(folder: str | os.PathLike) -> bool:
    """Whether the folder holds a model as Hugging Face's library writes it."""
    path = as_path(folder) / CONFIG
    if not path.is_file():
        return False
    try:
        said = read_json(path)
    except BadakError:
        return False
    return isinstance(said, dict) and "model_type" in said and "experiment" not in said


def open_folder(folder: str | os.PathLike, dtype: Any = None) -> TextGenerator:
    """The model and the tokenizer of a folder. Raises FileError, and ArgumentError for a model that writes no text."""
    place = found(folder)
    model = from_pretrained(place, dtype)
    if not getattr(model, "takes_cache", False):
        cause = tr("{}: a {} writes no text", folder, type(model).__name__)
        raise ArgumentError(cause, "a folder of GPT-2, Llama, Qwen or Mistral")
    tokenizer = Tokenizer.load(place)
    if len(tokenizer) > model.config.vocab_size:
        cause = tr("{}: a tokenizer of {} tokens, a model of {}", folder, len(tokenizer), model.config.vocab_size)
        raise ArgumentError(cause, "the tokenizer that the model was trained with")
    hints = model.hints
    writing, own = hints.generation or {}, own_words(hints.settings)
    size = model.config.vocab_size  # a table that was rounded up has rows without a text
    tokenizer.special = (*tokenizer.special, *suppressed(writing, size), *range(len(tokenizer), size))
    mark_prompts(tokenizer, read_table(place / ABOUT_TOKENS))
    config = sample_config(writing, place / GENERATION)
    return TextGenerator(model, tokenizer, _ends(hints, tokenizer), read_template(place), own.get("lines") is True, config)


def open_gguf(path: str | os.PathLike) -> TextGenerator:
    """The model and the tokenizer of a GGUF file, weights as they lie there. Raises FileError."""
    file = read_gguf(path)
    model = read_model(file, path)
    tokenizer = tokenizer_of(file.facts, path)
    size = model.config.vocab_size
    if len(tokenizer) > size:
        raise FileError(tr("{}: {:,} tokens, and the model has {:,}", path, len(tokenizer), size), "copy or download it again")
    tokenizer.special = (*tokenizer.special, *range(len(tokenizer), size))
    about, ends = marks_of(file.facts, tokenizer)
    mark_prompts(tokenizer, about)
    text = file.facts.get("tokenizer.chat_template")
    marks = {name: one for name, one in about.items() if isinstance(one, str)}
    template = Template(text, marks, path) if isinstance(text, str) and importlib.util.find_spec("jinja2") else None
    return TextGenerator(model, tokenizer, ends, template)


def _ends(hints: Hints, tokenizer: Tokenizer) -> tuple[int, ...]:
    """The tokens that end a text: as generation_config.json says, else config.json, else the tokenizer's own."""
    writing = hints.generation or {}
    if writing.get("eos_token_id", 0) is None:
        return ()
    for table in (writing, hints.settings):
        said = table.get("eos_token_id")
        ends = said if isinstance(said, list) else [said]
        if all(type(one) is int and 0 <= one < len(tokenizer) for one in ends):
            return tuple(ends)
    return () if tokenizer.eos is None else (tokenizer.eos,)


def own_words(settings: Mapping[str, Any]) -> dict[str, Any]:
    """What badak writes into config.json that transformers has no word for."""
    said = settings.get(OWN)
    return said if isinstance(said, dict) else {}


def mark_prompts(tokenizer: Tokenizer, about: Mapping[str, Any]) -> None:
    """Let prompts have the marks that transformers gives them: the tokenizer's own, or what tokenizer_config.json asks for."""
    tokenizer.prompt_marks = True
    if not {"add_bos_token", "add_eos_token"} & set(about):
        return
    marks = [about.get(f"{name}_token") if about.get(f"add_{name}_token") else None for name in ("bos", "eos")]
    named = [one.get("content") if isinstance(one, dict) else one for one in marks]
    before, behind = (one if isinstance(one, str) and one in tokenizer.ids else None for one in named)
    tokenizer.surround(before, behind)


def read_labels(place: Path) -> tuple[str, ...]:
    """What the classes of a text classifier are called, by number; () for one that tells a number."""
    said = read_table(place / CONFIG).get("id2label")
    names = said if isinstance(said, dict) else {"0": "LABEL_0", "1": "LABEL_1"}  # transformers' own, where none are given
    known = [names.get(str(at)) for at in range(len(names))]
    if not all(isinstance(name, str) for name in known):
        raise FileError(tr("{}: id2label does not name the classes 0 to {}", place / CONFIG, len(names) - 1), "restore the file")
    return tuple(map(str, known)) if len(known) > 1 else ()


def read_template(place: Path) -> Callable[[Sequence[Turn]], str] | None:
    """How the folder writes a conversation, None where it does not say."""
    said = read_table(place / ABOUT_TOKENS)
    text, where = said.get("chat_template"), place / ABOUT_TOKENS
    if (place / TEMPLATE).is_file():
        text, where = read_text(place / TEMPLATE), place / TEMPLATE
    if isinstance(text, list):
        text = next((one.get("template") for one in text if isinstance(one, dict) and one.get("name") == "default"), None)
    if text is None:
        return None
    if not isinstance(text, str):
        raise FileError(tr("{}: chat_template is a {}", where, type(text).__name__), "restore the file from a copy")
    marks = {name: one.get("content") if isinstance(one, dict) else one for name, one in said.items() if name.endswith("_token")}
    return Template(text, marks, where)


class Template:
    """Turns as one text, by a template in the language of Jinja: an extra, in a sandbox and with limits."""

    def __init__(self, text: str, marks: dict[str, Any], where: Any) -> None:
        if importlib.util.find_spec("jinja2") is None:
            cause = tr("{}: a chat template, and jinja2 is not installed", where)
            raise NotSupportedError(cause, 'pip install "badak[chat]", or --plain: turns as lines')
        self.text, self.marks, self.where = text, marks, where
        self._render(None)

    def __call__(self, turns: Sequence[Turn]) -> str:
        """The text of the turns, and the beginning of an answer."""
        return self._render([dict(turn) for turn in turns])

    def _render(self, turns: list[Turn] | None) -> str:
        question = {"template": self.text, "marks": self.marks, "turns": turns}
        return limited(renderer.__file__, question, self.where, tr("the chat template"), tr("fix it, or --plain: turns as lines"))
