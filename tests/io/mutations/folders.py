"""Folders that other people make: models of Hugging Face with their tokenizers and chat templates, and folders of tokens. Each is
read as the commands read it: `badak generate`, `chat`, `predict`, `embed`, `train gpt --data`."""

import hashlib
import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

from badak import kernels, manual_seed, models
from badak.data.tokenizer import Tokenizer
from badak.data.tokens import TokenFile, TokenWindows, write_tokens
from badak.generation import GenerationConfig
from badak.generation.chat import Chat
from badak.generation.embed import TextEncoder
from badak.generation.folder import open_folder
from badak.generation.text import generate_text
from badak.io.sealed import seal, unseal
from badak.training.load import load_fill_mask
from tests.io.mutations.changes import as_json, damaged, edited

TEMPLATE = (
    "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"
)
TEXTS = ["to be or not to be, that is the question"] * 9
SIZES = [10**9, 10**9 + 1, 2**31, 10**30, -1, 0, 1.5, "8", None, [], {}, True, float("nan"), float("inf"), 10**400]
PATTERNS = ["(a+)+$", "(\\p{L}+)*!", "((", "", "\\s+(?!\\S)|\\s+", "a*a*a*a*a*b", "[", "(?<=a+)b", "\\p{Q}", "(?:x?){40}x{40}"]
BOMBS = ["{{ 2 ** (10 ** 10) }}", "{{ 'x'.center(3000000000) }}", "{{ [0] * 3000000000 }}", "{{ range(9**9)|list }}"]


def writers() -> list[bytes]:
    """A Llama and a GPT-2, each with a tokenizer, a template and what generation is told."""
    llama = models.LlamaConfig(vocab_size=300, d_model=8, heads=2, num_key_value_heads=1, layers=1, context=32, feedforward=12)
    gpt = models.GPTConfig(vocab_size=300, d_model=8, heads=2, layers=1, context=32)
    made = Tokenizer.train_bpe(TEXTS, 300, special=("<|endoftext|>", "<|im_start|>", "<|im_end|>"))
    said = made.to_dict()
    said["normalizer"] = {"type": "Replace", "pattern": {"String": "é"}, "content": "e"}
    split = {"type": "Split", "pattern": {"Regex": " ?\\p{L}+|\\s+(?!\\S)|\\s+"}, "behavior": "Isolated", "invert": False}
    said["pre_tokenizer"] = {"type": "Sequence", "pretokenizers": [split, said["pre_tokenizer"]]}
    return [_folder(models.Llama(llama), said), _folder(models.GPT(gpt), made.to_dict())]


def readers() -> list[bytes]:
    """A text classifier and a sentence encoder on BERT's pieces."""
    made = Tokenizer.train_wordpiece(TEXTS, 60)
    sizes: dict[str, Any] = {"vocab_size": 60, "d_model": 8, "heads": 1, "layers": 1, "context": 16, "type_vocab_size": 2}
    return [
        _folder(models.BERTClassifier(models.TextConfig(**sizes, classes=3)), made.to_dict()),
        _folder(models.SentenceEncoder(models.SentenceConfig(**sizes)), made.to_dict()),
    ]


def _folder(model: Any, tokenizer: dict[str, Any]) -> bytes:
    manual_seed(0)
    with tempfile.TemporaryDirectory() as name, kernels.use("reference"):
        place = Path(name)
        model.save_pretrained(place)
        (place / "tokenizer.json").write_text(json.dumps(tokenizer), encoding="utf-8")
        about = {"chat_template": TEMPLATE, "eos_token": {"content": "<|endoftext|>"}, "do_lower_case": True}
        (place / "tokenizer_config.json").write_text(json.dumps(about))
        (place / "generation_config.json").write_text(json.dumps({"eos_token_id": [0, 2], "bos_token_id": 0, "max_length": 20}))
        return packed({str(path.relative_to(place)): path.read_bytes() for path in place.rglob("*") if path.is_file()})


def tokens() -> list[bytes]:
    """A folder of tokens."""
    made = Tokenizer.train_bpe(TEXTS, 300)
    with tempfile.TemporaryDirectory() as name:
        write_tokens(name, [[text] for text in TEXTS], made)
        return [packed({path.name: path.read_bytes() for path in Path(name).iterdir()})]


def packed(files: dict[str, bytes]) -> bytes:
    """A folder as one file, as the mutations keep it."""
    return json.dumps({name: data.decode("latin-1") for name, data in files.items()}).encode()


def changed(data: bytes, chance: Random) -> bytes:
    """A model's folder in which one or two files are others."""
    files = {name: text.encode("latin-1") for name, text in json.loads(data).items()}
    for _ in range(chance.choice((1, 1, 1, 2))):
        name = chance.choice(sorted(files))
        if name.endswith(".safetensors") or chance.random() < 0.1:
            files[name] = damaged(files[name], chance)
            continue
        try:
            said = json.loads(files[name])
        except (ValueError, RecursionError):  # it was damaged before, or is nested too deeply now
            continue
        files[name] = as_json(_pointed(name, said, chance) if chance.random() < 0.5 else edited(said, chance), chance)
    return packed(files)


def _pointed(name: str, said: Any, chance: Random) -> Any:
    """A change that is meant: a huge size, a pattern that searches for ever, a template that asks for everything."""
    if name == "tokenizer.json":
        kind = chance.random()
        replace = {"type": "Replace", "pattern": {chance.choice(("String", "Regex")): chance.choice(PATTERNS)}, "content": "aa"}
        if kind < 0.3:
            said["normalizer"] = {"type": "Sequence", "normalizers": [replace] * chance.choice((1, 3, 40))}
        elif kind < 0.6:
            pattern = {"Regex": chance.choice(PATTERNS)}
            said["pre_tokenizer"] = {"type": "Split", "pattern": pattern, "behavior": "Isolated", "invert": False}
        elif kind < 0.7:
            said["decoder"] = {"type": "Sequence", "decoders": [replace] * 40}
        elif kind < 0.85:
            tokens = list(said["model"]["vocab"])
            del said["model"]["vocab"][chance.choice(tokens)]
        else:
            key = chance.choice(list(said["model"]))
            said["model"][key] = chance.choice(SIZES)
    elif name == "tokenizer_config.json":
        said["chat_template"] = chance.choice((*BOMBS, damaged(TEMPLATE.encode(), chance).decode("latin-1")))
    elif isinstance(said, dict) and said:
        said[chance.choice(list(said))] = chance.choice(SIZES)
    return said


def changed_tokens(data: bytes, chance: Random) -> bytes:
    """A folder of tokens in which a file is another one, now and then with the checksums that belong to it."""
    files = {name: text.encode("latin-1") for name, text in json.loads(data).items()}
    name, told = chance.choice(sorted(files)), chance.random() < 0.7
    about = {key: value for key, value in json.loads(files["about.json"]).items() if key != "sha256"}
    if name == "about.json":
        if not told:
            return packed({**files, name: damaged(files[name], chance)})
        about = edited(about, chance)
    else:
        files[name] = damaged(files[name], chance)
        if told:
            about["files"][name] = {"sha256": hashlib.sha256(files[name]).hexdigest(), "bytes": len(files[name])}
    try:
        files["about.json"] = seal(about)
    except (ValueError, AttributeError):  # NaN, or no table
        files["about.json"] = damaged(files["about.json"], chance)
    return packed(files)


def _reader(use: Callable[[Path], Any]) -> Callable[[Path], Any]:
    def read(path: Path) -> Any:
        folder = path.with_name("folder")
        folder.mkdir(exist_ok=True)
        for old in sorted(folder.rglob("*"), reverse=True):
            old.rmdir() if old.is_dir() else old.unlink()
        for name, text in json.loads(path.read_bytes()).items():
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_bytes(text.encode("latin-1"))
        with kernels.use("reference"):
            return use(folder)

    return read


def _write(folder: Path) -> Any:
    writer, config = open_folder(folder), GenerationConfig(max_new_tokens=3)
    said = list(generate_text(writer.model, writer.vocabulary, "to be", config, writer.ends))
    return said, list(Chat(writer, config).ask("or not")), writer.model


def _judge(folder: Path) -> Any:
    if (folder / "modules.json").is_file():
        return TextEncoder.load(folder).encode(["to be", "or not to be, that"])
    return [(one.label, one.value) for one in load_fill_mask(str(folder)).judge(["to be or not"], True)]


def _tokens(folder: Path) -> Any:
    found = TokenFile(folder)
    list(TokenWindows(found.ids, 4).gather([0, len(found.ids) - 5]))
    return [found.tokenizer.decode(one) for one in found], unseal(folder / "about.json", "")


FOLDERS = {
    "writer": (writers, changed, _reader(_write)),
    "reader": (readers, changed, _reader(_judge)),
    "tokens": (tokens, changed_tokens, _reader(_tokens)),
}
