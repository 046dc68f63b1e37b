"""badak eval RUN"""

import json
from pathlib import Path
from typing import Any

import click

from badak.cli.options import PLACE
from badak.cli.output import echo, show_facts
from badak.core.errors import ArgumentError
from badak.core.i18n import columns, padded, say, tr
from badak.generation.harness import run_tasks
from badak.io.atomic import write_file
from badak.io.errors import line
from badak.training.confusion import Confusion
from badak.training.confusion_picture import draw_confusion
from badak.training.load import load_generator
from badak.training.ranks import Ranks
from badak.training.testing import evaluate

MATRIX = 12  # classes whose matrix is shown; of more the commonest mistakes


@click.command()
@click.argument("run", type=PLACE)
@click.option("--data", type=PLACE, default="", metavar="PATH",
              help="evaluate on all of this file or folder [default: the data the run held out]")  # fmt: skip
@click.option("--json", "written", type=PLACE, default="", metavar="FILE", help="also write what was found as JSON")
@click.option("--plot", type=PLACE, default="", metavar="FILE.png",
              help="also draw the confusion matrix, and how often a class is right at each probability")  # fmt: skip
@click.option("--tasks", default="", metavar="NAME,...",
              help="ask tasks of lm-evaluation-harness of a model that writes: a run, a Hugging Face folder, GGUF")  # fmt: skip
@click.option("--include-path", type=PLACE, default="", metavar="FOLDER", help="YAML files with tasks of your own")
@click.option("--num-fewshot", type=click.IntRange(0), help="examples before each question [default: as the task says]")
@click.option("--limit", type=click.IntRange(1), help="questions of each task at most")
@click.option("--batch-size", type=click.IntRange(1), default=16, show_default=True, help="texts that are computed together")
@click.option("--apply-chat-template", is_flag=True, help="put the questions as turns of a conversation")
def command(run: str, data: str, written: str, plot: str, tasks: str, **harness: Any) -> None:
    """Evaluate the model in RUN (from badak train): loss, accuracy, perplexity or BLEU, as a table.

    Classifiers also get precision, recall and F1 per class, a confusion matrix, and their calibration error.

    badak eval RUN --tasks arc_easy,my_task --include-path FOLDER asks tasks of lm-evaluation-harness instead.

    badak launch -n 4 eval RUN splits the work over four ranks and gives the same bits.
    """
    ranks = Ranks()
    if tasks:
        if data or plot or ranks.size > 1:
            raise ArgumentError("--tasks goes without --data, --plot and several ranks", "badak eval MODEL --tasks NAME")
        found_of_tasks = run_tasks(load_generator(run), tasks.split(","), log=lambda words: echo(words, err=True), **harness)
        show_tasks(found_of_tasks["results"])
        write_json(written, found_of_tasks)
        return
    if any(harness[name] for name in ("include_path", "num_fewshot", "limit", "apply_chat_template")):
        raise ArgumentError("--include-path, --num-fewshot, --limit and --apply-chat-template belong to --tasks", "--tasks NAME")
    found = evaluate(run, data, lambda words: echo(words, err=True))
    if not ranks.leads:
        return
    if ranks.size > 1:
        found.facts["ranks"] = str(ranks.size)
    write_json(written, found.as_json())
    if plot:
        if found.confusion is None:
            raise ArgumentError(tr("{}: the model has no classes to draw", run), "leave out --plot")
        draw_confusion(found.confusion, plot, lambda words: echo(words, err=True))
    show_facts(found.facts)
    if found.confusion is not None:
        show_classes(found.confusion)
        never = found.confusion.never()
        if never:
            click.echo(f"{say('warning:')} {say(never)}", err=True)


def write_json(path: str, found: Any) -> None:
    """Write what was found, where a file is asked for."""
    if path:
        text = json.dumps(found, ensure_ascii=False, indent=1, default=str) + "\n"
        write_file(Path(path), lambda file: file.write(text.encode("utf-8", "replace")))


def show_tasks(results: dict[str, dict[str, Any]]) -> None:
    """Print each measure of each task, with its standard error."""
    rows = []
    for task, measures in results.items():
        for name, value in measures.items():
            measure, _, filtered = name.partition(",")
            if not isinstance(value, int | float) or measure.endswith("_stderr") or not filtered:
                continue
            error = measures.get(f"{measure}_stderr,{filtered}")
            shown = f"{error:.4f}" if isinstance(error, int | float) else "-"
            rows.append([line(task, 40), measure + (f" ({filtered})" if filtered != "none" else ""), f"{value:.4f}", shown])
    show_table([say("task"), say("measure"), say("value"), say("standard error")], rows)


def show_classes(confusion: Confusion) -> None:
    """Print precision, recall and F1 of each class, and the matrix, or the commonest mistakes of many classes."""
    figures = (confusion.precision, confusion.recall, confusion.f1)
    names, support = [line(name, 30) for name in confusion.names], confusion.support
    rows = [[name, *(f"{figure[at]:.4f}" for figure in figures), f"{support[at]:,}"] for at, name in enumerate(names)]
    mean = [say("macro mean"), *(f"{confusion.macro(figure):.4f}" for figure in figures), f"{support.sum():,}"]
    click.echo()
    show_table([say("class"), say("precision"), say("recall"), "F1", say("examples")], [*rows, mean])
    click.echo()
    if len(names) <= MATRIX:
        matrix = [[name, *map("{:,}".format, counts)] for name, counts in zip(names, confusion.counts.tolist())]
        show_table([say("is, below; predicted, right"), *names], matrix)
        return
    mistakes = confusion.mistakes()
    echo("the commonest mistakes:" if mistakes else "no mistake")
    for name, other, count in mistakes:
        echo(tr("  {} taken for {}: {:,}", line(name, 30), line(other, 30), count))


def show_table(head: list[str], rows: list[list[str]]) -> None:
    """Print rows under a head, the first column to the left, the others to the right."""
    widths = [max(map(columns, column)) for column in zip(head, *rows)]
    for row in [head, *rows]:
        first, *others = (padded(text, width, at > 0) for at, (text, width) in enumerate(zip(row, widths)))
        click.echo("  ".join([first, *others]).rstrip())
