"""badak doctor TRAIN.py"""

from pathlib import Path

import click

from badak.cli.options import PLACE
from badak.core.errors import ArgumentError, FileError
from badak.io.atomic import write_file


@click.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.option(
    "--steps",
    type=click.IntRange(1),
    help="calls of optimizer.step() that are watched, or repeats of the first one; default 20, with --overfit 100",
)
@click.option("--overfit", is_flag=True, help="repeat the first step instead: can one batch be learned by heart?")
@click.option("--continue", "go_on", is_flag=True, help="let the program run to its end; else it ends when the steps are over")
@click.option("--html", type=PLACE, metavar="FILE", help="write the report as a page, too")
@click.option("-m", "module", is_flag=True, help="PROGRAM is the name of a module, as in python -m.")
@click.argument("program", metavar="TRAIN.py")
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def command(
    steps: int | None, overfit: bool, go_on: bool, html: str | None, module: bool, program: str, arguments: tuple[str, ...]
) -> int:
    """Watch the first steps of a training and say what is wrong with it, with file and line, number and fix.

    TRAIN.py is a PyTorch program (ARGUMENTS are its own), which runs unchanged, as under badak run. What it prints goes to stderr.
    Options of badak stand before TRAIN.py. docs/doctor.md lists what is looked for.

    With --overfit the program ends at its first step, which is then made again and again, with the same batch and no dropout.

    The exit code is 1 where something was found, else 0.
    """
    if not module and not Path(program).is_file():
        raise FileError(f"{program}: no such file", "badak doctor TRAIN.py, a program that trains")
    if overfit:
        from badak.inspect.doctor.overfit import overfitted

        if go_on:
            raise ArgumentError("--continue is for watching; --overfit ends the program at its first step", "one of the two")
        report = overfitted(program, list(arguments), module, steps or 100)
    else:
        from badak.inspect.doctor.program import examined

        report = examined(program, list(arguments), module, steps or 20, go_on)
    click.echo(str(report))
    if html is not None:
        page = report.to_html().encode()
        write_file(html, lambda file: file.write(page))
    return 0 if report.ok else 1
