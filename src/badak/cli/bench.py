"""badak bench"""

import json
import math

import click

from badak.cli.options import PLACE
from badak.cli.output import echo
from badak.core.errors import ArgumentError
from badak.inspect.profiling.contest import TASKS, Standing, compete, libraries
from badak.inspect.profiling.machine import describe
from badak.io.atomic import write_file


@click.command()
@click.option("--threads", default=None, type=click.IntRange(1), help="threads per library  [default: all cores]")
@click.option("--rounds", default=3, show_default=True, type=click.IntRange(1), help="rounds per library")
@click.option("--secs", default=1.5, show_default=True, type=click.FloatRange(0), help="seconds per round")
@click.option("--json", "path", type=PLACE, metavar="FILE", help="also write the figures to this file")
def command(threads: int | None, rounds: int, secs: float, path: str | None) -> None:
    """Measure training steps on this machine, next to PyTorch if it is installed. Takes about two minutes.

    Both libraries run the same model with the same weights in two processes, interleaved.
    """
    if path:
        write_file(path, lambda file: None)  # before two minutes are spent
    if math.isnan(secs) or math.isinf(secs):
        raise ArgumentError(f"bench: expected a number of seconds; got --secs {secs}", "--secs 1.5")
    facts = describe(threads)
    click.echo(", ".join(f"{name} {fact}" for name, fact in facts.items()))
    echo(f"{'one step of':<36}{'badak ms':>10}{'PyTorch ms':>12}{'ratio':>8}{'spread':>8}  same result")
    found = []
    for task in TASKS:
        found.append(compete(task, facts["threads"], rounds, secs))
        click.echo(line_of(found[-1]))
    if libraries() == ["badak"]:
        echo("PyTorch is not installed, so badak ran alone")
    if path:
        rows = [{**vars(standing), "ratio": standing.ratio} for standing in found]
        text = json.dumps({"machine": facts, "tasks": rows}, indent=1) + "\n"
        write_file(path, lambda file: file.write(text.encode()))
    if not all(standing.agrees for standing in found):
        raise click.exceptions.Exit(1)


def line_of(standing: Standing) -> str:
    """One row of the table."""
    ours, theirs = standing.badak, standing.torch
    head = f"{standing.task:<36}{ours['ms']:>10.2f}"
    if theirs is None or standing.ratio is None:
        return f"{head}{'':>12}{'':>8}{ours['spread']:>8.0%}"
    spread = max(ours["spread"], theirs["spread"])
    verdict = f"yes ({standing.apart:.0e} apart)" if standing.agrees else f"NO ({standing.apart:.0e} apart)"
    return f"{head}{theirs['ms']:>12.2f}{standing.ratio:>8.2f}{spread:>8.0%}  {verdict}"
