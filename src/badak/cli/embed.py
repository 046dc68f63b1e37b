"""badak embed MODEL TEXT... [--search QUERY] [-o FILE]"""

from pathlib import Path

import click
import numpy as np

from badak.cli.options import PLACE
from badak.cli.output import echo
from badak.data.files import read_text, text_files
from badak.errors import ArgumentError
from badak.generate.embed import TextEncoder, cosines, nearest, passages
from badak.io.atomic import write_file
from badak.nn.answering import quantize
from badak.train.session import PRECISIONS

WIDTH = 100  # characters of a found text that are shown


@click.command()
@click.argument("model", type=PLACE)
@click.argument("texts", nargs=-1)
@click.option("--in", "files", type=PLACE, multiple=True, metavar="PATH", help="a text file or a folder of them, by paragraphs")
@click.option("--search", metavar="QUERY", help="show the texts that are nearest to this one in meaning")
@click.option("--top", default=5, show_default=True, type=click.IntRange(1), help="how many to show")
@click.option("--precision", type=click.Choice(list(PRECISIONS)), default="float32", show_default=True,
              help="numbers of the Linear weights: bf16 and int8 are faster and less exact")
@click.option("-o", "--out", type=PLACE, metavar="FILE", help="write the vectors (texts, width) as a .npy file")
def command(
    model: str, texts: tuple[str, ...], files: tuple[str, ...], search: str | None, top: int, precision: str, out: str | None
) -> None:
    """Turn TEXTS into vectors with MODEL, a folder of sentence-transformers or its name on the Hub: near in meaning, near in space.

    Without --search and -o, two texts or more are compared with each other.
    """
    named = [(text, text) for text in texts]
    named += [one for path in text_files(files)[0] for one in passages(path, read_text(path))]
    if not named:
        raise ArgumentError("no text", "badak embed MODEL 'a text', or --in FOLDER")
    encoder = TextEncoder.load(model)
    if precision != "float32":
        quantize(encoder.model, PRECISIONS[precision])
    vectors = encoder.encode([text for _, text in named])
    if out is not None:
        write_file(Path(out), lambda file: np.save(file, vectors))
        echo(f"{len(vectors):,} vectors of {vectors.shape[1]} numbers in {out}")
    if search is not None:
        for row, cosine in nearest(encoder.encode([search])[0], vectors, top):
            where, text = named[row]
            click.echo(f"{cosine:6.3f}  {where}" if where == text else f"{cosine:6.3f}  {where}  {text[:WIDTH]}")
    elif out is None:
        for (where, _), row in zip(named, cosines(vectors, vectors)):
            click.echo("  ".join(f"{cosine:6.3f}" for cosine in row) + f"  {where[:WIDTH]}")
