"""badak warmup"""

import click
from tqdm import tqdm

from badak import kernels
from badak.cli.output import echo
from badak.core.errors import tr


@click.command()
def command() -> None:
    """Compile all Numba kernels now, so that later runs start at once."""
    if kernels.info()["kernels"] == "reference":
        echo("the reference kernels need no compiling; those of Numba come with: pip install 'badak[fast]'")
        return
    from badak.kernels.numba import warmup

    with tqdm(unit=" kernels", disable=None, leave=False) as bar:
        seconds = warmup(lambda done, total, name: show(bar, done, total, name))
    echo(tr("all kernels are ready ({:.1f} s)", seconds))


def show(bar: tqdm, done: int, total: int, name: str) -> None:
    """Move the bar on to `done` of `total`."""
    bar.total = total
    bar.set_postfix_str(name, refresh=False)
    bar.update(done - bar.n)
