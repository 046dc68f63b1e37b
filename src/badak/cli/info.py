"""badak info"""

import click


@click.command()
def command() -> None:
    """Say which kernels, BLAS, threads and versions are in use."""
    import badak

    click.echo(badak.info())
