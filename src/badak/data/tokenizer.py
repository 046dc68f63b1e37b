"""Text to pieces of words and back: what `tokenizers`, the library of Hugging Face, trains and loads, behind a small interface.

    tokenizer = Tokenizer.load("gpt2")                    tokenizer.json, or vocab.json + merges.txt, or vocab.txt
    tokenizer = Tokenizer.train_bpe(texts, 10_000)
    ids = tokenizer.encode("바닥부터")                     int64 (T,)
    tokenizer.decode(ids) == "바닥부터"

Byte-level BPE (GPT-2): any text comes back as it went, for the smallest pieces are bytes. WordPiece (BERT): words in pieces, "##"
before those that go on; what it has no pieces for is [UNK]. Sources: Sennrich et al. 2016, "Neural Machine Translation of Rare
Words with Subword Units"; Radford et al. 2019; Schuster and Nakajima 2012, "Japanese and Korean Voice Search".
"""

import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from badak.core.errors import ArgumentError, BadakError, FileError, IndexOutOfRangeError, NotSupportedError, tr
from badak.core.public_api import guard_types as _guard_types
from badak.data import validation
from badak.data.harmless import expect_harmless
from badak.io.atomic import as_path, read_small, write_file
from badak.io.config import read_json
from badak.io.errors import line, shown

FILE = "tokenizer.json"
BPE_FILES = (("vocab.json", "merges.txt"), ("encoder.json", "vocab.bpe"))  # Hugging Face's names, and OpenAI's
WORDPIECE_FILE = "vocab.txt"
MANY = 1_000  # times that a word is given to the library at once
LARGEST = 1 << 20  # tokens of a new tokenizer: the library makes room for them all at its start
GPT2_END = "<|endoftext|>"
BERT_MARKS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
ROLES = {  # what a mark is for, and how it is called
    "pad": ("[PAD]", "<pad>"),
    "unk": ("[UNK]", "<unk>"),
    "sos": ("[CLS]", "<s>", "<sos>", "<bos>", "<|begin_of_text|>", GPT2_END),
    "eos": ("[SEP]", "</s>", "<eos>", "<|end_of_text|>", GPT2_END),
    "mask": ("[MASK]", "<mask>"),
}


def library() -> Any:
    """The library, which is an extra."""
    try:
        import tokenizers
    except ImportError:
        raise NotSupportedError("the library tokenizers is not installed", 'pip install "badak[text]"') from None
    return tokenizers


class Tokenizer:
    """Pieces of words as numbers.

    tokens: all pieces by number; special: numbers of the marks that stand for no text; pad, unk, sos, eos, mask: the number of
    the mark for that purpose, None where there is none. A mark that is written out in a text counts as the mark.
    """

    kind = "subwords"
    prompt_marks = False  # whether a prompt is given the marks around it: with those of a folder models have learned

    def __init__(self, made: Any) -> None:
        made.no_padding()  # a file may say that each text is padded, or cut, to so many tokens: `pad` and who reads them do that
        made.no_truncation()
        self.library, self.ids = made, made.get_vocab()
        size = max(self.ids.values(), default=-1) + 1
        if size != len(self.ids):
            cause = tr("Tokenizer: {} tokens are numbered up to {}", len(self.ids), size - 1)
            raise ArgumentError(cause, "numbers from 0 on, each given once")
        self.tokens = tuple(sorted(self.ids, key=self.ids.__getitem__))
        added = made.get_added_tokens_decoder()
        self.special: Sequence[int] = tuple(number for number, token in sorted(added.items()) if token.special)
        marks = {name: next((self.ids[token] for token in known if token in self.ids), None) for name, known in ROLES.items()}
        self.pad, self.unk, self.sos, self.eos, self.mask = (marks[name] for name in ("pad", "unk", "sos", "eos", "mask"))

    @property
    def by_words(self) -> bool:
        """Whether each word is one token, and every other word unknown."""
        return type(self.library.model).__name__ == "WordLevel" and self.unk is not None

    def __len__(self) -> int:
        return len(self.tokens)

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and other.to_dict() == self.to_dict()  # type: ignore[attr-defined]

    __hash__ = None  # type: ignore[assignment]  # equal by content, so not to be a key

    def __repr__(self) -> str:
        return f"Tokenizer({len(self):,} tokens, {type(self.library.model).__name__})"

    # There and back

    def encode(self, text: str, marks: bool = False) -> np.ndarray:
        """Numbers of the pieces, int64 (T,). marks: with the marks around it that the model wants, such as [CLS] and [SEP]."""
        with _asked("encode"):
            return np.array(self.library.encode(_whole(text), add_special_tokens=marks).ids, np.int64)

    def encode_all(self, texts: Iterable[str], marks: bool = False) -> list[np.ndarray]:
        """`encode` of many texts at once, on all cores."""
        whole = [_whole(text) for text in _texts("encode_all", texts)]
        with _asked("encode_all"):
            made = self.library.encode_batch_fast(whole, add_special_tokens=marks)
        return [np.array(one.ids, np.int64) for one in made]

    def decode(self, ids: Iterable[int], skip_special: bool = False) -> str:
        """The text of these numbers; what is no whole character in it is shown as U+FFFD."""
        numbers = validation.numbers("decode", ids)
        wrong = next((i for i in numbers if not 0 <= i < len(self)), None)
        if wrong is not None:
            raise IndexOutOfRangeError(tr("decode: token {} is outside of this vocabulary of {} tokens", wrong, len(self)))
        with _asked("decode"):
            return self.library.decode(numbers, skip_special_tokens=skip_special)

    def pieces(self, ids: Iterable[int], skip_special: bool = False, after: Sequence[int] = ()) -> Iterator[str]:
        """The text of numbers as they come: a piece as soon as its characters are whole. after: the numbers of what stands before,
        to which the first one may be joined by a space."""
        stream = TextStream(self, after, skip_special)
        yield from filter(None, map(stream.push, ids))
        if rest := stream.rest():
            yield rest

    def surround(self, before: str | None, behind: str | None) -> None:
        """Let `marks` be these tokens, before and behind a text, None for none."""
        used = [(token, self.ids[token]) for token in dict.fromkeys((before, behind)) if token is not None]
        single = " ".join(one for one in (before, "$A", behind) if one)
        self.library.post_processor = library().processors.TemplateProcessing(single=single, pair=None, special_tokens=used)

    # Files

    def to_dict(self) -> dict[str, Any]:
        """What tokenizer.json holds."""
        return json.loads(self.library.to_str())

    @classmethod
    def from_dict(cls, saved: Any, where: Any = FILE) -> "Tokenizer":
        """What `to_dict` gave; FileError for anything else."""
        if not isinstance(saved, dict):
            raise FileError(tr("{}: expected a table; got {}", where, type(saved).__name__), "restore the file from a copy")
        tokenizers = library()
        expect_harmless(saved, where)
        with _refused(where):
            return cls(tokenizers.Tokenizer.from_str(json.dumps(saved)))

    def to_bytes(self) -> bytes:
        """What `save` writes."""
        return (self.library.to_str(pretty=True) + "\n").encode()

    def save(self, path: str | os.PathLike) -> None:
        """Write tokenizer.json, into the folder or under the name `path`."""
        place = as_path(path)
        write_file(place / FILE if place.is_dir() else place, lambda file: file.write(self.to_bytes()) and None)

    @classmethod
    def load(cls, path: str | os.PathLike) -> "Tokenizer":
        """From tokenizer.json, from the older files of GPT-2 (vocab.json and merges.txt) or of BERT (vocab.txt), or their folder.

        Raises FileError, which names the file and what is wrong with it; NotSupportedError where the library is not installed.
        """
        place = as_path(path)
        if place.is_dir():
            return cls._from_folder(place)
        if place.name == WORDPIECE_FILE:
            return cls._from_wordpieces(place)
        for vocabulary, merges in BPE_FILES:
            if place.name in (vocabulary, merges):
                return cls._from_merges(place.with_name(vocabulary), place.with_name(merges))
        return cls.from_dict(read_json(place), place)

    @classmethod
    def _from_folder(cls, place: Path) -> "Tokenizer":
        if (place / FILE).is_file():
            return cls.from_dict(read_json(place / FILE), place / FILE)
        for vocabulary, merges in BPE_FILES:
            if (place / vocabulary).is_file():
                return cls._from_merges(place / vocabulary, place / merges)
        if (place / WORDPIECE_FILE).is_file():
            return cls._from_wordpieces(place / WORDPIECE_FILE)
        cause = tr("{}: no {}, no vocab.json with merges.txt and no {}", place, FILE, WORDPIECE_FILE)
        raise FileError(cause, "the folder of a tokenizer")

    @classmethod
    def _from_merges(cls, vocabulary: Path, merges: Path) -> "Tokenizer":
        """GPT-2's: a table of pieces, and the pairs that became one, the first ones first."""
        table = read_json(vocabulary)
        if not isinstance(table, dict) or not all(type(number) is int for number in table.values()):
            raise FileError(tr("{}: expected a token embedding and numbers", vocabulary), "copy or download it again")
        tokenizers = library()
        with _refused(vocabulary):
            pairs = [pair for pair in _lines(merges) if pair and not pair.startswith("#version")]
            broken = next((pair for pair in pairs if pair.count(" ") != 1), None)
            if broken is not None:
                raise FileError(tr("{}: expected two pieces in a line; got {}", merges, shown(broken)), "copy or download it again")
            made = tokenizers.Tokenizer(tokenizers.models.BPE(table, [tuple(pair.split(" ")) for pair in pairs]))
            _byte_level(made)
            if GPT2_END in table:
                made.add_special_tokens([GPT2_END])
            return cls(made)

    @classmethod
    def _from_wordpieces(cls, path: Path) -> "Tokenizer":
        """BERT's: a piece in each line. Small letters, unless tokenizer_config.json next to it, or the pieces, say otherwise."""
        tokens = _lines(path)
        table = {token: number for number, token in enumerate(tokens)}
        if len(table) < len(tokens) or "[UNK]" not in table:
            what = tr("has no [UNK]") if "[UNK]" not in table else tr("names a token twice")
            raise FileError(tr("{}: {}", path, what), "copy or download it again")
        beside = path.with_name("tokenizer_config.json")
        said = read_json(beside) if beside.is_file() else {}
        known = said.get("do_lower_case") if isinstance(said, dict) else None
        small = known if isinstance(known, bool) else not any(token[:1].isupper() and token.isascii() for token in tokens)
        with _refused(path):
            return cls(_wordpieces(table, small))

    # Training

    @classmethod
    def train_bpe(
        cls,
        texts: Iterable[str],
        size: int,
        special: Sequence[str] = (GPT2_END,),
        least: int = 2,
        progress: bool = False,
        small: bool = False,
    ) -> "Tokenizer":
        """Byte-level BPE of `size` tokens: 256 bytes, the marks `special`, and the pairs that stand together most often.

        least: how often a pair must stand in the texts to become a token; progress: bars on stderr; small: capital letters are
        read as small ones. The same texts give the same tokens.
        """
        marks = [
            validation.text("train_bpe", mark) for mark in validation.several("train_bpe", special, "marks", "special=['<end>']")
        ]
        expect_size("train_bpe", size, 256 + len(marks))
        validation.whole("train_bpe", "least", least)
        tokenizers = library()
        made = tokenizers.Tokenizer(tokenizers.models.BPE())
        _byte_level(made)
        if small:
            made.normalizer = tokenizers.normalizers.Lowercase()
        alphabet = sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())
        made.train_from_iterator(
            map(_whole, _texts("train_bpe", texts)),
            tokenizers.trainers.BpeTrainer(
                vocab_size=size, special_tokens=marks, initial_alphabet=alphabet, min_frequency=least, show_progress=progress
            ),
        )
        return cls(made)

    @classmethod
    def train_wordpiece(
        cls, texts: Iterable[str], size: int, small: bool = True, least: int = 2, progress: bool = False
    ) -> "Tokenizer":
        """WordPiece of `size` tokens at most, with BERT's marks. small: capital letters and accents are taken off first.

        The same texts give the same tokens: what goes on in a word is numbered before the library does so, in an order of its own.
        """
        expect_size("train_wordpiece", size, len(BERT_MARKS) + 1)
        validation.whole("train_wordpiece", "least", least)
        tokenizers = library()
        made = _wordpieces({mark: number for number, mark in enumerate(BERT_MARKS)}, small)
        words: Counter[str] = Counter()
        for text in map(_whole, _texts("train_wordpiece", texts)):
            words.update(word for word, _ in made.pre_tokenizer.pre_tokenize_str(made.normalizer.normalize_str(text)))
        inner = sorted({letter for word in words for letter in word[1:]})
        first = [*BERT_MARKS, *(f"##{letter}" for letter in inner)]
        made.train_from_iterator(
            (" ".join([word] * min(MANY, count - at)) for word, count in words.items() for at in range(0, count, MANY)),
            tokenizers.trainers.WordPieceTrainer(
                vocab_size=size, special_tokens=first, min_frequency=least, show_progress=progress
            ),
        )
        return cls(_wordpieces(made.get_vocab(), small))


class TextStream:
    """The text of numbers that come one by one: a piece as soon as its characters are whole. after: as in `Tokenizer.pieces`."""

    def __init__(self, tokenizer: Tokenizer, after: Sequence[int] = (), skip_special: bool = False) -> None:
        self.tokenizer, self.skip_special, self.given = tokenizer, skip_special, [int(number) for number in after]
        self.stream = library().decoders.DecodeStream(skip_special_tokens=skip_special)
        for number in self.given:
            self.stream.step(tokenizer.library, number)
        self.written = len(tokenizer.decode(self.given, skip_special))

    def push(self, number: int) -> str:
        """The characters that are whole with this one, "" for none."""
        self.given.append(int(number))
        with _asked("decode"):
            piece = self.stream.step(self.tokenizer.library, int(number)) or ""
        self.written += len(piece)
        return piece

    def rest(self) -> str:
        """What is left at the end: bytes of a character that was not finished."""
        return self.tokenizer.decode(self.given, self.skip_special)[self.written :]


def expect_size(where: str, size: Any, least: int) -> None:
    """Refuse a number of tokens that the smallest pieces do not fit into, and one that no text has."""
    if type(size) is not int or not least <= size <= LARGEST:
        rule = tr("{} tokens or more", least) if type(size) is not int or size < least else tr("{:,} tokens at most", LARGEST)
        raise ArgumentError(tr("{}: expected a size of {}; got {}", where, rule, shown(size)), f"size={max(10_000, least)}")


def _byte_level(made: Any) -> None:
    tokenizers = library()
    made.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = tokenizers.decoders.ByteLevel()


def _wordpieces(table: dict[str, int], small: bool) -> Any:
    tokenizers = library()
    made = tokenizers.Tokenizer(tokenizers.models.WordPiece(table, unk_token="[UNK]", max_input_chars_per_word=100))
    made.normalizer = tokenizers.normalizers.BertNormalizer(lowercase=small)
    made.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
    made.decoder = tokenizers.decoders.WordPiece()
    marks = [mark for mark in BERT_MARKS if mark in table]
    made.add_special_tokens(marks)
    if "[CLS]" in table and "[SEP]" in table:
        made.post_processor = tokenizers.processors.BertProcessing(("[SEP]", table["[SEP]"]), ("[CLS]", table["[CLS]"]))
    return made


def _texts(where: str, texts: Any) -> Iterable[Any]:
    return validation.several(where, texts, tr("a list of texts"), f"{where}(['a text'])")


def _whole(text: Any) -> str:
    """The text, which must be one that UTF-8 can hold."""
    try:
        validation.text("encode", text).encode()
    except UnicodeEncodeError as error:
        cause = tr("encode: character {} is half of a surrogate pair, no text", error.start)
        raise ArgumentError(cause, "text.encode('utf-8', 'replace').decode()") from None
    return text


def _lines(path: Path) -> list[str]:
    try:
        return read_small(path).decode("utf-8").removesuffix("\n").split("\n")
    except UnicodeDecodeError as error:
        where = tr("byte {} is {:#04x}", error.start, error.object[error.start])
        raise FileError(tr("{}: not UTF-8 text: {}", path, where), "save it as UTF-8") from error


@contextmanager
def _asked(where: str) -> Iterator[None]:
    """Whatever the library says of a text, in two lines: it has no pieces for it, its pattern gives up."""
    try:
        yield
    except (BadakError, KeyboardInterrupt, SystemExit, MemoryError, GeneratorExit):
        raise
    except BaseException as error:
        cause = tr("{}: this tokenizer cannot do that to the text ({})", where, line(str(error)))
        raise ArgumentError(cause, "another text, or the tokenizer of another model") from None


@contextmanager
def _refused(where: Any) -> Iterator[None]:
    """Whatever the library says of a file, in two lines. Where its own code gives up it raises what is no Exception."""
    try:
        yield
    except (FileError, NotSupportedError, KeyboardInterrupt, SystemExit, MemoryError):
        raise
    except ArgumentError as error:
        raise FileError(tr("{}: {}", where, error.cause), "copy or download it again") from None
    except BaseException as error:
        cause = tr("{}: no tokenizer that the library tokenizers reads ({})", where, line(str(error)))
        raise FileError(cause, "copy or download it again") from None


_guard_types(globals(), __name__)
