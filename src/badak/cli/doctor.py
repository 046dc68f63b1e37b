"""badak doctor TRAIN.py"""

from pathlib import Path

import click

from badak.cli.options import PLACE
from badak.cli.output import show_report
from badak.core.errors import ArgumentError, FileError, tr


@click.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.option(
    "--steps",
    type=click.IntRange(1),
    help="optimizer steps to watch, or repetitions with --overfit [default: 20, with --overfit 100]",
)
@click.option("--overfit", is_flag=True, help="repeat the first step: can the model overfit one batch?")
@click.option("--continue", "go_on", is_flag=True, help="let the program run to its end instead of stopping after --steps")
@click.option("--html", type=PLACE, metavar="FILE", help="also write the report as an HTML page")
@click.option("-m", "module", is_flag=True, help="PROGRAM is a module name, as in python -m.")
@click.argument("program", metavar="TRAIN.py")
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def command(
    steps: int | None, overfit: bool, go_on: bool, html: str | None, module: bool, program: str, arguments: tuple[str, ...]
) -> int:
    """Watch the first training steps and report mistakes, each with file, line, evidence and fix.

    TRAIN.py is an unchanged PyTorch program; it runs with its ARGUMENTS, as under badak run, and its output goes to stderr.
    Options of badak go before TRAIN.py. The documentation lists all checks.

    With --overfit the program stops at its first step; badak repeats that step on the same batch without dropout.

    Exit code: 1 if there are findings, 0 otherwise.
    """
    if not module and not Path(program).is_file():
        raise FileError(tr("{}: no such file", program), "badak doctor TRAIN.py, a program that trains")
    if overfit:
        from badak.inspect.doctor.overfit import overfitted

        if go_on:
            raise ArgumentError("--continue is for watching; --overfit ends the program at its first step", "one of the two")
        report = overfitted(program, list(arguments), module, steps or 100)
    else:
        from badak.inspect.doctor.program import examined

        report = examined(program, list(arguments), module, steps or 20, go_on)
    show_report(report, html)
    return 0 if report.ok else 1
