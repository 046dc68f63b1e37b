"""badak predict RUN PICTURE... | badak predict RUN TEXT..."""

import sys

import click

from badak.cli.options import PLACE
from badak.cli.output import bar, echo
from badak.data.files import read_text
from badak.errors import ArgumentError, FileError
from badak.generate.classify import TextJudge, Verdict
from badak.generate.picture import rank_classes, read_picture
from badak.train.opening import open_reader

MARGIN = 12  # columns that a class may take before its numbers


@click.command()
@click.argument("run", type=PLACE)
@click.argument("what", nargs=-1, metavar="[PICTURE... | TEXT...]")
@click.option("--file", type=PLACE, metavar="FILE", help="judge each line of this text file (gz or not); - is standard input")
@click.option("--words", type=click.IntRange(0), default=5, show_default=True, metavar="N",
              help="show the N words of a text that mattered most; 0: none, which is faster")  # fmt: skip
def command(run: str, what: tuple[str, ...], file: str | None, words: int) -> None:
    """Say which digit a PICTURE shows, or of which class a TEXT is or which number is told of it, with the model in RUN.

    A picture (RUN is from badak train classify) may have any size and colours; dark ink on a bright ground is turned round.

    Of a text (RUN is from badak train text, or a text classifier of Hugging Face: a folder, or a name on its Hub) also the words
    that mattered: each word is left out once, the text is read again, and the change of the answer is how much the word mattered.
    Of several texts, of a file, and of what comes in at a pipe, there is a line each: class, probability, text, and the words that
    spoke for the class, with tabs between.
    """
    reader = open_reader(run)
    if isinstance(reader, TextJudge):
        texts, one = texts_of(what, file)
        show_texts(reader, texts, words, one)
        return
    if file is not None or not what:
        raise ArgumentError(f"{run} is a run of badak train classify: it reads pictures", f"badak predict {run} PICTURE.png")
    for picture in what:
        ranking = rank_classes(reader.model, read_picture(picture))
        click.echo(f"{picture}: {ranking[0][0]}\n")
        show_ranking([(str(digit), chance) for digit, chance in ranking])


def texts_of(what: tuple[str, ...], file: str | None) -> tuple[list[str], bool]:
    """The texts to judge, and whether it is one, from the command line."""
    if what and file is not None:
        raise ArgumentError("texts and --file too", "one of them")
    if what:
        return list(what), len(what) == 1
    if file is None and sys.stdin.isatty():
        raise ArgumentError("no text", 'badak predict RUN "a text", --file FILE, or a pipe into it')
    where = "-" if file is None else file
    lines = (read_input() if where == "-" else read_text(where)).splitlines()
    texts = [line for line in lines if line.strip()]
    if not texts:
        raise FileError(f"{'standard input' if where == '-' else where}: no line has a text", "a text in each line")
    if len(texts) < len(lines):
        echo(f"{len(lines) - len(texts):,} empty lines left out", err=True)
    return texts, False


def read_input() -> str:
    """What comes in at standard input."""
    data = sys.stdin.buffer.read()
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise FileError(f"standard input: line {line}: not UTF-8 text", "iconv -f CP949 -t UTF-8, or where it comes from") from None


def show_texts(judge: TextJudge, texts: list[str], words: int, one: bool) -> None:
    """Print what is said of each text: of one alone all that is known, of several a line each."""
    for verdict in judge.judge(texts, words > 0):
        if verdict.cut:
            echo(f"the last {verdict.cut:,} pieces of a long text were not read: {verdict.text[:40]!r}...", err=True)
        if one:
            show_verdict(verdict, words)
        else:
            click.echo("\t".join(line_of(verdict, words)))


def line_of(verdict: Verdict, words: int) -> list[str]:
    """The columns of one of several texts."""
    spoke = [word.text for word in verdict.words[:words] if word.without < verdict.value or not verdict.label]
    answer = [verdict.label, f"{verdict.value:.4f}"] if verdict.label else [f"{verdict.value:.4g}"]
    return [*answer, " ".join(verdict.text.split()), *([", ".join(spoke)] if words else [])]


def show_verdict(verdict: Verdict, words: int) -> None:
    """Print a verdict with its ranking, and what the answer would be without each of the words that mattered most."""
    text = f"{verdict.text}: {verdict.label or format(verdict.value, '.4g')}"
    click.echo(text)
    if verdict.ranking:
        click.echo()
        show_ranking(verdict.ranking[:10])
    if not verdict.words:
        return
    of = f"probability of {verdict.label}" if verdict.label else "number"
    echo(f"\nthe words that mattered: the {of} without each of them")
    for word in verdict.words[:words]:
        without = f"{word.without:7.2%}" if verdict.label else f"{word.without:7.4g}"
        click.echo(f"  {without}  without {word.text}")


def show_ranking(ranking: list[tuple[str, float]]) -> None:
    """Print classes with their probabilities as bars."""
    width = min(max(len(label) for label, _ in ranking), MARGIN)
    for label, chance in ranking:
        click.echo(f"  {label:<{width}}  {chance:7.2%}  {bar(chance)}".rstrip())
