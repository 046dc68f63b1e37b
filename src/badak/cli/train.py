"""badak train classify | gpt | bert | text | translate: one option for each setting.

The settings and their texts are fields of training/config.py, training/presets.py and the configs of models.
"""

import dataclasses
import os
from pathlib import Path
from typing import Any

import click

from badak.cli import Chooser
from badak.cli.bar import Bar
from badak.cli.options import NAMES, PLACE, Section, SectionedCommand, given, options_of
from badak.cli.output import echo
from badak.core.errors import ArgumentError, BadakError, tr
from badak.core.errors import command as command_line
from badak.distributed.places import place, refuse_one_of_many
from badak.training.build import resume as resume_run
from badak.training.build import start
from badak.training.experiment import Experiment
from badak.training.loop import INTERRUPTED, train
from badak.training.presets import PRESETS, Setup, change
from badak.training.ranks import Ranks
from badak.training.run import CHANGING, CONFIG, Run

WORDS = "badak.training.words"  # what the command was given, as click keeps it
SECTIONS = {"data": "Data", "start": "Start", "model": "Model", "train": "Training"}
ABOUT = {
    "classify": tr("Train an image classifier: a Transformer that reads handwritten digits row by row (MNIST)."),
    "gpt": tr("Train a GPT language model: on short stories, or on --data PATH."),
    "bert": tr("Train a BERT masked language model: on thirty proverbs, or on --data FILE with one sentence per line."),
    "text": tr(
        "Train a text classifier or regressor: on short opinions, or on --data PATH; from scratch, or from "
        "a pretrained model with --init-from."
    ),
    "translate": tr("Train a translation model: on fifty Korean phrases, or on --data PATH, from --src to --tgt."),
}
WITH_DATA = {  # the preset where --data is given and no other is named
    "gpt": "characters", "text": "reviews", "translate": "captions",
}  # fmt: skip
WITH_FOLDER = {"text": "finetune"}  # and where --init-from is given
ASK = {  # the command that asks the trained model
    "classify": "predict", "gpt": "generate", "bert": "fill-mask", "text": "predict", "translate": "translate",
}  # fmt: skip


def run_training(
    kind: str, preset: str | None, run: str | None, resume: str | None, ranks_: int | None = None, **values: Any
) -> int:
    """Start or resume a run, train it, draw its curves and say what can be done with it; with --ranks on that many.

    The exit code: 130 where Ctrl-C ended it (saved), 143 where SIGTERM did: what stands behind && is not begun.
    """
    if ranks_ is not None:
        return launched(kind, ranks_)
    ranks = Ranks()
    if ranks.group is None:
        refuse_one_of_many(tr("badak train {}", kind))
    if run and (Path(run) / CONFIG).exists() and os.environ.get("TORCHELASTIC_RESTART_COUNT", "0") != "0":
        preset, run, resume, values = None, None, run, dict.fromkeys(values)  # `badak launch` starts again: go on
    run = run if resume else ranks.told(run or str(free_folder(kind)))
    opened, experiment = open_run(kind, preset, run, resume, values)
    if not ranks.leads:
        return train(experiment, opened.setup.train, opened).code
    echo(tr("run folder {}", opened.folder))
    with Bar(opened.setup, show=echo) as bar:
        outcome = train(experiment, opened.setup.train, opened, bar.show)
    if outcome.ended == INTERRUPTED:
        echo(tr("stopped and saved; go on with: {}", opened.resuming()))
    elif outcome.ended and outcome.best is not None:
        best, patience = outcome.best, opened.setup.train.patience
        echo(
            tr("early stopping at step {:,}: no evaluation was better than {} at step {:,} for {} evaluations (--patience {})",
               outcome.step, best.shown, best.step, best.since, patience)
        )  # fmt: skip
    opened.draw(log=echo)
    if outcome.ended != INTERRUPTED:
        if outcome.best is not None and outcome.best.weights:
            best = outcome.best
            echo(tr("kept: the weights of the best evaluation, {} at step {:,}", best.shown, best.step))
        for line in closing_words(experiment):
            click.echo(line)
        echo(tr("next: {}", command_line(ASK[kind], opened.folder, *experiment.example())))
    return outcome.code


def launched(kind: str, ranks: int) -> int:
    """The command that was given, without --ranks, on so many ranks: what `badak launch -n RANKS train KIND ...` does."""
    from badak.cli.launch import launch_training

    if place() is not None:
        raise ArgumentError(tr("badak train: --ranks {}, but this is one of several ranks already", ranks), "leave --ranks out")
    given, words = click.get_current_context().meta[WORDS], []
    for before, word in zip(["", *given], given):
        if word != "--ranks" and before != "--ranks" and not word.startswith("--ranks="):
            words.append(word)
    return launch_training([kind, *words], ranks)


def closing_words(experiment: Experiment) -> list[str]:
    """What to show of the trained model; that nothing can be shown is no reason to fail."""
    try:
        return experiment.closing_words()
    except BadakError as error:
        return [tr("no sample: {}", error.cause)]


def open_run(kind: str, preset: str | None, run: str | None, resume: str | None, values: dict[str, Any]) -> tuple[Run, Experiment]:
    """The run to go on with, or a new one made of a preset and the options given."""
    if resume is None:
        chosen = preset or default_preset(kind, bool(values["path"]), bool(values.get("folder")), values.get("corpus"))
        setup = PRESETS[kind][chosen]
        return start(run or free_folder(kind), shared(choose_setup(setup, values), values), log=echo)
    changing = [name for names in CHANGING.values() for name in names]
    asked = [name for name, value in {"preset": preset, "run": run, **values}.items() if value is not None]
    for name in asked:
        if name not in changing:
            cause = tr("--resume goes on with the settings of {}; got {} too", resume, flag(name))
            raise ArgumentError(cause, tr("leave it out: with --resume only {} may change", ", ".join(map(flag, changing))))
    there = Run.open(resume)
    if there.setup.experiment != kind:
        raise ArgumentError(tr("{} is a run of {}", resume, there.made_by()), there.resuming())
    return resume_run(resume, log=echo, changes=values)


def flag(name: str) -> str:
    """The option that sets a field."""
    return "--" + NAMES.get(name, name).replace("_", "-")


def default_preset(kind: str, has_data: bool, has_folder: bool = False, corpus: str | None = None) -> str:
    """That of the corpus, else the first one; for data of the user's own, and for a folder of --from, the one made for that."""
    first = corpus or next(iter(PRESETS[kind]))
    chosen = WITH_DATA.get(kind, first) if has_data else first
    return WITH_FOLDER.get(kind, chosen) if has_folder else chosen


def choose_setup(setup: Setup, values: dict[str, Any]) -> Setup:
    """A preset with the options given in place of its values."""
    if values.get("folder"):
        free, fixed = setup.fixed  # type: ignore[union-attr]
        sizes = [one.name for one in dataclasses.fields(setup.model) if one.name not in free and values.get(one.name) is not None]
        if sizes:
            room = "--context" if "context" in free else "--seq-len"
            cause = tr("--init-from says how large the model is; got {} too", flag(sizes[0]))
            raise ArgumentError(cause, tr("leave it out; {} is free", room))
        own = [name for name in sorted(fixed) if values.get(name) is not None]
        if own:
            raise ArgumentError(tr("the folder of --init-from has its own tokenizer; got {} too", flag(own[0])), "leave it out")
    for section in sections_of(setup):
        setup = change(setup, section, given(getattr(setup, section), values))
    return setup


def shared(setup: Setup, values: dict[str, Any]) -> Setup:
    """Where several ranks train and nobody says how: the same update, its batch cut into as many as there are ranks."""
    here, batch = place(), setup.train.batch_size
    if here is None or values.get("grad_accum_steps") is not None or setup.train.grad_accum_steps >= here.size or batch % here.size:
        return setup
    if here.rank == 0:
        echo(tr("each of {} ranks takes {} of the {} examples of an update", here.size, batch // here.size, batch))
    return change(setup, "train", {"batch_size": batch // here.size, "grad_accum_steps": here.size})


def sections_of(setup: Setup) -> list[str]:
    """Those of SECTIONS that an experiment has."""
    return [section for section in SECTIONS if hasattr(setup, section)]


def free_folder(kind: str) -> Path:
    """runs/gpt, or runs/gpt-2, runs/gpt-3, ... where that exists."""
    names = [kind, *(f"{kind}-{number}" for number in range(2, 10_000))]
    return next(folder for name in names if not (folder := Path("runs") / name).exists())


class TrainCommand(SectionedCommand):
    """One that remembers the words it was given."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.meta[WORDS] = list(args)
        return super().parse_args(ctx, args)


def make_command(kind: str) -> click.Command:
    """`badak train KIND` with an option for each setting."""
    presets = PRESETS[kind]
    first = next(iter(presets))
    options: list[click.Parameter] = [
        Section(["--preset"], type=click.Choice(list(presets)), section="Run",
                help="base settings; the options below override them" + f"  [default {first}"
                + (f"; with --data {WITH_DATA[kind]}" if kind in WITH_DATA else "")
                + (f"; with --init-from {WITH_FOLDER[kind]}]" if kind in WITH_FOLDER else "]")),
        Section(["--run"], type=PLACE, metavar="DIR", section="Run", help="folder for the new run" + f"  [default runs/{kind}]"),
        Section(["--resume"], type=PLACE, metavar="DIR", section="Run",
                help="resume this run; a larger --epochs or --steps extends it and recomputes the schedule"),
        Section(["--ranks", "ranks_"], type=click.IntRange(1, 4096), metavar="N", section="Run",
                help="split each optimizer step over N processes of this machine (needs --grad-accum-steps N or more); "
    "for several machines and restarts use badak launch"),
    ]  # fmt: skip
    for name in sections_of(presets[first]):
        options += options_of(getattr(presets[first], name), SECTIONS[name])
    return TrainCommand(kind, params=options, callback=lambda **values: run_training(kind, **values), help=ABOUT[kind])


command = Chooser(
    "train", commands={kind: make_command(kind) for kind in PRESETS}, help="Train a model and save it in a run folder."
)
