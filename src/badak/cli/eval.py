"""badak eval RUN"""

import click

from badak.cli.options import PLACE
from badak.cli.output import echo
from badak.core.i18n import columns, padded, say
from badak.io.errors import line
from badak.training.confusion import Confusion
from badak.training.ranks import Ranks
from badak.training.testing import evaluate

MATRIX = 12  # classes whose matrix is shown; of more the commonest mistakes


@click.command()
@click.argument("run", type=PLACE)
@click.option("--data", type=PLACE, default="", metavar="PATH",
              help="evaluate on all of this file or folder [default: the data the run held out]")  # fmt: skip
def command(run: str, data: str) -> None:
    """Evaluate the model in RUN (from badak train): loss, accuracy, perplexity or BLEU, as a table.

    Classifiers also get precision, recall and F1 per class, and a confusion matrix.

    badak launch -n 4 eval RUN splits the work over four ranks and gives the same bits.
    """
    ranks = Ranks()
    found = evaluate(run, data, lambda words: echo(words, err=True))
    if not ranks.leads:
        return
    if ranks.size > 1:
        found.facts["ranks"] = str(ranks.size)
    rows = [(say(name), value) for name, value in found.facts.items()]
    width = max(columns(name) for name, _ in rows)
    for name, value in rows:
        click.echo(f"{padded(name, width)}  {say(value)}")
    if found.confusion is not None:
        show_classes(found.confusion)
        never = found.confusion.never()
        if never:
            echo(f"warning: {never}", err=True)


def show_classes(confusion: Confusion) -> None:
    """Print precision, recall and F1 of each class, and the matrix, or the commonest mistakes of many classes."""
    figures = (confusion.precision, confusion.recall, confusion.f1)
    names, support = [line(name, 30) for name in confusion.names], confusion.support
    rows = [[name, *(f"{figure[at]:.4f}" for figure in figures), f"{support[at]:,}"] for at, name in enumerate(names)]
    mean = [say("macro mean"), *(f"{confusion.macro(figure):.4f}" for figure in figures), f"{support.sum():,}"]
    click.echo()
    show_table([say("class"), say("precision"), say("recall"), "F1", say("examples")], [*rows, mean])
    click.echo()
    if len(names) <= MATRIX:
        matrix = [[name, *map("{:,}".format, counts)] for name, counts in zip(names, confusion.counts.tolist())]
        show_table([say("is, below; predicted, right"), *names], matrix)
        return
    mistakes = confusion.mistakes()
    echo("the commonest mistakes:" if mistakes else "no mistake")
    for name, other, count in mistakes:
        echo(f"  {line(name, 30)} taken for {line(other, 30)}: {count:,}")


def show_table(head: list[str], rows: list[list[str]]) -> None:
    """Print rows under a head, the first column to the left, the others to the right."""
    widths = [max(map(columns, column)) for column in zip(head, *rows)]
    for row in [head, *rows]:
        first, *others = (padded(text, width, at > 0) for at, (text, width) in enumerate(zip(row, widths)))
        click.echo("  ".join([first, *others]).rstrip())
