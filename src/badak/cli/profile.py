"""badak profile SCRIPT|RUN"""

from pathlib import Path

import click

from badak import kernels
from badak.cli.options import PLACE, no_arguments
from badak.cli.output import echo
from badak.core.errors import ArgumentError, tr
from badak.inspect.profiling.profiled import profile_of
from badak.inspect.profiling.report import table


@click.command(context_settings={"ignore_unknown_options": True})
@click.argument("target", metavar="SCRIPT|RUN", type=PLACE)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
@click.option("--steps", default=20, show_default=True, help="optimizer steps to measure", type=click.IntRange(1))
@click.option("--skip", default=3, show_default=True, help="warmup steps before them", type=click.IntRange(0))
@click.option("--as-torch", is_flag=True, help="let `import torch` in the script give badak")
def command(target: str, arguments: tuple[str, ...], steps: int, skip: int, as_torch: bool) -> None:
    """Show where the time of a training step goes, by operation.

    SCRIPT is a Python file that trains with badak; it gets ARGUMENTS. RUN is a folder of badak train; it is not changed.
    """
    if Path(target).is_dir():
        no_arguments("profile", target, arguments)
    if as_torch:
        import badak.as_torch  # noqa: F401
    profile = profile_of(target, list(arguments), steps, skip, echo)
    if profile.steps == 0:
        cause = tr("{}: ended after {} steps, and the first {} are left out", target, profile.skipped, skip)
        raise ArgumentError(cause, "--skip 0 measures all")
    echo(tr("mean of {} steps, {} kernels; milliseconds, calls and bytes of one step", profile.steps, kernels.info()["kernels"]))
    click.echo("\n".join(table(profile)))
