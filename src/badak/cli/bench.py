"""badak bench, badak bench serve MODEL"""

import json
import math

import click

from badak.cli import Group
from badak.cli.options import PLACE, precision_option
from badak.cli.output import echo
from badak.core.errors import ArgumentError, tr
from badak.inspect.profiling.contest import TASKS, Standing, compete, libraries
from badak.inspect.profiling.machine import describe, peak_mb
from badak.inspect.profiling.serving import measure, served
from badak.io.atomic import write_file


@click.group(cls=Group, invoke_without_command=True)
@click.option("--threads", default=None, type=click.IntRange(1), help="threads per library  [default: all cores]")
@click.option("--rounds", default=3, show_default=True, type=click.IntRange(1), help="rounds per library")
@click.option("--secs", default=1.5, show_default=True, type=click.FloatRange(0), help="seconds per round")
@click.option("--json", "path", type=PLACE, metavar="FILE", help="also write the figures to this file")
@click.pass_context
def command(context: click.Context, threads: int | None, rounds: int, secs: float, path: str | None) -> None:
    """Measure training steps on this machine, next to PyTorch if it is installed. Takes about two minutes.

    Both libraries run the same model with the same weights in two processes, interleaved.
    """
    if context.invoked_subcommand is not None:
        return
    if path:
        write_file(path, lambda file: None)  # before two minutes are spent
    if math.isnan(secs) or math.isinf(secs):
        raise ArgumentError(tr("bench: expected a number of seconds; got --secs {}", secs), "--secs 1.5")
    facts = describe(threads)
    click.echo(", ".join(f"{name} {fact}" for name, fact in facts.items()))
    echo(tr("{:<36}{:>10}{:>12}{:>8}{:>8}  same result", "one step of", "badak ms", "PyTorch ms", "ratio", "spread"))
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


@command.command("serve")
@click.argument("model", type=PLACE)
@click.option("--streams", default="1,4,16", show_default=True, metavar="N,N", help="numbers of clients that ask at once")
@click.option("--prompt-tokens", default=64, show_default=True, type=click.IntRange(1), help="length of each prompt")
@click.option("--tokens", default=64, show_default=True, type=click.IntRange(1), help="length of each answer")
def serve(model: str, streams: str, prompt_tokens: int, tokens: int, precision: str) -> None:
    """Measure how fast badak serve answers with MODEL: tokens per second of all clients, time to the first token, and memory."""
    try:
        counts = [int(one) for one in streams.split(",")]
    except ValueError:
        counts = [0]
    if min(counts) < 1:
        raise ArgumentError(tr("bench serve: expected numbers of clients; got --streams {}", streams[:60]), "--streams 1,4,16")
    click.echo(", ".join(f"{name} {fact}" for name, fact in describe(None).items()))
    echo(tr("{:>8}{:>11}{:>22}{:>10}{:>8}  same texts", "clients", "tokens/s", "first token, median", "worst", "MiB"))
    known: tuple[str, ...] = ()
    with served(model, "--precision", precision, "--streams", str(max(counts)), "--queue", str(max(counts))) as (port, process):
        measure(port, 1, prompt_tokens, min(tokens, 4))  # kernels are compiled
        for count in counts:
            load = measure(port, count, prompt_tokens, tokens)
            same = all(one == other for one, other in zip(known, load.texts))
            known = max(known, load.texts, key=len)
            click.echo(
                tr("{:>8}{:>11.1f}{:>19.0f} ms{:>7.0f} ms{:>8.0f}  {}", count, load.tokens_per_second, 1000.0 * load.first_median,
                   1000.0 * load.first_worst, peak_mb(process), "yes" if same else "NO")
            )  # fmt: skip
            if not same:
                raise click.exceptions.Exit(1)


serve.params.append(precision_option())
