"""badak source NAME"""

import sys

import click

from badak.inspect.introspection.sources import source_of


@click.command()
@click.argument("name")
@click.option("--show", is_flag=True, help="print the code itself, layer by layer; in colours where pygments is installed")
def command(name: str, show: bool) -> None:
    """Show where the public NAME is written in each layer of badak, as paths with lines.

    The API that programs call, the operation with its forward and backward, the plain kernel that says what it means, the fast
    one, its derivation and its row of tests. NAME is written as in a program: softmax, F.gelu, nn.LayerNorm, optim.AdamW,
    Tensor.sum.
    """
    found = source_of(name)
    click.echo(found.show(colour=sys.stdout.isatty()) if show else str(found))
