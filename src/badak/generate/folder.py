"""A folder of Hugging Face as something that writes: its model, its tokenizer, where a text ends, how a conversation is put.

    writer = open_folder("SmolLM2-135M-Instruct")
    "".join(write_on(writer.model, writer.vocabulary, "Once", SampleConfig(), writer.ends))
"""

import datetime
import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from badak.data.files import read_text
from badak.data.tokenizer import Tokenizer
from badak.errors import ArgumentError, BadakError, FileError, MissingError
from badak.io.atomic import as_path
from badak.io.config import read_json
from badak.io.errors import line
from badak.models.pretrained import CONFIG, found, from_pretrained, is_hub_name
from badak.nn import Module

TEMPLATE, ABOUT_TOKENS = "chat_template.jinja", "tokenizer_config.json"
Turn = dict[str, str]  # {"role": "user", "content": "Hello"}


@dataclass(frozen=True)
class Writer:
    """What writes text: a model, its vocabulary, the tokens that end a text, and how turns become one text (None: as lines)."""

    model: Module
    vocabulary: Any
    ends: tuple[int, ...] = ()
    template: Callable[[Sequence[Turn]], str] | None = None
    alone: bool = False  # each text stands alone: the model never saw one line after another


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


def open_folder(folder: str | os.PathLike, dtype: Any = None) -> Writer:
    """The model and the tokenizer of a folder. Raises FileError, and ArgumentError for a model that writes no text."""
    place = found(folder)
    model = from_pretrained(place, dtype)
    if not getattr(model, "takes_cache", False):
        raise ArgumentError(f"{folder}: a {type(model).__name__} writes no text", "a folder of GPT-2, Llama, Qwen or Mistral")
    tokenizer = Tokenizer.load(place)
    if len(tokenizer) > model.config.vocab_size:
        raise ArgumentError(
            f"{folder}: a tokenizer of {len(tokenizer)} tokens, a model of {model.config.vocab_size}",
            "the tokenizer that the model was trained with",
        )
    return Writer(model, tokenizer, _ends(place, tokenizer), read_template(place))


def _ends(place: Path, tokenizer: Tokenizer) -> tuple[int, ...]:
    """The tokens that end a text: as generation_config.json says, else config.json, else the tokenizer's own."""
    for name in ("generation_config.json", CONFIG):
        said = _table(place / name).get("eos_token_id")
        ends = said if isinstance(said, list) else [said]
        if all(type(one) is int and 0 <= one < len(tokenizer) for one in ends):
            return tuple(ends)
    return () if tokenizer.eos is None else (tokenizer.eos,)


def _table(path: Path) -> dict[str, Any]:
    said = read_json(path) if path.is_file() else {}
    if not isinstance(said, dict):
        raise FileError(f"{path}: expected a table; got {type(said).__name__}", "restore the file from a copy")
    return said


def read_labels(place: Path) -> tuple[str, ...]:
    """What the classes of a text classifier are called, by number; () for one that tells a number."""
    said = _table(place / CONFIG).get("id2label")
    names = said if isinstance(said, dict) else {"0": "LABEL_0", "1": "LABEL_1"}  # transformers' own, where none are given
    known = [names.get(str(at)) for at in range(len(names))]
    if not all(isinstance(name, str) for name in known):
        raise FileError(f"{place / CONFIG}: id2label does not name the classes 0 to {len(names) - 1}", "restore the file")
    return tuple(map(str, known)) if len(known) > 1 else ()


def read_template(place: Path) -> Callable[[Sequence[Turn]], str] | None:
    """How the folder writes a conversation, None where it does not say."""
    said = _table(place / ABOUT_TOKENS)
    text, where = said.get("chat_template"), place / ABOUT_TOKENS
    if (place / TEMPLATE).is_file():
        text, where = read_text(place / TEMPLATE), place / TEMPLATE
    if isinstance(text, list):
        text = next((one.get("template") for one in text if isinstance(one, dict) and one.get("name") == "default"), None)
    if text is None:
        return None
    if not isinstance(text, str):
        raise FileError(f"{where}: chat_template is a {type(text).__name__}", "restore the file from a copy")
    marks = {name: one.get("content") if isinstance(one, dict) else one for name, one in said.items() if name.endswith("_token")}
    return Template(text, marks, where)


class Template:
    """Turns as one text, by a template in the language of Jinja: an extra, in a sandbox, for the file need not be trusted."""

    def __init__(self, text: str, marks: dict[str, Any], where: Any):
        try:
            from jinja2.sandbox import ImmutableSandboxedEnvironment
        except ImportError:
            raise MissingError(
                f"{where}: a chat template, and jinja2 is not installed", 'pip install "badak[chat]", or --plain: turns as lines'
            ) from None
        self.marks, self.where = marks, where
        room = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols"])
        room.filters["tojson"] = lambda value, indent=None: json.dumps(value, ensure_ascii=False, indent=indent)
        room.globals |= {"raise_exception": _refuse, "strftime_now": lambda form: datetime.datetime.now().strftime(form)}
        with _refused(self.where):
            self.made = room.from_string(text)

    def __call__(self, turns: Sequence[Turn]) -> str:
        """The text of the turns, and the beginning of an answer."""
        with _refused(self.where):
            return self.made.render(messages=[dict(turn) for turn in turns], add_generation_prompt=True, **self.marks)


@contextmanager
def _refused(where: Any) -> Iterator[None]:
    """Whatever Jinja and the template's own code raise, in two lines."""
    try:
        yield
    except Exception as error:
        raise FileError(
            f"{where}: the chat template fails ({line(str(error), 200)})", "mend it, or --plain: turns as lines"
        ) from None


def _refuse(said: str) -> None:
    raise ValueError(said)
