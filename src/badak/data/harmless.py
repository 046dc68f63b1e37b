"""What a tokenizer.json may ask for, before the library reads it: patterns that search for ever, texts that grow without end.

What cannot be seen in the file is tried out in another process with limits (`trial.py`), without the vocabulary: a moment.
"""

import hashlib
import json
from collections.abc import Iterator
from typing import Any

from badak.core.errors import FileError, tr
from badak.data import trial
from badak.io.errors import shown
from badak.io.limited import limited

BEFORE_AND_BEHIND = ("normalizer", "pre_tokenizer", "decoder")
TRIED = {"Regex", "Replace", "Precompiled"}  # what may take time, or room, that its size does not show
LETTERS = 1000  # of a text that is put in
STEPS = 1000  # parts of one tokenizer
WORD = 1000  # letters of a word that is cut into pieces: the time goes with their square
FIX = tr("copy or download it again, or transformers reads it at your own risk: badak run SCRIPT")
_tried: set[bytes] = set()


def expect_harmless(saved: dict[str, Any], where: Any) -> None:
    """Raise FileError, with the file's name `where`, for a tokenizer that takes far more time or memory than its texts."""
    parts = {name: saved.get(name) for name in BEFORE_AND_BEHIND}
    found = [one for part in parts.values() for one in _tables(part)]
    if len(found) > STEPS:
        raise FileError(tr("{}: it changes a text in {:,} steps", where, len(found)), FIX)
    growth = 1.0
    for one in found:
        put = [one[name] for name in ("content", "prepend", "replacement") if isinstance(one.get(name), str)]
        if any(len(text) > LETTERS for text in put):
            raise FileError(tr("{}: it puts {:,} letters into a text at once", where, max(map(len, put))), FIX)
        if "pattern" in one and isinstance(one.get("content"), str):
            growth *= max(1.0, len(one["content"]) / max(len(_literal(one)), 1))
    if growth > trial.GROWTH:
        raise FileError(tr("{}: its replacements make a text {:.3g} times as long", where, growth), FIX)
    model = saved.get("model")
    most = model.get("max_input_chars_per_word") if isinstance(model, dict) else None
    if isinstance(most, (int, float)) and most > WORD:
        raise FileError(tr("{}: max_input_chars_per_word is {}, beyond {:,} words take for ever", where, shown(most), WORD), FIX)
    patterns = [text for one in found for text in _patterns(one)]
    if patterns or any(one.get("type") in TRIED for one in found):
        _try(parts, patterns, where)


def _try(parts: dict[str, Any], patterns: list[str], where: Any) -> None:
    """Let another process cut texts with these parts; once for the same ones."""
    empty = {"type": "BPE", "vocab": {}, "merges": []}
    question = {"saved": {"version": "1.0", "added_tokens": [], **parts, "model": empty}, "patterns": patterns}
    known = hashlib.sha256(json.dumps(question, sort_keys=True).encode()).digest()
    if known not in _tried:
        limited(trial.__file__, question, where, tr("what its patterns do to a text"), FIX)
        _tried.add(known)


def _tables(value: Any) -> Iterator[dict[str, Any]]:
    """Every table within a value."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            yield one
        waiting += one.values() if isinstance(one, dict) else one if isinstance(one, list) else ()


def _patterns(part: dict[str, Any]) -> list[str]:
    """What a part looks for."""
    pattern = part.get("pattern")
    return [text for text in (pattern.values() if isinstance(pattern, dict) else [pattern]) if isinstance(text, str)]


def _literal(part: dict[str, Any]) -> str:
    """The text that a part replaces; "" where it looks for a pattern."""
    pattern = part.get("pattern")
    text = pattern.get("String") if isinstance(pattern, dict) else None
    return text if isinstance(text, str) else ""
