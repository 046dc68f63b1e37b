"""badak info [RUN]"""

import platform

import click
import numpy

import badak
from badak.cli.options import PLACE
from badak.cli.output import show_facts


@click.command()
@click.argument("run", type=PLACE, required=False)
def command(run: str | None) -> None:
    """Show kernels, CPU instructions, threads and versions in use, or the contents of the folder RUN.

    For a run of badak train: model, data, settings, progress and best evaluation. All its files are checked.
    """
    facts = about_machine() if run is None else about_run(run)
    show_facts({name.replace("_", " "): value for name, value in facts.items()})


def about_machine() -> dict[str, str]:
    """What computes here."""
    return {
        "badak": badak.__version__,
        "python": f"{platform.python_version()} on {platform.system()} {platform.machine()}",
        "numpy": numpy.__version__,
        **badak.info(),
    }


def about_run(folder: str) -> dict[str, str]:
    """What a run folder holds."""
    from badak.training.describe import describe  # needs all that training needs

    return describe(folder)
