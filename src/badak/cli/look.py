"""badak look RUN|FOLDER|SCRIPT [TEXT|PICTURE]"""

from pathlib import Path

import click

from badak.cli.options import PLACE
from badak.core.errors import ArgumentError
from badak.core.i18n import say, tr
from badak.inspect.visualize import Look

EXAMPLES = {
    'badak look my-run "To be or not"': tr("a run of badak train gpt"),
    'badak look my-run "Great minds [MASK] alike."': tr("a run of badak train bert"),
    'badak look my-run "I liked it"': tr("a run of badak train text"),
    'badak look my-run "ein hund rennt"': tr("a run of badak train translate"),
    "badak look my-run digit.png --label 7": tr("a run of badak train classify"),
    'badak look gpt2 "The cat sat"': tr("a Hugging Face folder"),
    "badak look vit cat.png": tr("a model built by transformers, run by badak"),
    "badak look train.py -- --epochs 3": tr("a PyTorch program and its arguments"),
}


class WithExamples(click.Command):
    """A command whose --help ends with examples."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Examples"):
            formatter.write_dl([(example, say(EXAMPLES[example])) for example in EXAMPLES], col_max=50)


@click.command(cls=WithExamples)
@click.option("-o", "--output", type=PLACE, default="look.html", show_default=True, metavar="FILE", help="output file")
@click.option("--target", metavar="TEXT", help="translation models: the translation to show [default: the model's own]")
@click.option("--label", metavar="CLASS", help="classifiers: the correct class; the backward starts from its loss")
@click.option(
    "--tokens", type=click.IntRange(1), default=64, show_default=True, metavar="N", help="maximum number of tokens to show"
)
@click.option(
    "--place", type=click.IntRange(0), metavar="N", help="position (from 0) of the token whose values each operation shows"
)
@click.option("-m", "module", is_flag=True, help="RUN is a module name, as in python -m.")
@click.argument("run", metavar="RUN|FOLDER|SCRIPT", type=PLACE)
@click.argument("what", metavar="[TEXT|PICTURE]", nargs=-1)
def command(
    output: str,
    target: str | None,
    label: str | None,
    tokens: int,
    place: int | None,
    module: bool,
    run: str,
    what: tuple[str, ...],
) -> None:
    """Write an HTML page that shows what happens inside a model.

    The page shows the attention of every head, what each layer adds, the prediction after each layer, the top predictions,
    gradients, and for each operation its formula, values, backward and code.

    For a run without TEXT or PICTURE, it shows the next training example. A program runs unchanged, as under badak run, until
    it calls its first model; the page shows that model with that batch.
    """
    seen = looked(run, what, module, {"target": target, "label": label}, tokens, place)
    seen.save(output)
    for word in seen.record["words"]:
        click.echo(say(word["text"]), err=True)
    click.echo(say("{} shows {}: open it in a browser", output, seen.record["title"]))


def looked(run: str, what: tuple[str, ...], module: bool, asked: dict[str, str | None], most: int, place: int | None) -> Look:
    """The look at what the arguments lead to. asked: what is known of the right answer."""
    path = Path(run)
    if module or path.is_file() or (path / "__main__.py").is_file():
        from badak.compat.torch.first_call import first_call
        from badak.inspect.visualize import look

        given = next((name for name, value in asked.items() if value is not None), None)
        if given is not None:
            raise ArgumentError(tr("--{} is for runs and folders; {} is a program", given, run), "leave it out")
        call = first_call(run, list(what), module)
        return look(call.model, (call.args, call.kwargs), title=f"{path.name}: {type(call.model).__name__}", most=most, place=place)
    if len(what) > 1:
        cause = tr("one text is looked at; got {}: {}", len(what), " ".join(what)[:60])
        raise ArgumentError(cause, 'badak look RUN "the whole text in quotes"')
    from badak.inspect.visualize.sources import look_at_run

    return look_at_run(run, what[0] if what else None, **asked, most=most, place=place)
