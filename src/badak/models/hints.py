"""What a folder says of a model besides its sizes and weights: the ids of its marks, how it writes unless told otherwise, what its
classes are called, and the files of its tokenizer. A model keeps it (`model.hints`), so that what is read is written again.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from badak.core.errors import FileError, tr
from badak.io.atomic import read_small
from badak.io.config import read_json

GENERATION, TEMPLATE = "generation_config.json", "chat_template.jinja"
FILES = (  # of tokenizers, as Hugging Face's libraries call them
    "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json", "vocab.json", "merges.txt",
    "vocab.txt", "encoder.json", "vocab.bpe", "tokenizer.model", "spiece.model", "sentencepiece.bpe.model", "source.spm",
    "target.spm", "target_vocab.json", TEMPLATE, "chat_template.json",
)  # fmt: skip
OWN = "badak"  # a table in config.json: what transformers has no word for
LARGEST = 1 << 28  # bytes of one of them

MARKS = ("bos_token_id", "eos_token_id", "pad_token_id")  # always said: where nothing stands transformers takes ids of its own
IDS = (*MARKS, "decoder_start_token_id", "unk_token_id", "mask_token_id", "cls_token_id", "sep_token_id", "forced_bos_token_id",
       "forced_eos_token_id")  # fmt: skip
SEARCH = (  # settings of writing, which older folders have in config.json
    "max_length", "min_length", "do_sample", "early_stopping", "num_beams", "temperature", "top_k", "top_p", "min_p", "typical_p",
    "repetition_penalty", "length_penalty", "no_repeat_ngram_size", "encoder_no_repeat_ngram_size", "bad_words_ids",
    "num_return_sequences", "suppress_tokens", "begin_suppress_tokens", "forced_bos_token_id", "forced_eos_token_id",
)  # fmt: skip
USUAL = {  # the ids that transformers takes where a config.json names none, by model_type
    "gpt2": {"bos_token_id": 50256, "eos_token_id": 50256},
    **dict.fromkeys(("llama", "mistral"), {"bos_token_id": 1, "eos_token_id": 2}),
    "bert": {"pad_token_id": 0},
}
STALE = (  # of config.json: of the file and not of the model, code to run, or said in other words by what we write
    "architectures", "model_type", "dtype", "torch_dtype", "quantization_config", "auto_map", "transformers_version",
    "_name_or_path", "rope_theta", "rope_scaling", "num_labels", "n_ctx",
)  # fmt: skip


@dataclass(frozen=True)
class Hints:
    """settings: what config.json has next to the sizes; generation: generation_config.json, None where there was none;
    files: of the tokenizer, by name; card: README.md; kind: the model_type that was read."""

    settings: Mapping[str, Any] = field(default_factory=dict)
    generation: Mapping[str, Any] | None = None
    files: Mapping[str, bytes] = field(default_factory=dict)
    card: str = ""
    kind: str = ""

    def config(self, sizes: Mapping[str, Any]) -> dict[str, Any]:
        """config.json for a model of these sizes; ids that it has no token for are none."""
        said = USUAL.get(self.kind, {}) | {name: value for name, value in self.settings.items() if name not in STALE} | dict(sizes)
        labels = self.settings.get("id2label")
        if isinstance(labels, dict) and labels.keys() == sizes.get("id2label", {}).keys():
            numbers = {name: int(number) for number, name in labels.items()}
            said |= {"id2label": labels, "label2id": self.settings.get("label2id", numbers)}
        said |= {name: known_ids(said.get(name), said["vocab_size"]) for name in IDS if name in said or name in MARKS}
        return said

    def writing(self, said: Mapping[str, Any]) -> dict[str, Any]:
        """generation_config.json next to the config.json `said`."""
        made = self.generation
        if made is None:
            marks = [name for name in (*MARKS, "decoder_start_token_id") if name in self.settings or not self.kind]
            made = {name: said[name] for name in (*SEARCH, *marks) if said.get(name) is not None}
        size = said["vocab_size"]
        return {name: known_ids(value, size) if name in IDS else value for name, value in made.items()}


def known_ids(ids: Any, size: int) -> Any:
    """Those ids, one or several, that a vocabulary of `size` has; None where there is none."""
    if isinstance(ids, list):
        return [one for one in ids if type(one) is int and 0 <= one < size] or None
    return ids if type(ids) is int and 0 <= ids < size else None


def read_hints(place: Path, settings: Mapping[str, Any]) -> Hints:
    """What the folder `place` with this config.json says."""
    kind = str(settings.get("model_type"))
    table = read_table(place / GENERATION) if (place / GENERATION).is_file() else None
    files = {name: read_small(place / name, LARGEST) for name in FILES if (place / name).is_file()}
    return Hints(dict(settings), table, files, kind=kind)


def read_table(path: Path) -> dict[str, Any]:
    """The table that a JSON file is; {} where there is no file."""
    said = read_json(path) if path.is_file() else {}
    if not isinstance(said, dict):
        raise FileError(tr("{}: expected a table; got {}", path, type(said).__name__), "restore the file from a copy")
    return said
