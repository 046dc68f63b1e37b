"""badak tokenize TEXT... -o FOLDER"""

import sys
from collections.abc import Iterator
from pathlib import Path

import click
from tqdm import tqdm

from badak.cli.options import PLACE
from badak.cli.output import echo
from badak.core.errors import ArgumentError, tr
from badak.data.files import read_pieces, text_files
from badak.data.tokenizer import LARGEST, Tokenizer
from badak.data.tokens import documents, write_tokens

SAMPLE = 200_000_000  # characters that a new tokenizer is made from, at most


@click.command()
@click.argument("texts", type=PLACE, nargs=-1, required=True)
@click.option("-o", "--out", type=PLACE, required=True, metavar="FOLDER", help="output folder")
@click.option(
    "--tokenizer", type=PLACE, metavar="PATH", help="existing tokenizer: tokenizer.json, vocab.json, vocab.txt, or their folder"
)
@click.option("--train", type=click.Choice(["bpe", "wordpiece"]), help="train a new tokenizer on these texts")
@click.option(
    "--vocab-size", type=click.IntRange(1, LARGEST), default=10_000, show_default=True, help="vocabulary size of a new tokenizer"
)
@click.option("--lines", is_flag=True, help="treat each line as a document, not each file")
def command(texts: tuple[str, ...], out: str, tokenizer: str | None, train: str | None, vocab_size: int, lines: bool) -> None:
    """Tokenize TEXTS (UTF-8 files, gzipped or not, and folders of them) into a folder that training reads from disk.

    The texts may be larger than memory. All cores are used.
    """
    if (tokenizer is None) == (train is None):
        raise ArgumentError("say which tokenizer: --tokenizer or --train", "--tokenizer gpt2/tokenizer.json, or --train bpe")
    files, left = text_files(texts)
    if left:
        echo(tr("left out, since their names end in none of .txt, .text, .md (and .gz): {} of {}", left, left + len(files)))
    if tokenizer is not None:
        chosen = Tokenizer.load(tokenizer)
    else:
        make = Tokenizer.train_bpe if train == "bpe" else Tokenizer.train_wordpiece
        chosen = make(_sample(files), vocab_size, progress=sys.stderr.isatty())
        echo(tr("{:,} tokens of {} from these texts", len(chosen), train))
    with tqdm(unit=" characters", unit_scale=True, disable=None, leave=False) as bar:  # None: only on a terminal
        made = write_tokens(out, documents(files, lines), chosen, tell=lambda characters, tokens: bar.update(characters - bar.n))
    about = made.about
    each = about["characters"] / max(about["tokens"], 1)
    echo(
        tr("{:,} tokens of {:,} documents, {:.2f} characters a token, {:.1f} MB in {}", about["tokens"], about["documents"], each,
           made.ids.nbytes / 1000000.0, out)
    )  # fmt: skip


def _sample(files: list[Path]) -> Iterator[str]:
    """The texts, up to as many characters as a tokenizer needs; no more are kept in memory."""
    room = SAMPLE
    for file in files:
        for piece in read_pieces(file):
            yield piece[:room]
            room -= len(piece)
            if room <= 0:
                echo(tr("the tokenizer is made from the first {:,} characters", SAMPLE))
                return
