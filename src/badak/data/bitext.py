"""Sentences and their translations: two files with a sentence in each line, or one file of pairs.

    train.de   train.en         to learn from        (each file plain or .gz)
    val.de     val.en           to test with while it learns; also valid.*, dev.*
    test*.de   test*.en         to translate at the end

    pairs.tsv                   a pair in each line: columns with tabs between them

`read_corpus` finds and reads either. A pair is (source, target), two texts that are not empty.
"""

import hashlib
from dataclasses import dataclass, field
from pathlib import Path

from badak.core.errors import ArgumentError, FileError, tr
from badak.data.files import read_text
from badak.io.errors import shown

Pairs = list[tuple[str, str]]
HELD_OUT = ("val", "valid", "dev")  # what the files to test with may be called


@dataclass
class Corpus:
    """Pairs to learn from, to test with, and to translate at the end (by the names of their files); what was left out, in words."""

    train: Pairs
    val: Pairs
    tests: dict[str, Pairs] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def read_corpus(path: str, source: str, target: str, columns: tuple[int, int] = (1, 2), held_out: float = 0.05) -> Corpus:
    """The corpus of a folder, or of a file of pairs.

    source, target: the languages, which are the ends of the names of the files in the folder. columns: of a file of pairs, where
    its source and target stand; held_out: the part of its sentences that is tested with, and once more as much that is
    translated at the end.
    """
    place = Path(path)
    if place.is_dir():
        return _of_folder(place, source, target)
    if not place.exists():
        raise FileError(tr("{}: there is no such file or folder", place), "a folder with train.de and train.en, or a file of pairs")
    return _of_pairs(place, columns, held_out)


def _of_folder(place: Path, source: str, target: str) -> Corpus:
    if source == target:
        raise ArgumentError(tr("source and target are both {!r}", source), "--src de --tgt en")
    stems = _stems(place, source), _stems(place, target)
    for language, found in zip((source, target), stems):
        if "train" not in found:
            cause = tr("{}: no file train.{}", place, language)
            raise ArgumentError(cause, _languages_of(place) or tr("name the files train.{} and train.{}", source, target))
    notes: list[str] = []
    both = {name: (path, stems[1][name]) for name, path in stems[0].items() if name in stems[1]}
    valid = next((name for name in HELD_OUT if name in both), None)
    if valid is None:
        cause = tr("{}: no files val.{} and val.{} to test with", place, source, target)
        raise ArgumentError(cause, "put some hundred pairs that are not in the training files there")
    tests = {name: _read_two(*paths, notes) for name, paths in sorted(both.items()) if name.startswith("test")}
    return Corpus(_read_two(*both["train"], notes), _read_two(*both[valid], notes), tests, notes)


def _stems(place: Path, language: str) -> dict[str, Path]:
    """The files of one language by what stands before its name: {"train": .../train.de.gz}; a plain one before a packed one."""
    files = sorted(place.glob(f"*.{language}.gz")) + sorted(place.glob(f"*.{language}"))
    return {path.name.removesuffix(".gz").removesuffix(f".{language}"): path for path in files}


def _languages_of(place: Path) -> str:
    found = sorted({path.name.removesuffix(".gz").removeprefix("train.") for path in place.glob("train.*")})
    return tr("the languages there are {}: --src {} --tgt {}", ", ".join(found), found[0], found[-1]) if len(found) > 1 else ""


def _read_two(first: Path, second: Path, notes: list[str]) -> Pairs:
    """The pairs of two files, line by line; lines that are empty in both are left out."""
    left, right = read_lines(first), read_lines(second)
    if len(left) != len(right):
        cause = tr("{} has {:,} lines, {} has {:,}", first, len(left), second.name, len(right))
        raise FileError(cause, "each line of the one must be the translation of the same line of the other")
    pairs = list(zip(left, right))
    for number, (a, b) in enumerate(pairs, start=1):
        if bool(a) != bool(b):
            empty, full = (first, second) if b else (second, first)
            cause = tr("{}: line {} is empty, where {} has {}", empty, number, full.name, shown(a or b))
            raise FileError(cause, "write the translation there, or remove the line from both files")
    kept = [pair for pair in pairs if pair[0]]
    if len(kept) < len(pairs):
        notes.append(
            tr("{}: {:,} lines of {} and {} are empty and left out", first.parent, len(pairs) - len(kept), first.name, second.name)
        )
    if not kept:
        raise FileError(tr("{}: the file has no sentence", first), "write one sentence in each line")
    return kept


def read_lines(path: Path) -> list[str]:
    """The lines of a file, without the spaces around them; only \\n ends a line."""
    text = read_text(path)
    return [line.strip() for line in text.removesuffix("\n").split("\n")] if text else []


def _of_pairs(place: Path, columns: tuple[int, int], held_out: float) -> Corpus:
    """The pairs of one file. Which are held out is told by a hash of the target: all translations of a sentence stay together."""
    a, b = columns
    pairs: Pairs = []
    for number, line in enumerate(read_lines(place), start=1):
        if not line:
            continue
        cells = [cell.strip() for cell in line.split("\t")]
        if max(columns) > len(cells) or not (cells[a - 1] and cells[b - 1]):
            what = tr("has {} columns", len(cells)) if max(columns) > len(cells) else tr("has an empty cell")
            cause = tr(
                "{}: line {} {}; expected source in column {} and target in column {}, tabs between them", place, number, what, a, b
            )
            raise FileError(cause, "correct the line, or name the columns: --source-column 1 --target-column 2")
        pairs.append((cells[a - 1], cells[b - 1]))
    if not pairs:
        raise FileError(tr("{}: the file has no pair", place), "write a pair in each line: source, tab, target")
    return split(pairs, held_out)


def split(pairs: Pairs, held_out: float) -> Corpus:
    """Pairs to learn from, and two parts of `held_out` of them to test with; no source and no target stands in two of the three."""
    ranks = {target: int.from_bytes(hashlib.sha256(target.encode()).digest()[:8]) / 2**64 for _, target in pairs}
    parts: list[Pairs] = [[], [], []]
    for source, target in pairs:
        rank = ranks[target]
        parts[1 if rank < held_out else 2 if rank < 2 * held_out else 0].append((source, target))
    train, valid, test = parts
    held = {source for part in (valid, test) for source, _ in part}
    kept = [pair for pair in train if pair[0] not in held]
    seen = {source for source, _ in valid}
    test = [pair for pair in test if pair[0] not in seen]
    notes = [f"{len(train) - len(kept):,} pairs are left out: their source is tested with"] if len(kept) < len(train) else []
    if not kept:
        cause = tr("{} pairs are too few to hold {:g} of them out twice", len(pairs), held_out)
        raise ArgumentError(cause, "--val-split 0, or more pairs")
    return Corpus(kept, valid or kept, {"test": test} if test else {}, notes)
