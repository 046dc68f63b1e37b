"""badak export RUN OUT"""

import click

from badak.cli.options import PLACE
from badak.cli.output import echo
from badak.training.export import DTYPES, export


@click.command()
@click.argument("run", type=PLACE)
@click.argument("out", type=PLACE)
@click.option("--dtype", type=click.Choice(list(DTYPES)), default="float32", show_default=True, help="numbers of the weights")
def command(run: str, out: str, dtype: str) -> None:
    """Write the model of RUN (from badak train) into the new folder OUT, as transformers and badak read it.

    Weights, settings, tokenizer, how it writes by default, and a README.md; nothing that is there already is written over.
    """
    architecture = export(run, out, dtype)
    echo(f"{out}: {architecture}, for transformers and badak; README.md says what it is, its licence is yours to choose")
