"""badak path"""

from pathlib import Path
from typing import Any

import click

from badak.cli.options import PLACE, SectionedCommand
from badak.cli.output import echo
from badak.core.errors import command as command_line
from badak.core.i18n import LANGUAGES, columns, language, padded, say, tr

FORMS = {"perplexity": ".2f", "dialogue_loss": ".3f", "own_dialogue_loss": ".3f"}  # how a score is written; all others are shares


def named(score: str) -> str:
    """What a score measures."""
    return {
        "perplexity": say("perplexity of new stories"),
        "dialogue_loss": say("loss of new dialogues, nats"),
        "own_dialogue_loss": say("loss of new dialogues of --dialogues, nats"),
        "stories_right": say("questions about new stories, right"),
        "sums_right": say("new sums without a carry, right"),
        "carries_right": say("new sums with a carry, right"),
    }[score]


def headed(stage: str) -> str:
    """What a stage is called."""
    return {
        "tokenizer": say("tokenizer"), "pretrain": say("pretraining"), "tune": say("dialogues"), "reward": say("rewards"),
    }[stage]  # fmt: skip


def run_path(run: str, language_: str | None, dialogues: str | None, quick: bool, seed: int) -> None:
    """Go the path, and show what each stage added."""
    from badak.cli.course.path import MODEL, SIZES, STAGES, PathConfig, stage_folder, walk
    from badak.cli.course.questions import FIVE

    config = PathConfig(language_ or language(), dialogues or "", seed, SIZES["quick" if quick else "full"])
    echo(tr("path folder {}", run))
    rows = walk(config, run, echo)
    show(rows, FIVE[config.language])
    last = stage_folder(Path(run), STAGES[-1]) / MODEL
    echo(tr("chat here:          {}", command_line("chat", last)))
    echo(tr("chat in a browser:  {}", command_line("serve", last)))


def show(rows: list[dict[str, Any]], five: tuple[str, ...]) -> None:
    """Print the scores, a column for each stage, and the answers to the five questions."""
    heads, minutes = [headed(row["stage"]) for row in rows], say("minutes")
    names = {name: named(name) for name in rows[-1]["scores"]}
    wide = max(map(columns, [*names.values(), minutes]))
    table = {"": heads}
    for name, text in names.items():
        table[text] = [format(row["scores"][name], FORMS.get(name, ".0%")) for row in rows]
    table[minutes] = [f"{row['seconds'] / 60:.1f}" for row in rows]
    click.echo("")
    for text, cells in table.items():
        click.echo("  ".join(["", padded(text, wide), *(padded(cell, 11) for cell in cells)]).rstrip())
    for at, question in enumerate(five):
        click.echo(f"\n{question}")
        for head, row in zip(heads, rows):
            click.echo(tr("  {}  {}", padded(head, max(map(columns, heads))), " ".join(row["answers"][at].split())))
    click.echo("")


command = SectionedCommand(
    "path",
    params=[
        click.Option(["--run"], type=PLACE, default="runs/path", show_default=True, metavar="DIR",
                     help="folder of the path; one that was begun goes on"),
        click.Option(["--language", "language_"], type=click.Choice(list(LANGUAGES)),
                     help="language of the stories and questions  [default: that of the messages]"),
        click.Option(["--dialogues"], type=PLACE, metavar="FILE",
                     help="CSV or TSV file with a header, whose first two columns are questions and answers, to tune with as well"),
        click.Option(["--quick"], is_flag=True, help="a minute instead of half an hour: shows the way, learns nearly nothing"),
        click.Option(["--seed"], default=0, show_default=True, type=click.IntRange(0), metavar="N", help="random seed"),
    ],
    callback=run_path,
    help="Go the whole path: train a tokenizer, pretrain, tune on dialogues, tune by rewards (GRPO), and chat. The same five "
    "questions are asked after each stage.",
)  # fmt: skip
