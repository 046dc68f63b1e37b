"""badak predict RUN PICTURE... | badak predict RUN TEXT..."""

import io
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import click

from badak.cli.options import PLACE
from badak.cli.output import bar, echo
from badak.core.errors import ArgumentError, FileError, tr
from badak.data.records import Records, dump, lines_of, read_records
from badak.generation.classify import Prediction, TextClassifier
from badak.generation.picture import rank_classes, read_picture
from badak.io.atomic import write_file
from badak.training.load import load_fill_mask

MARGIN = 12  # columns that a class may take before its numbers
OUT = (".json", ".jsonl", ".ndjson")


@click.command()
@click.argument("run", type=PLACE)
@click.argument("what", nargs=-1, metavar="[PICTURE... | TEXT...]")
@click.option(
    "--file",
    type=PLACE,
    metavar="FILE",
    help="classify the texts of this file (.gz or not): .csv, .tsv, .jsonl, .json, or one text per line; - is standard input",
)
@click.option("--text-column", default="", metavar="NAME", help="text column or key in --file [default: detected]")
@click.option("--pair-column", default="", metavar="NAME", help="second text column or key, for models of text pairs")
@click.option(
    "--header",
    type=click.Choice(["auto", "yes", "no"]),
    default="auto",
    show_default=True,
    help="whether the first line is a header",
)
@click.option("--quotes/--no-quotes", default=True, help="fields may be quoted")
@click.option("--pair", metavar="TEXT", help="second text, for models of text pairs")
@click.option(
    "--words",
    type=click.IntRange(0),
    default=5,
    show_default=True,
    metavar="N",
    help="show the N most important words of a text (0 = none, faster)",
)
@click.option("--json", "as_json", is_flag=True, help="print one JSON object per text, with the probabilities of all classes")
@click.option("-o", "--out", type=PLACE, metavar="FILE",
              help="write the JSON objects to a file: .jsonl, or .json for one list")  # fmt: skip
def command(run: str, what: tuple[str, ...], file: str | None, words: int, as_json: bool, out: str | None, **how: Any) -> None:
    """Predict the digit in a PICTURE, or the class or number of a TEXT, with the model in RUN.

    Images (RUN is from badak train classify) may have any size and colors; dark ink on a bright background is inverted.

    For texts, RUN is from badak train text, or is a Hugging Face text classifier (folder or Hub name). badak also shows the
    words that mattered: it removes each word once and measures how the prediction changes. Several texts, a file or piped input
    give one tab-separated line each: class, probability, text, and the words in favor of the class.
    """
    if out is not None and not out.lower().endswith(OUT):
        raise ArgumentError(tr("{}: written is JSON, by the end of the name", out), tr("a name that ends with {}", ", ".join(OUT)))
    reader = load_fill_mask(run)
    if isinstance(reader, TextClassifier):
        records, one = records_of(what, file, reader.pairs, **how)
        verdicts = told(reader, records, words)
        if as_json or out is not None:
            show_objects(object_of_all(verdicts, records, words), out)
        else:
            show_texts(verdicts, words, one)
        return
    if file is not None or not what or any(how[name] for name in ("text_column", "pair_column", "pair")):
        cause = tr("{} is a run of badak train classify: it reads pictures", run)
        raise ArgumentError(cause, tr("badak predict {} PICTURE.png", run))
    ranked = ((name, [(str(digit), chance) for digit, chance in rank_classes(reader.model, read_picture(name))]) for name in what)
    if as_json or out is not None:
        show_objects(({"file": name, **answer(ranking)} for name, ranking in ranked), out)
        return
    for picture, ranking in ranked:
        click.echo(f"{picture}: {ranking[0][0]}\n")
        show_ranking(ranking)


def records_of(
    what: tuple[str, ...], file: str | None, pairs: bool | None, text_column: str, pair_column: str, header: Any, quotes: bool,
    pair: str | None,
) -> tuple[Records, bool]:  # fmt: skip
    """The texts to judge, and whether it is one, from the command line. pairs: whether the model reads pairs, None: it may."""
    if what and file is not None:
        raise ArgumentError("texts and --file too", "one of them")
    if what or pair is not None:
        if pair is not None and len(what) != 1:
            cause = tr("--pair is the second text of one text; got {}", len(what))
            raise ArgumentError(cause, "badak predict RUN TEXT --pair TEXT")
        texts: list[Any] = list(what) if pair is None else [(what[0], pair)]
        return Records(texts, list(range(1, len(texts) + 1)), 0), len(texts) == 1
    if file is None and sys.stdin.isatty():
        raise ArgumentError("no text", 'badak predict RUN "a text", --file FILE, or a pipe into it')
    if file in (None, "-"):
        if text_column or pair_column:
            raise ArgumentError("standard input is read line by line, it has no columns", "--file FILE.csv, or FILE.jsonl")
        records = lines_of(tr("standard input"), read_input(), bool(pairs))
    else:
        assert file is not None
        records = read_records(file, text_column, pair_column, header, quotes)
        if pairs and isinstance(records.texts[0], str):
            records = pairs_of_lines(file, records)
    if records.empty:
        echo(tr("{:,} empty lines left out", records.empty), err=True)
    return records, False


def pairs_of_lines(file: str, records: Records) -> Records:
    """The lines of a text file as pairs; a file with columns has to name the second one."""
    broken = next((line for line, text in zip(records.lines, records.texts) if str(text).count("\t") != 1), None)
    if broken is not None:
        cause = tr("{}: line {}: the model reads pairs of texts", file, broken)
        raise FileError(cause, "--pair-column NAME, or lines with a tab between")
    texts: list[Any] = [tuple(str(text).split("\t")) for text in records.texts]
    return Records(texts, records.lines, records.empty)


def read_input() -> str:
    """What comes in at standard input."""
    data = sys.stdin.buffer.read()
    try:
        return io.IncrementalNewlineDecoder(None, translate=True).decode(data.decode("utf-8-sig"), final=True)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        cause = tr("standard input: line {}: not UTF-8 text", line)
        raise FileError(cause, "iconv -f CP949 -t UTF-8, or where it comes from") from None


def told(judge: TextClassifier, records: Records, words: int) -> Iterator[Prediction]:
    """The verdicts; of a text whose end was not read that is said."""
    for verdict in judge.judge(records.texts, words > 0):
        if verdict.cut:
            echo(tr("the last {:,} pieces of a long text were not read: {!r}...", verdict.cut, verdict.text[:40]), err=True)
        yield verdict


# ---------------------------------------------------------------------- JSON


def answer(ranking: list[tuple[str, float]]) -> dict[str, Any]:
    """A class with its probability, and those of all classes, the most likely first."""
    return {"label": ranking[0][0], "probability": ranking[0][1], "probabilities": dict(ranking)}


def object_of_all(verdicts: Iterable[Prediction], records: Records, words: int) -> Iterator[dict[str, Any]]:
    """What is known of each text. line: where it stands in its file."""
    for verdict, line in zip(verdicts, records.lines):
        of = answer(verdict.ranking) if verdict.ranking else {"value": verdict.value}
        pair = {"pair": verdict.second} if verdict.second else {}
        mattered = [{"word": word.text, "at": word.at, "without": word.without} for word in verdict.words[:words]]
        yield {"line": line, "text": verdict.text, **pair, **of, **({"words": mattered} if words else {}), "cut": verdict.cut}


def show_objects(objects: Iterable[dict[str, Any]], out: str | None) -> None:
    """Print objects, one in a line, or write them: lines, or one list where the name ends with .json."""
    if out is None:
        for one in objects:
            click.echo(dump(one))
        return
    count = 0

    def fill(file: Any) -> None:
        nonlocal count
        whole = out.lower().endswith(".json")
        for one in objects:
            start = ("[\n" if not count else ",\n") if whole else ""
            file.write((start + dump(one) + ("" if whole else "\n")).encode())
            count += 1
        if whole:
            file.write(b"\n]\n" if count else b"[]\n")

    write_file(Path(out), fill)
    echo(tr("{:,} answers in {}", count, out), err=True)


# ---------------------------------------------------------------------- to read


def show_texts(verdicts: Iterable[Prediction], words: int, one: bool) -> None:
    """Print what is said of each text: of one alone all that is known, of several a line each."""
    for verdict in verdicts:
        if one:
            show_verdict(verdict, words)
        else:
            click.echo("\t".join(line_of(verdict, words)))


def line_of(verdict: Prediction, words: int) -> list[str]:
    """The columns of one of several texts."""
    spoke = [word.text for word in verdict.words[:words] if word.without < verdict.value or not verdict.label]
    said = [verdict.label, f"{verdict.value:.4f}"] if verdict.label else [f"{verdict.value:.4g}"]
    texts = [" ".join(text.split()) for text in (verdict.text, verdict.second) if text]
    return [*said, *texts, *([", ".join(spoke)] if words else [])]


def show_verdict(verdict: Prediction, words: int) -> None:
    """Print a verdict with its ranking, and what the answer would be without each of the words that mattered most."""
    text = " | ".join(filter(None, (verdict.text, verdict.second)))
    click.echo(f"{text}: {verdict.label or format(verdict.value, '.4g')}")
    if verdict.ranking:
        click.echo()
        show_ranking(verdict.ranking[:10])
    if not verdict.words:
        return
    of = tr("probability of {}", verdict.label) if verdict.label else "number"
    echo(tr("\nthe words that mattered: the {} without each of them", of))
    for word in verdict.words[:words]:
        without = f"{word.without:7.2%}" if verdict.label else f"{word.without:7.4g}"
        click.echo(tr("  {}  without {}", without, word.text))


def show_ranking(ranking: list[tuple[str, float]]) -> None:
    """Print classes with their probabilities as bars."""
    width = min(max(len(label) for label, _ in ranking), MARGIN)
    for label, chance in ranking:
        click.echo(f"  {label:<{width}}  {chance:7.2%}  {bar(chance)}".rstrip())
