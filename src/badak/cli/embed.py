"""badak embed MODEL TEXT... [--in PATH] [--by lines] [--save DIR | --index DIR] [--search QUERY] [-o FILE]"""

from pathlib import Path

import click
import numpy as np
from tqdm import tqdm

from badak.cli.options import PLACE
from badak.cli.output import echo
from badak.core.errors import ArgumentError, tr
from badak.data.files import read_text, text_files
from badak.generation.embed import TextEncoder, cosines, lines, passages
from badak.generation.index import Index, expect_free
from badak.io.atomic import write_file
from badak.nn.quantization import quantize
from badak.training.build import PRECISIONS
from badak.training.load import load_text_encoder

WIDTH = 100  # characters of a found text that are shown
MOST = 100  # texts that are compared with each other
BY = {"passages": passages, "lines": lines}


@click.command()
@click.argument("model", type=PLACE)
@click.argument("texts", nargs=-1)
@click.option("--in", "files", type=PLACE, multiple=True, metavar="PATH", help="text file, or folder of text files")
@click.option(
    "--by",
    type=click.Choice(list(BY)),
    default="passages",
    show_default=True,
    help="split files into passages at empty lines, or into lines",
)
@click.option("--save", type=PLACE, metavar="DIR", help="save texts and vectors in this folder, for --index")
@click.option("--index", type=PLACE, metavar="DIR", help="search in a folder written by --save")
@click.option("--search", metavar="QUERY", help="show the texts closest in meaning to this one")
@click.option("--top", default=5, show_default=True, type=click.IntRange(1), help="number of results")
@click.option(
    "--precision",
    type=click.Choice(list(PRECISIONS)),
    help="precision of the Linear weights: bf16 and int8 are faster and less exact  [default float32, or the index's]",
)
@click.option("-o", "--out", type=PLACE, metavar="FILE", help="write the vectors, shape (texts, width), to a .npy file")
def command(
    model: str, texts: tuple[str, ...], files: tuple[str, ...], by: str, save: str | None, index: str | None, search: str | None,
    top: int, precision: str | None, out: str | None,
) -> None:  # fmt: skip
    """Embed TEXTS as vectors with MODEL, a sentence-transformers folder or Hub name. Similar meanings give nearby vectors.

    Without --search, --save and -o, compare two or more texts with each other.
    """
    if index is not None and (texts or files or save or out or search is None):
        raise ArgumentError("--index takes --search, and no texts", "badak embed MODEL --index DIR --search QUERY")
    named = [(text, text) for text in texts]
    named += [one for path in text_files(files)[0] for one in BY[by](path, read_text(path))]
    if index is None and not named:
        raise ArgumentError("no text", "badak embed MODEL 'a text', or --in FOLDER")
    if index is None and search is None and save is None and out is None and len(named) > MOST:
        cause = tr("{:,} texts are too many to show each next to each", len(named))
        raise ArgumentError(cause, "--search QUERY, --save DIR or -o FILE")
    if save is not None:
        expect_free(Path(save))
    encoder = load_text_encoder(model)
    print_of = encoder.fingerprint() if save is not None or index is not None else ""
    known = Index.load(index, print_of) if index is not None else None
    precision = chosen(index, known, precision)
    if precision != "float32":
        quantize(encoder.model, PRECISIONS[precision])
    if known is None:
        vectors = encode(encoder, named, by)
        known = Index([where for where, _ in named], [text for _, text in named], vectors, print_of, precision)
    if out is not None:
        write_file(Path(out), lambda file: np.save(file, known.vectors))
        echo(tr("{:,} vectors of {} numbers in {}", len(known.vectors), known.vectors.shape[1], out))
    if save is not None:
        known.save(save)
        echo(
            tr("{:,} texts in {}; search in them: badak embed {} --index {} --search QUERY", len(known.vectors), save, model, save)
        )
    if search is not None:
        for where, text, cosine in known.search(query_of(encoder, search), top):
            click.echo(f"{cosine:6.3f}  {where}" if where == text else f"{cosine:6.3f}  {where}  {text[:WIDTH]}")
    elif out is None and save is None:
        for (where, _), row in zip(named, cosines(known.vectors, known.vectors)):
            click.echo("  ".join(f"{cosine:6.3f}" for cosine in row) + f"  {where[:WIDTH]}")


def chosen(index: str | None, known: Index | None, precision: str | None) -> str:
    """The precision to encode with: an index is searched with the one that it was made with."""
    if known is None:
        return precision or "float32"
    if known.precision not in PRECISIONS or precision not in (None, known.precision):
        raise ArgumentError(tr("{}: made with --precision {}", index, known.precision), "leave out --precision, or make it again")
    return known.precision


def encode(encoder: TextEncoder, named: list[tuple[str, str]], by: str) -> np.ndarray:
    """The vectors of texts, with a bar on a terminal, and a word on those whose ends were not read."""
    cut: list[tuple[int, int]] = []
    with tqdm(total=len(named), unit=" texts", leave=False, disable=None, dynamic_ncols=True) as bar:
        vectors = encoder.encode([text for _, text in named], cut=lambda i, tokens: cut.append((i, tokens)), done=bar.update)
    if cut:
        first, tokens = cut[0]
        echo(
            tr("{:,} of {:,} texts have more than the {:,} tokens that the model reads; "
               "{} is the first, with {:,}: their ends are in no vector", len(cut), len(named), encoder.length,
               named[first][0][:WIDTH], tokens)
            + (" (--by lines takes each line for itself)" if by == "passages" else ""),
            err=True,
        )  # fmt: skip
    return vectors


def query_of(encoder: TextEncoder, search: str) -> np.ndarray:
    """The vector of what is looked for."""

    def tell(i: int, tokens: int) -> None:
        echo(tr("the query has {:,} tokens, the model reads {:,} of them", tokens, encoder.length), err=True)

    return encoder.encode([search], cut=tell)[0]
