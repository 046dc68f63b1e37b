"""badak source NAME"""

import sys

import click

from badak.inspect.introspection.sources import source_of


@click.command()
@click.argument("name")
@click.option("--show", is_flag=True, help="print the source code of each layer (in color if pygments is installed)")
def command(name: str, show: bool) -> None:
    """Show the source of the public NAME in each layer of badak, as paths with line numbers.

    The layers are the API, the operation with its forward and backward, the reference kernel, the Numba kernel, the derivation
    and the tests. Write NAME as in a program: softmax, F.gelu, nn.LayerNorm, optim.AdamW, Tensor.sum.
    """
    found = source_of(name)
    click.echo(found.show(colour=sys.stdout.isatty()) if show else str(found))
