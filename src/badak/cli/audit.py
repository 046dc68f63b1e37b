"""badak audit RUN|SCRIPT"""

from pathlib import Path
from typing import Any

import click

from badak.cli.options import PLACE, no_arguments
from badak.cli.output import show_report
from badak.core.errors import FileError, tr
from badak.inspect.audit import Audit
from badak.inspect.audit.kind import KINDS


@click.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.option("--kind", type=click.Choice(KINDS), help="kind of model [default: detected]")
@click.option("--pad", type=click.IntRange(0), metavar="ID", help="padding token id [default: detected]")
@click.option(
    "--max-forward-passes",
    "forwards",
    type=click.IntRange(1),
    default=12,
    show_default=True,
    help="maximum number of forward passes",
)
@click.option("--html", type=PLACE, metavar="FILE", help="also write the report as an HTML page")
@click.option("-m", "module", is_flag=True, help="TARGET is a module name, as in python -m.")
@click.argument("target", metavar="RUN|SCRIPT", type=PLACE)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def command(
    kind: str | None, pad: int | None, forwards: int, html: str | None, module: bool, target: str, arguments: tuple[str, ...]
) -> int:
    """Find silent bugs: leakage from future tokens, padding or other rows, and parameters without gradients.

    RUN is a folder written by badak train. SCRIPT is an unchanged PyTorch program; it runs with its ARGUMENTS, as under badak
    run, until it calls its first model. badak then audits that model with that batch. Options of badak go before SCRIPT.

    Exit code: 1 if there are findings, 3 if there are none but a main check could not run, 0 otherwise.
    """
    report = audited(target, list(arguments), module, {"kind": kind, "pad": pad, "forwards": forwards})
    show_report(report, html)
    return report.code


def audited(target: str, arguments: list[str], module: bool, options: dict[str, Any]) -> Audit:
    """The audit of what the target leads to."""
    from badak.inspect.audit.audit import audit
    from badak.inspect.audit.questions import ask_all

    path = Path(target)
    if module or path.is_file() or (path / "__main__.py").is_file():
        call, optimizers, losses = at_work(target, arguments, module)
        return ask_all(call.model, (call.args, call.kwargs), optimizer=optimizers, loss=None, asked=losses, **options)
    if not path.is_dir():
        raise FileError(tr("{}: no such file or folder", target), "badak audit RUN, or badak audit train.py")
    no_arguments("audit", target, arguments)
    from badak.training.example import example

    found = example(path)
    options["kind"] = options["kind"] or found.kind
    return audit(found.model, found.inputs, optimizer=found.optimizer, **options)


def at_work(program: str, arguments: list[str], module: bool) -> tuple[Any, list, Any]:
    """The first call of a model in a program, the optimizers that hold its parameters by then, and what the loss behind it
    compares the answers with."""
    from badak.compat.torch.first_call import first_call
    from badak.core.events import Observer
    from badak.inspect.audit.answer import Losses

    class Optimizers(Observer):
        def on_optimizer(self, optimizer: Any) -> None:
            made.append(optimizer)

    made: list[Any] = []
    losses = Losses()
    with Optimizers():
        call = first_call(program, arguments, module, losses)
    own = {id(p) for p in call.model.parameters()}
    mine = [each for each in made if any(id(p) in own for g in getattr(each, "param_groups", []) for p in g["params"])]
    return call, mine, losses
