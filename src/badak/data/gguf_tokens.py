"""The tokenizer of a GGUF file: byte-level BPE (GPT-2, Qwen, Llama 3) and SentencePiece's BPE (Llama 2, Mistral), there and back.

    tokenizer = tokenizer_of(file.facts, "model.gguf")
    facts = tokenizer_facts(tokenizer)              {"tokenizer.ggml.model": "gpt2", "tokenizer.ggml.tokens": [...], ...}

How a text is cut before pieces are joined is a name in the file, `tokenizer.ggml.pre`; the patterns are those of the models.
"""

from collections.abc import Mapping
from typing import Any

from badak.core.errors import ArgumentError, FileError, tr
from badak.data.tokenizer import Tokenizer
from badak.io.errors import line, shown

GGML = "tokenizer.ggml."
_SHORT = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}%s| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
PATTERNS = {"gpt-2": "", "qwen2": _SHORT % "", "llama-bpe": _SHORT % "{1,3}"}  # "": the one that ByteLevel has itself
NORMAL, UNKNOWN, CONTROL, GIVEN, _, BYTE = range(1, 7)  # kinds of tokens
SPACE = "▁"  # as which SentencePiece writes a space
AGAIN = tr("copy or download it again")
MARKS = {"bos": "bos_token_id", "eos": "eos_token_id", "unk": "unknown_token_id", "pad": "padding_token_id"}


def tokenizer_of(facts: Mapping[str, Any], where: Any) -> Tokenizer:
    """The tokenizer that the facts describe. FileError where they do not, or describe one of another kind."""
    kind, tokens = facts.get(f"{GGML}model"), _list_of_texts(facts, "tokens", where)
    kinds = facts.get(f"{GGML}token_type")
    kinds = [NORMAL] * len(tokens) if kinds is None else [int(one) for one in kinds]
    if len(kinds) != len(tokens) or not tokens:
        raise FileError(tr("{}: {:,} tokens and {:,} kinds of tokens", where, len(tokens), len(kinds)), AGAIN)
    ids = {token: number for number, token in enumerate(tokens)}
    if len(ids) < len(tokens):
        twice = next(token for number, token in enumerate(tokens) if ids[token] != number)
        raise FileError(tr("{}: the token {} is there twice", where, shown(twice)), AGAIN)
    if kind == "gpt2":
        parts = _byte_level(facts, ids, where)
    elif kind == "llama":
        parts = _sentencepiece(facts, ids, kinds, where)
    else:
        raise FileError(tr("{}: its tokenizer is {}; badak reads gpt2 and llama", where, shown(kind)), "llama.cpp reads this file")
    added = [
        {"id": number, "content": tokens[number], "special": kind != GIVEN, "normalized": False,
         **dict.fromkeys(("single_word", "lstrip", "rstrip"), False)}
        for number, kind in enumerate(kinds) if kind in (CONTROL, GIVEN) or kind == UNKNOWN and parts["model"]["byte_fallback"]
    ]  # fmt: skip
    saved = {"version": "1.0", "truncation": None, "padding": None, "post_processor": None, "added_tokens": added, **parts}
    return Tokenizer.from_dict(saved, where)


def _list_of_texts(facts: Mapping[str, Any], name: str, where: Any) -> list[str]:
    found = facts.get(GGML + name)
    if not isinstance(found, list) or not all(isinstance(one, str) for one in found):
        raise FileError(tr("{}: there is no {}{}, a list of texts", where, GGML, name), "a file with its tokenizer")
    return found


def _model(ids: dict[str, int], merges: list[tuple[str, str]], **more: Any) -> dict[str, Any]:
    none = dict.fromkeys(("dropout", "unk_token", "continuing_subword_prefix", "end_of_word_suffix"))
    flags = {"fuse_unk": False, "byte_fallback": False, "ignore_merges": False}
    return {"type": "BPE", **none, **flags, "vocab": ids, "merges": [list(pair) for pair in merges], **more}


def _byte_level(facts: Mapping[str, Any], ids: dict[str, int], where: Any) -> dict[str, Any]:
    name = facts.get(f"{GGML}pre", "gpt-2")
    if name not in PATTERNS:
        cause = tr("{}: it cuts texts as {}; badak knows {}", where, shown(name), ", ".join(PATTERNS))
        raise FileError(cause, "llama.cpp reads this file")
    merges = [tuple(pair.split(" ")) for pair in _list_of_texts(facts, "merges", where)]
    wrong = next((pair for pair in merges if len(pair) != 2 or not {*pair, "".join(pair)} <= ids.keys()), None)
    if wrong is not None:
        raise FileError(tr("{}: {}merges joins {}, and not all of that are tokens", where, GGML, shown(" ".join(wrong))), AGAIN)
    level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": False, "use_regex": not PATTERNS[name]}
    split = {"type": "Split", "pattern": {"Regex": PATTERNS[name]}, "behavior": "Isolated", "invert": False}
    return {
        "normalizer": {"type": "NFC"} if name == "qwen2" else None,
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [split, level]} if PATTERNS[name] else level,
        "decoder": level,
        "model": _model(ids, merges, ignore_merges=name == "llama-bpe"),  # type: ignore[arg-type]
    }


def _sentencepiece(facts: Mapping[str, Any], ids: dict[str, int], kinds: list[int], where: Any) -> dict[str, Any]:
    """Of pieces that can be joined to a token, those are joined first whose token has the highest score."""
    scores = facts.get(f"{GGML}scores")
    if scores is None or isinstance(scores, str) or len(scores) != len(ids):
        raise FileError(tr("{}: there is no {}scores, a number for each token", where, GGML), AGAIN)
    pairs = [
        (-float(scores[number]), cut, token)
        for token, number in ids.items() if kinds[number] == NORMAL and len(token) <= 64
        for cut in range(1, len(token)) if token[:cut] in ids and token[cut:] in ids
    ]  # fmt: skip
    merges = [(token[:cut], token[cut:]) for _, cut, token in sorted(pairs, key=lambda pair: pair[:2])]
    unknown = next((token for token, number in ids.items() if kinds[number] == UNKNOWN), None)
    replace = {"type": "Replace", "pattern": {"String": " "}, "content": SPACE}
    prepend = [{"type": "Prepend", "prepend": SPACE}] if facts.get(f"{GGML}add_space_prefix", True) is True else []
    back = {"type": "Replace", "pattern": {"String": SPACE}, "content": " "}
    strip = [{"type": "Strip", "content": " ", "start": 1, "stop": 0}] if prepend else []
    return {
        "normalizer": {"type": "Sequence", "normalizers": [*prepend, replace]},
        "pre_tokenizer": None,
        "decoder": {"type": "Sequence", "decoders": [back, {"type": "ByteFallback"}, {"type": "Fuse"}, *strip]},
        "model": _model(ids, merges, unk_token=unknown, fuse_unk=True, byte_fallback=BYTE in kinds),
    }


def marks_of(facts: Mapping[str, Any], tokenizer: Tokenizer) -> tuple[dict[str, Any], tuple[int, ...]]:
    """(what tokenizer_config.json would say of marks around a prompt, the tokens that end a text)."""

    def token(key: str) -> int | None:
        number = facts.get(GGML + key)
        return number if type(number) is int and 0 <= number < len(tokenizer) else None

    known = {name: token(key) for name, key in MARKS.items()}
    about: dict[str, Any] = {f"{name}_token": tokenizer.tokens[one] for name, one in known.items() if one is not None}
    usual = facts.get(f"{GGML}model") == "llama" or facts.get(f"{GGML}pre") == "llama-bpe"
    about["add_bos_token"] = facts.get(f"{GGML}add_bos_token", usual) is True
    about["add_eos_token"] = facts.get(f"{GGML}add_eos_token", False) is True
    ends = [token(f"{name}_token_id") for name in ("eos", "eot", "eom")]
    return about, tuple(dict.fromkeys(one for one in ends if one is not None))


def tokenizer_facts(tokenizer: Any, size: int, template: str | None = None) -> dict[str, Any]:
    """What a GGUF file says of a tokenizer; `size`: the tokens of the model. ArgumentError for one that GGUF has no words for."""
    saved = tokenizer.to_dict() if isinstance(tokenizer, Tokenizer) else {}
    model, pre = saved.get("model", {}), _pattern_of(saved)
    if model.get("type") != "BPE" or pre is None or saved.get("normalizer") not in (None, {"type": "NFC"}):
        cause = tr("GGUF: no words for this tokenizer ({}); files hold byte-level BPE cut as {}", line(repr(tokenizer)),
                   ", ".join(PATTERNS))  # fmt: skip
        raise ArgumentError(cause, "a model with such a tokenizer: badak train gpt --tokenizer")
    given = {token["id"]: CONTROL if token["special"] else GIVEN for token in saved["added_tokens"]}
    padded = [f"[PAD{number}]" for number in range(len(tokenizer), size)]
    tokens = [*tokenizer.tokens, *padded]
    kinds = [given.get(number, NORMAL) for number in range(len(tokenizer))] + [5] * len(padded)
    merges = [pair if isinstance(pair, str) else " ".join(pair) for pair in model["merges"]]
    facts: dict[str, Any] = {"model": "gpt2", "pre": pre, "tokens": tokens, "token_type": kinds, "merges": merges}
    ids = {"bos": tokenizer.sos, "eos": tokenizer.eos, "unk": tokenizer.unk, "pad": tokenizer.pad}
    facts |= {MARKS[name]: number for name, number in ids.items() if number is not None}
    facts["add_bos_token"] = False
    made = {GGML + name: value for name, value in facts.items()}
    return made if template is None else {**made, "tokenizer.chat_template": template}


def _pattern_of(saved: dict[str, Any]) -> str | None:
    """The name of how a tokenizer.json cuts texts; None where it is another way."""
    pre = saved.get("pre_tokenizer") or {}
    parts = pre.get("pretokenizers", [pre])
    level = parts[-1]
    if level.get("type") != "ByteLevel" or level.get("add_prefix_space") or len(parts) > 2:
        return None
    found = parts[0].get("pattern", {}).get("Regex") if len(parts) == 2 else ""
    if len(parts) == 1 and not level.get("use_regex", True):
        return None
    return next((name for name, pattern in PATTERNS.items() if pattern == found), None)
