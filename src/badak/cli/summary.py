"""badak summary RUN|FOLDER|SCRIPT"""

from pathlib import Path

import click

from badak.cli.options import PLACE, no_arguments
from badak.core.errors import FileError, tr
from badak.inspect.introspection.summary import Summary, summary


@click.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.option("--depth", type=click.IntRange(0), help="levels of modules to list [default: all]", metavar="N")
@click.option("-m", "module", is_flag=True, help="TARGET is a module name, as in python -m.")
@click.argument("target", metavar="RUN|FOLDER|SCRIPT", type=PLACE)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def command(depth: int | None, module: bool, target: str, arguments: tuple[str, ...]) -> None:
    """Show the modules of a model with shapes, parameters, FLOPs and training memory.

    RUN is a folder of badak train, FOLDER a Hugging Face folder, SCRIPT an unchanged PyTorch program; it runs with its
    ARGUMENTS, as under badak run, until it calls its first model.
    """
    click.echo(found(target, list(arguments), module).table(depth))


def found(target: str, arguments: list[str], module: bool) -> Summary:
    """The summary of what the target leads to."""
    path = Path(target)
    if module or path.is_file() or (path / "__main__.py").is_file():
        from badak.compat.torch.first_call import first_call

        call = first_call(target, arguments, module)
        return summary(call.model, *call.args, **call.kwargs)
    if not path.is_dir():
        raise FileError(tr("{}: no such file or folder", target), "badak summary RUN, or badak summary train.py")
    no_arguments("summary", target, arguments)
    from badak.training.run import CONFIG, Run

    try:
        Run.open(path)
    except FileError:
        if not (path / CONFIG).is_file() or not list(path.glob("*.safetensors*")):
            raise
        return of_pretrained(path)
    return of_run(path)


def of_run(folder: Path) -> Summary:
    """Of a run: its model, with the next batch of its training."""
    from badak.training.build import resume
    from badak.training.train_state import TrainState

    run, experiment = resume(folder)
    learner = TrainState(experiment, run.setup.train)
    inputs, _ = experiment.prepare(learner.next_batch())
    return summary(experiment.model, *inputs)


def of_pretrained(folder: Path) -> Summary:
    """Of a folder of Hugging Face: its model, with one text as long as it reads, of 128 tokens at most."""
    import badak
    from badak.models import from_pretrained

    model = from_pretrained(str(folder))
    length = min(128, getattr(model.config, "context", 128))
    return summary(model, badak.ones(1, length, dtype=badak.long))
