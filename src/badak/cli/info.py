"""badak info"""

import platform

import click
import numpy

import badak


@click.command()
def command() -> None:
    """Say which kernels, instructions, threads and versions are in use."""
    facts = {
        "badak": badak.__version__,
        "python": f"{platform.python_version()} on {platform.system()} {platform.machine()}",
        "numpy": numpy.__version__,
        **badak.info(),
    }
    width = max(map(len, facts))
    for name, value in facts.items():
        click.echo(f"{name.replace('_', ' '):<{width}}  {value}")
