"""Files of tokenizers that ask for years or terabytes are refused in two lines; those that models have are read."""

import resource

import pytest
from tokenizers import Tokenizer as Theirs

from badak.core.errors import ArgumentError, BadakError, FileError
from badak.data import harmless
from badak.data.tokenizer import LARGEST, Tokenizer
from badak.io import limited


def saved(**parts):
    """A tokenizer of two letters, with these parts."""
    model = {"type": "BPE", "vocab": {"a": 0, "b": 1}, "merges": []}
    return {"version": "1.0", "truncation": None, "padding": None, "added_tokens": [], "model": model, **parts}


def text(old, new):
    return {"type": "Replace", "pattern": {"String": old}, "content": new}


def pattern(old, new="x"):
    return {"type": "Replace", "pattern": {"Regex": old}, "content": new}


def several(*parts):
    return {"type": "Sequence", "normalizers": list(parts)}


def split(old):
    return {"type": "Split", "pattern": {"Regex": old}, "behavior": "Isolated", "invert": False}


GROWING = {
    "forty replacements": several(*[text("a", "aa")] * 40),
    "a chain of letters": several(*[text(chr(97 + i), chr(98 + i) * 2) for i in range(25)]),
    "nothing replaced by something": several(*[text("", "xx")] * 40),
    "patterns": several(*[pattern("a", "aa")] * 40),
    "patterns of a kind of letters": several(*[pattern("\\p{Lu}", "AA")] * 40),
    "patterns within brackets": several(several(*[pattern("[x-z]{3}", "z" * 9)] * 4), several(*[pattern("z", "xyz")] * 4)),
    "patterns that match nothing": several(*[pattern("(?=a)", "a")] * 40),
    "a long text before": {"type": "Prepend", "prepend": "x" * 1_000_000},
    "a thousand steps": several(*[text("a", "b")] * 2000),
}
SEARCHING = ["(a+)+$", "(a|aa)+$", "(\\p{L}+)*!", "a*a*a*a*a*a*[bc]$", "(?:ab|a|b)*c$", "(\\s|\\s\\s)+x", "(x+x+)+y", "([a-z]+)*1"]


def refuse(part, **parts):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(FileError, match="^W: ") as caught:
        Tokenizer.from_dict(saved(**{part: parts[part]} if part in parts else parts), "W")
    assert len(str(caught.value).splitlines()) == 2
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 1 << 18  # KiB


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(limited, "SECONDS", 1)


@pytest.mark.slow
@pytest.mark.parametrize("name", GROWING)
def test_a_text_that_would_grow_without_end_is_refused(name):
    refuse("normalizer", normalizer=GROWING[name])


@pytest.mark.thin(4)
@pytest.mark.slow
@pytest.mark.parametrize("search", SEARCHING)
def test_a_pattern_that_searches_for_ever_is_refused(search):
    refuse("pre_tokenizer", pre_tokenizer=split(search))
    refuse("normalizer", normalizer=pattern(search, ""))


def test_what_is_put_together_again_does_not_grow_either():
    refuse("decoder", decoder={"type": "Sequence", "decoders": [text("a", "aa")] * 40})


def test_words_are_not_looked_through_for_ever():
    pieces = {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##", "vocab": {"a": 0, "[UNK]": 1}}
    refuse("model", model={**pieces, "max_input_chars_per_word": 10**9})


def test_a_damaged_table_that_ends_the_library_does_not_end_this_program():
    refuse("normalizer", normalizer={"type": "Precompiled", "precompiled_charsmap": "AAAA////"})


OF_MODELS = [  # GPT-2, Llama 3, Qwen 2, GPT-4o, DeepSeek's two
    r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",  # GPT-2
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?"
    r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+",  # GPT-4o
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}]*\p{Ll}+|[!-/:-~]?[A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+|\s+",
    r"[一-龥぀-ゟ゠-ヿ]+",
]
NORMAL = [
    several({"type": "Prepend", "prepend": "▁"}, text(" ", "▁")),  # Llama 2
    several(pattern(" {2,}", " "), pattern("\\s+", " "), {"type": "NFC"}),  # CLIP, XLM-R
    several(text("…", "..."), text("``", '"'), text("''", '"')),  # XLNet
]


@pytest.mark.parametrize("search", OF_MODELS)
def test_patterns_of_models_are_read_as_the_library_reads_them(search):
    one = saved(pre_tokenizer=split(search))
    made = Tokenizer.from_dict(one)
    assert made.encode("ab a\n\n  b's").tolist() == [0, 1, 0, 1]
    assert made.library.to_str() == Theirs.from_str(made.library.to_str()).to_str()


@pytest.mark.parametrize("number", range(len(NORMAL)))
def test_usual_replacements_are_read(number):
    assert Tokenizer.from_dict(saved(normalizer=NORMAL[number])).encode("a b").tolist() == [0, 1]


def test_what_was_tried_once_is_not_tried_again(monkeypatch):
    asked = []
    monkeypatch.setattr(harmless, "limited", lambda *arguments: asked.append(arguments))
    for _ in range(3):
        Tokenizer.from_dict(saved(pre_tokenizer=split("[ab]q{3}")))
    Tokenizer.from_dict(saved())  # nothing in it can take long
    assert len(asked) == 1


NO_UNKNOWN = {
    "WordPiece": {"unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100, "vocab": {"a": 0}},
    "WordLevel": {"unk_token": "[UNK]", "vocab": {"a": 0}},
    "Unigram": {"unk_id": None, "vocab": [["a", -1.0]]},
}


@pytest.mark.parametrize("kind", NO_UNKNOWN)
def test_a_word_for_which_there_is_nothing_is_said_in_two_lines(kind):
    made = Tokenizer.from_dict(saved(model={"type": kind, **NO_UNKNOWN[kind]}))
    for ask in (lambda: made.encode("zebra"), lambda: made.encode_all(["a", "zebra"])):
        with pytest.raises(ArgumentError, match="this tokenizer cannot do that to the text .*\nfix: another text"):
            ask()


@pytest.mark.parametrize("size", [LARGEST + 1, 10**10, 2**63, 2**70])
@pytest.mark.parametrize("kind", ["train_bpe", "train_wordpiece"])
def test_a_vocabulary_that_no_text_has_is_refused_before_room_is_made(kind, size):
    with pytest.raises(BadakError, match=f"{kind}: expected a size of 1,048,576 tokens at most; got .*\nfix: size=10000"):
        getattr(Tokenizer, kind)(["a text"], size)
