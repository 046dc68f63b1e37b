"""badak predict RUN PICTURE"""

import click

from badak.cli.options import PLACE
from badak.cli.output import bar
from badak.generate.picture import rank_classes, read_picture
from badak.train.session import open_model


@click.command()
@click.argument("run", type=PLACE)
@click.argument("picture", type=PLACE)
def command(run: str, picture: str) -> None:
    """Say which digit PICTURE shows, with the model of the folder RUN (from badak train classify).

    The picture may have any size and colours; dark ink on a bright ground is turned round.
    """
    ranking = rank_classes(open_model(run, "classify").model, read_picture(picture))
    click.echo(f"{picture}: {ranking[0][0]}\n")
    for digit, chance in ranking:
        click.echo(f"  {digit}  {chance:7.2%}  {bar(chance)}".rstrip())
