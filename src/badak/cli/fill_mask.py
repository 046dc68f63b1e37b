"""badak fill-mask RUN SENTENCE"""

import click

from badak.cli.options import PLACE
from badak.cli.output import bar
from badak.core.errors import tr
from badak.generation.text import fill_sentence
from badak.training.load import open_filler


@click.command()
@click.argument("run", type=PLACE)
@click.argument("sentence")
@click.option("--top", default=5, show_default=True, type=click.IntRange(1), help="number of words to list")
def command(run: str, sentence: str, top: int) -> None:
    """Predict the words behind each [MASK] in SENTENCE.

    RUN is a run of badak train bert, or a Hugging Face folder.
    """
    trained = open_filler(run)
    filled, rankings = fill_sentence(trained.model, trained.vocabulary, sentence, top)
    click.echo(filled)
    for number, ranking in enumerate(rankings, start=1):
        click.echo(tr("\n  [MASK] {}", number) if len(rankings) > 1 else "")
        width = max(len(word) for word, _ in ranking)
        for word, chance in ranking:
            click.echo(f"  {word:<{width}}  {chance:7.2%}  {bar(chance)}".rstrip())
