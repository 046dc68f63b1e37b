"""badak floor NAME"""

import sys

import click

from badak.inspect.introspection.floor import floor_of


@click.command()
@click.argument("name")
@click.option("--show", is_flag=True, help="print the code itself, floor by floor; in colours where pygments is installed")
def command(name: str, show: bool) -> None:
    """Say where the public NAME is written on each floor of badak, as paths with lines.

    The face that programs call, the operation with its forward and backward, the plain kernel that says what it means, the fast
    one, its derivation and its row of tests. NAME is written as in a program: softmax, F.gelu, nn.LayerNorm, optim.AdamW,
    Tensor.sum.
    """
    found = floor_of(name)
    click.echo(found.show(colour=sys.stdout.isatty()) if show else str(found))
