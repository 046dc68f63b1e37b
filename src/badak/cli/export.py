"""badak export RUN OUT"""

import click

from badak.cli.options import PLACE
from badak.cli.output import echo
from badak.training.export import DTYPES, export


@click.command()
@click.argument("run", type=PLACE)
@click.argument("out", type=PLACE)
@click.option("--dtype", type=click.Choice(list(DTYPES)), default="float32", show_default=True, help="precision of the weights")
def command(run: str, out: str, dtype: str) -> None:
    """Export the model in RUN (from badak train) to the new folder OUT, in Hugging Face format.

    Writes weights, config, tokenizer, generation config and a README.md. Existing files are never overwritten.
    """
    architecture = export(run, out, dtype)
    echo(f"{out}: {architecture}, for transformers and badak; README.md says what it is, its licence is yours to choose")
