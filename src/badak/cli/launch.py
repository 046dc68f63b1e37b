"""badak launch"""

import os
import sys

import click

from badak.core.errors import FileError, StateError, tr
from badak.core.machine import cores, quota

OPTIONS = {"ignore_unknown_options": True, "allow_interspersed_args": False}
ALSO = ("train", "eval", "generate", "translate", "run")  # commands of badak that several ranks can run


@click.command(context_settings=OPTIONS)
@click.option(
    "-n", "--ranks", type=click.IntRange(1, 4096), default=None, metavar="N", help="number of ranks  [default: one per core]"
)
@click.option("--hosts", type=str, metavar="FILE", help='file of machines, one line "name:ranks" each; reached by ssh')
@click.option("--restarts", type=click.IntRange(0), default=0, metavar="N", help="restart all ranks up to N times if one fails")
@click.option("--logs", type=str, metavar="DIR", help="write the output of each rank to DIR/rank-N.log; show only rank 0")
@click.option(
    "--hang",
    type=click.FloatRange(0),
    default=0,
    metavar="SECONDS",
    help="stop all ranks if some wait this long for another  [default: the timeout of the process groups]",
)
@click.option("--cuda-as-cpu", is_flag=True, help="map CUDA devices to the CPU, for programs that hard-code them")
@click.option("-m", "module", is_flag=True, help="PROGRAM is a module name, as in python -m.")
@click.argument("program")
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def command(
    ranks: int | None, hosts: str | None, restarts: int, logs: str | None, hang: float, cuda_as_cpu: bool, module: bool,
    program: str, arguments: tuple[str, ...],
) -> int:  # fmt: skip
    """Run a program on several ranks, on this machine or several machines; `import torch` gives badak.

    Each rank gets RANK, WORLD_SIZE and LOCAL_RANK in its environment. If one rank fails, all stop with one message.
    """
    if cuda_as_cpu:
        os.environ["BADAK_CUDA_AS_CPU"] = "1"
    words = [*_command(program, module), *arguments]
    logs = logs and os.path.realpath(logs)  # who names a folder may name a link to it
    if words[0] == "train":
        return launch_training(words[1:], ranks or cores(), hosts, restarts, logs, hang)
    return _launch(words, ranks or cores(), hosts, restarts, logs, hang)


def launch_training(
    words: list[str], ranks: int, hosts: str | None = None, restarts: int = 0, logs: str | None = None, hang: float = 0.0
) -> int:
    """`badak train WORDS` on several ranks: in a folder that is the same one after a restart, with the log of each rank in it."""
    options = {"--run", "--resume"}
    named = [b if a in options else a.partition("=")[2] for a, b in zip(words, [*words[1:], ""]) if a.partition("=")[0] in options]
    if {"-h", "--help"}.isdisjoint(words) and words:
        from badak.cli.train import free_folder

        folder = named[-1] if named else str(free_folder(words[0]))
        words = words if named else [*words, "--run", folder]
        logs = logs or os.path.join(folder, "ranks")
    return _launch(["train", *words], ranks, hosts, restarts, logs, hang)


def _launch(words: list[str], ranks: int, hosts: str | None, restarts: int, logs: str | None, hang: float) -> int:
    from badak.distributed.launch import Order, launch
    from badak.distributed.places import place

    if place() is not None:
        cause = tr("badak launch -n {}: this is one of several ranks already", ranks)
        raise StateError(cause, "badak launch itself starts them, once")
    if not hosts:
        click.echo(tr("badak launch: {} ranks on {} cores, {}", ranks, cores(), _threads(ranks)), err=True)
    order = Order([sys.executable, "-P", "-m", "badak", *words], ranks, hosts, restarts, logs, hang)
    return launch(order, say=lambda text: click.echo(text, err=True))


def _command(program: str, module: bool) -> list[str]:
    """What each rank runs: a command of badak, whatever lies next to under its name, or a program for PyTorch."""
    if module:
        return ["run", "-m", program]
    if program in ALSO:
        return [program]
    if os.path.exists(program):
        return ["run", program]
    raise FileError(tr("badak launch: {}: there is no such file", program[:200]), "badak launch -n 2 SCRIPT [ARGS]")


def _threads(ranks: int) -> str:
    """How many threads each rank has, as its guard decides it."""
    each = os.environ.get("BADAK_NUM_THREADS") or str(max(1, cores() // ranks))
    return tr("{} thread{} each", each, "" if each == "1" else "s") + (", pinned" if cores() >= ranks and quota() is None else "")
