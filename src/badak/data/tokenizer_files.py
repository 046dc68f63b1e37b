"""A vocabulary as the files that Hugging Face's libraries read, whichever of badak's it is.

    tokenizer_files(vocabulary, ("sos", "eos"), 128)      {"tokenizer.json": ..., "tokenizer_config.json": ..., ...}
    token_ids(vocabulary)                                 {"bos_token_id": 1, "eos_token_id": 2, ...}

Characters, words and frequent pieces are written as models of the library tokenizers that cut a text in the same way: a word, or a
part that the vocabulary has, is one token. A character that the vocabulary lacks is refused there, too.
"""

import json
from typing import Any

from badak.data.pieces import PART, PieceVocabulary
from badak.data.text import MASK, SPECIALS, CharVocabulary, WordVocabulary
from badak.data.tokenizer import FILE, Tokenizer, library

AnyVocabulary = CharVocabulary | PieceVocabulary | WordVocabulary | Tokenizer

ABOUT, MAP = "tokenizer_config.json", "special_tokens_map.json"
ROLES = {"bos": "sos", "eos": "eos", "pad": "pad", "unk": "unk", "mask": "mask"}  # their word: ours
BERT_ROLES = {"cls": "sos", "sep": "eos", "pad": "pad", "unk": "unk", "mask": "mask"}
NOBODY = "<unk>"  # a token that a vocabulary does not have: whatever would be it is an error of the library
BLANKS = "".join(chr(code) for code in range(0x3001) if chr(code).isspace())  # what str.split takes for white space


def token_ids(vocabulary: AnyVocabulary) -> dict[str, int]:
    """The numbers of the marks, as config.json calls them."""
    return {f"{name}_token_id": number for name, (_, number) in _marks(vocabulary).items()}


def tokenizer_files(
    vocabulary: AnyVocabulary, around: tuple[str, str] = ("", ""), length: int | None = None, spaced: bool = False
) -> dict[str, bytes]:
    """The files of a tokenizer by name.

    around: the marks that stand before and behind each text, "sos", "eos" or ""; length: tokens that the model reads at once;
    spaced: a text is stripped and gets a space before it, which its translation loses again.
    """
    made = json.loads(_made(vocabulary).to_str())
    made |= {"padding": None, "truncation": None, "post_processor": _processor(vocabulary, around)}
    if spaced:
        _space(made)
    names = {f"{name}_token": token for name, (token, _) in _marks(vocabulary).items()}
    about = {
        **names,
        "tokenizer_class": "PreTrainedTokenizerFast",
        "clean_up_tokenization_spaces": False,
        "model_input_names": ["input_ids", *(["token_type_ids"] if all(around) else []), "attention_mask"],
        "padding_side": "right" if any(around) else "left",
        **({} if length is None else {"model_max_length": length}),
    }
    return {name: _bytes(table) for name, table in ((FILE, made), (ABOUT, about), (MAP, names))}


def _bytes(table: Any) -> bytes:
    return (json.dumps(table, indent=2, ensure_ascii=False) + "\n").encode()


def _marks(vocabulary: AnyVocabulary) -> dict[str, tuple[str, int]]:
    """The marks that stand for no text: {their word: (token, number)}; what ends a line is no such mark."""
    special = set(vocabulary.special)
    first = getattr(vocabulary, "sos", None)
    roles = BERT_ROLES if first is not None and vocabulary.tokens[first] == "[CLS]" else ROLES
    found = {theirs: getattr(vocabulary, ours, None) for theirs, ours in roles.items()}
    return {name: (vocabulary.tokens[number], number) for name, number in found.items() if number in special}


def _processor(vocabulary: AnyVocabulary, around: tuple[str, str]) -> dict[str, Any] | None:
    """What puts the marks around a text, and between two."""
    before, behind = (getattr(vocabulary, name, None) if name else None for name in around)
    if before is None and behind is None:
        return None

    def part(text: str, kind: int, *, first: bool = True) -> list[dict[str, Any]]:
        marks = [None if number is None else {"SpecialToken": {"id": vocabulary.tokens[number], "type_id": kind}}
                 for number in (before if first else None, behind)]  # fmt: skip
        return [one for one in (marks[0], {"Sequence": {"id": text, "type_id": kind}}, marks[1]) if one is not None]

    used = {vocabulary.tokens[number]: number for number in (before, behind) if number is not None}
    return {
        "type": "TemplateProcessing",
        "single": part("A", 0),
        "pair": part("A", 0) + part("B", 1, first=False),
        "special_tokens": {token: {"id": token, "ids": [number], "tokens": [token]} for token, number in used.items()},
    }


def _space(made: dict[str, Any]) -> None:
    """A text is stripped and begins with a space; what is decoded does not."""
    blank = {"Regex": f"^[{BLANKS}]+|[{BLANKS}]+$"}
    strip = {"type": "Replace", "pattern": blank, "content": ""}
    before = [made["normalizer"]] if made["normalizer"] else []
    made["normalizer"] = {"type": "Sequence", "normalizers": [strip, {"type": "Prepend", "prepend": " "}, *before]}
    without = {"type": "Strip", "content": " ", "start": 1, "stop": 0}
    made["decoder"] = {"type": "Sequence", "decoders": [made["decoder"], without]}


def _made(vocabulary: AnyVocabulary) -> Any:
    """The vocabulary as a tokenizer of the library."""
    if isinstance(vocabulary, Tokenizer):
        return vocabulary.library
    tokenizers = library()
    models, cut, fuse = tokenizers.models, tokenizers.pre_tokenizers.Split, tokenizers.decoders.Fuse()
    if isinstance(vocabulary, WordVocabulary):
        made = tokenizers.Tokenizer(models.WordLevel(vocabulary.ids, unk_token=vocabulary.tokens[vocabulary.unk]))
        made.pre_tokenizer = cut(tokenizers.Regex(f"[{BLANKS}]+"), "removed")
        made.add_special_tokens([tokenizers.AddedToken(token, normalized=False, single_word=token != MASK) for token in SPECIALS])
        return made  # without a decoder words are joined by spaces
    if isinstance(vocabulary, PieceVocabulary):
        made = tokenizers.Tokenizer(models.BPE(vocabulary.ids, [], unk_token=NOBODY, ignore_merges=True))
        made.pre_tokenizer = cut(tokenizers.Regex(_parts(vocabulary)), "isolated")
    else:
        made = tokenizers.Tokenizer(models.WordLevel(vocabulary.ids, unk_token=NOBODY))
        made.pre_tokenizer = cut(tokenizers.Regex(r"[\s\S]"), "isolated")
    made.decoder = fuse
    return made


def _parts(vocabulary: PieceVocabulary) -> str:
    """`PART` for the library's expressions, whose classes of letters are others: the vocabulary's own are listed."""
    assert PART.pattern == r" ?[^\W\d_]+|\n+ *| +|."
    letters = "".join(token for token in vocabulary.letters.tokens if token.isalnum() and not token.isdecimal())
    return rf" ?[{letters}]+|\n+ *| +|[\s\S]" if letters else r"\n+ *| +|[\s\S]"
