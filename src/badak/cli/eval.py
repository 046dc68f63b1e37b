"""badak eval RUN"""

import click

from badak.cli.options import PLACE
from badak.cli.output import echo
from badak.language import columns, padded, say
from badak.train.ranks import Ranks
from badak.train.testing import evaluate


@click.command()
@click.argument("run", type=PLACE)
@click.option("--data", type=PLACE, default="", metavar="PATH",
              help="test with this file or folder, all of it; without it with what the run held out")  # fmt: skip
def command(run: str, data: str) -> None:
    """Test the model of RUN (from badak train) again: its loss, accuracy, perplexity or BLEU, as a table.

    badak launch -n 4 eval RUN shares the work among four ranks, and finds the same bits.
    """
    ranks = Ranks()
    facts = evaluate(run, data, lambda line: echo(line, err=True))
    if not ranks.leads:
        return
    if ranks.size > 1:
        facts["ranks"] = str(ranks.size)
    rows = [(say(name), value) for name, value in facts.items()]
    width = max(columns(name) for name, _ in rows)
    for name, value in rows:
        click.echo(f"{padded(name, width)}  {say(value)}")
