"""badak run"""

import os

import click

from badak.cli.output import echo
from badak.core.i18n import say, tr

OPTIONS = {"ignore_unknown_options": True, "allow_interspersed_args": False}


@click.command(context_settings=OPTIONS)
@click.option("-m", "module", is_flag=True, help="PROGRAM is a module name, as in python -m.")
@click.option("--check", is_flag=True, help="list the torch names it uses, available and missing, without running it")
@click.argument("program")
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def command(module: bool, check: bool, program: str, arguments: tuple[str, ...]) -> int:
    """Run a PyTorch program unchanged: `import torch` gives badak."""
    if check:
        return show(program)
    from badak.compat.torch.run import run

    return run(program, list(arguments), module)


def show(program: str) -> int:
    """Print what the program uses that badak does not have; 1 if it needs some of it, else 0."""
    from badak.compat.torch.check import check, methods

    uses = check(program)
    missing = [use for use in uses if use.missing]
    needed = [use for use in missing if not use.tried]
    echo(tr("{}: {} names of torch, {} are there", program, len(uses), len(uses) - len(missing)))
    for use in sorted(missing, key=lambda use: (use.path, use.line)):
        note = say(" (in a try)") if use.tried else ""
        click.echo(f"  {say('missing')}   {use.missing}  {place(use)}{note}" + (f": {say(use.instead)}" if use.instead else ""))
    for use in methods(program):
        echo(tr("  perhaps   {}  {}: missing if it is called on a tensor", use.name, place(use)))
    return 1 if needed else 0


def place(use) -> str:
    """The file and line of a use, seen from here."""
    return f"{os.path.relpath(use.path)}:{use.line}"
