"""badak generate RUN --prompt TEXT"""

from typing import Any

import click

from badak.cli.options import PLACE, SectionedCommand, given, options_of
from badak.generate.filters import SampleConfig
from badak.generate.text import write_on
from badak.train.session import PRECISIONS, open_model

DEFAULTS = SampleConfig()


def run_generate(run: str, prompt: str, precision: str, **values: Any) -> None:
    """Print the prompt and what the model writes after it, as it comes."""
    trained, config = open_model(run, "gpt", precision), SampleConfig(**given(DEFAULTS, values))
    for piece in write_on(trained.model, trained.vocabulary, prompt, config, trained.eos):
        click.echo(piece, nl=False)
    click.echo()


command = SectionedCommand(
    "generate",
    params=[
        click.Argument(["run"], type=PLACE),
        click.Option(["--prompt"], default="", metavar="TEXT", help="what the text begins with"),
        click.Option(
            ["--precision"],
            type=click.Choice(list(PRECISIONS)),
            default="float32",
            show_default=True,
            help="numbers of the weights; bf16 takes half of the memory, int8 a quarter in Linear layers",
        ),
        *options_of(DEFAULTS, "Choice of the next token"),
    ],
    callback=run_generate,
    help="Write on from --prompt with the model of the folder RUN (from badak train gpt).",
)
