"""GGUF files that other people make, read as `badak generate` reads them."""

import struct
import tempfile
from pathlib import Path
from random import Random
from typing import Any

from badak import kernels, manual_seed, models, quantize
from badak.data.gguf_tokens import tokenizer_facts
from badak.data.tokenizer import Tokenizer
from badak.generation import GenerationConfig
from badak.generation.folder import open_gguf
from badak.generation.text import generate_text
from badak.io.gguf import write_gguf
from badak.models.gguf import model_as_gguf
from tests.io.mutations.changes import NUMBERS, damaged
from tests.io.mutations.folders import TEXTS


def files() -> list[bytes]:
    """A Llama in Q4_0, a Qwen of float32 and a GPT-2 in Q8_0, each with a tokenizer."""
    manual_seed(0)
    made = Tokenizer.train_bpe(TEXTS, 300)
    sizes: dict[str, Any] = {"vocab_size": 300, "d_model": 32, "heads": 2, "layers": 1, "context": 32}
    llama: dict[str, Any] = {**sizes, "num_key_value_heads": 1, "feedforward": 32}
    several = [
        quantize(models.Llama(models.LlamaConfig(**llama)), "q4"),
        models.Llama(models.LlamaConfig(**llama, qk_norm=True, tied=False)),
        quantize(models.GPT(models.GPTConfig(**sizes)), "q8"),
    ]
    found = []
    with tempfile.TemporaryDirectory() as folder, kernels.use("reference"):
        for model in several:
            facts, tensors = model_as_gguf(model)
            write_gguf(Path(folder) / "m", tokenizer_facts(made, 300) | facts, tensors)  # the model's own facts are the last
            found.append((Path(folder) / "m").read_bytes())
    return found


def changed(data: bytes, chance: Random) -> bytes:
    """Damaged anywhere, or numbers and letters changed where the file says what it holds."""
    if chance.random() < 0.2:
        return damaged(data, chance)
    head, text = data.index(b"general.architecture") - 8, bytearray(data)
    end = data.rindex(b"output_norm.weight") + 60
    for _ in range(chance.choice((1, 1, 2, 5))):
        # What a tokenizer says takes most of the room: half of the changes are outside of it
        start = chance.choice((4, head)) if chance.random() < 0.5 else data.rindex(b"general.architecture") - 8
        at = chance.randrange(min(start, end - 8), end - 8)
        width = chance.choice((1, 4, 8))
        number = chance.choice(NUMBERS) if chance.random() < 0.7 else chance.getrandbits(8 * width)
        text[at : at + width] = struct.pack("<Q", number % 2**64)[:width]
    return bytes(text)


def read(path: Path) -> Any:
    """The model, and a few tokens of it."""
    with kernels.use("reference"):
        writer = open_gguf(path)
        said = list(generate_text(writer.model, writer.vocabulary, "to be", GenerationConfig(max_new_tokens=2), writer.ends))
        return said, writer.model


GGUF = {"gguf": (files, changed, read)}
