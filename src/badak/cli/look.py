"""badak look RUN|FOLDER|SCRIPT [TEXT|PICTURE]"""

from pathlib import Path

import click

from badak.cli.options import PLACE
from badak.core.errors import ArgumentError
from badak.core.i18n import say
from badak.inspect.visualize import Look

EXAMPLES = {
    'badak look my-run "To be or not"': "a run of badak train gpt",
    'badak look my-run "Great minds [MASK] alike."': "a run of badak train bert",
    'badak look my-run "I liked it"': "a run of badak train text",
    'badak look my-run "ein hund rennt"': "a run of badak train translate",
    "badak look my-run digit.png --label 7": "a run of badak train classify",
    'badak look gpt2 "The cat sat"': "a folder of Hugging Face",
    "badak look vit cat.png": "a folder of another family: transformers builds it, badak runs it",
    "badak look train.py -- --epochs 3": "a PyTorch program and its arguments",
}


class WithExamples(click.Command):
    """A command whose --help ends with examples."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Examples"):
            formatter.write_dl([(example, say(EXAMPLES[example])) for example in EXAMPLES], col_max=50)


@click.command(cls=WithExamples)
@click.option("-o", "--output", type=PLACE, default="look.html", show_default=True, metavar="FILE", help="where the page goes")
@click.option("--target", metavar="TEXT", help="for a translator: the translation to look at; its own unless given")
@click.option("--label", metavar="CLASS", help="for a classifier: the right class; the backward begins from its loss")
@click.option("--tokens", type=click.IntRange(1), default=64, show_default=True, metavar="N", help="most tokens that are shown")
@click.option("--place", type=click.IntRange(0), metavar="N", help="the token, from 0, whose numbers each operation shows")
@click.option("-m", "module", is_flag=True, help="RUN is the name of a module, as in python -m.")
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
    """Write a page that shows what happens inside a model: open it with a double click.

    It shows where every head looks, what each part adds, what the model would say after each layer, the likeliest answers, the
    gradients, and under each operation its formula, its numbers, its backward and its code.

    Of a run without TEXT or PICTURE it shows the next row of the training data. A program runs unchanged, as under badak run, until
    its first model is called; that model is shown, with that batch.
    """
    seen = looked(run, what, module, {"target": target, "label": label}, tokens, place)
    seen.save(output)
    for word in seen.record["words"]:
        click.echo(say(word["text"]), err=True)
    click.echo(say(f"{output} shows {seen.record['title']}: open it in a browser"))


def looked(run: str, what: tuple[str, ...], module: bool, asked: dict[str, str | None], most: int, place: int | None) -> Look:
    """The look at what the arguments lead to. asked: what is known of the right answer."""
    path = Path(run)
    if module or path.is_file() or (path / "__main__.py").is_file():
        from badak.compat.torch.first_call import first_call
        from badak.inspect.visualize import look

        given = next((name for name, value in asked.items() if value is not None), None)
        if given is not None:
            raise ArgumentError(f"--{given} is for runs and folders; {run} is a program", "leave it out")
        call = first_call(run, list(what), module)
        return look(
            call.model,
            (call.args, call.kwargs),
            title=f"{path.name}: {type(call.model).__name__}",
            most=most,
            place=place,
        )
    if len(what) > 1:
        raise ArgumentError(
            f"one text is looked at; got {len(what)}: {' '.join(what)[:60]}",
            'badak look RUN "the whole text in quotes"',
        )
    from badak.inspect.visualize.sources import look_at_run

    return look_at_run(run, what[0] if what else None, **asked, most=most, place=place)
