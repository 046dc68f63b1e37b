"""badak translate RUN TEXT..."""

import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import click

from badak.cli.options import PLACE, SectionedCommand, given, options_of
from badak.cli.output import echo
from badak.core.errors import ArgumentError, tr
from badak.data.bitext import read_lines
from badak.generation.translate import TranslateConfig, bleu, chrf, translate
from badak.training.build import PRECISIONS, quiet
from badak.training.load import load_translator
from badak.training.ranks import Ranks
from badak.training.translation import too_long

DEFAULTS = TranslateConfig()


def run_translate(
    run: str, texts: tuple[str, ...], file: str | None, reference: str | None, show: str | None, precision: str, **values: Any
) -> None:
    """Print the translation of each sentence in a line; with a reference, the BLEU of them all."""
    sentences, asked = sentences_of(texts, file), given(DEFAULTS, values)
    TranslateConfig(**asked)  # refused before a model is read
    references = None if reference is None else read_lines(Path(reference))
    if references is not None and len(references) != len(sentences):
        cause = tr("{} has {:,} lines for {:,} sentences", reference, len(references), len(sentences))
        raise ArgumentError(cause, "a translation in each line, in order")
    if show is not None and len(sentences) != 1:
        raise ArgumentError(tr("--show draws one sentence; got {:,}", len(sentences)), "badak translate RUN 'a sentence' --show")
    translator = load_translator(run, precision)
    model, vocabulary, config = translator.model, translator.vocabulary, replace(translator.config, **asked)
    if show is not None:
        from badak.generation.attention_picture import draw_translation

        click.echo(draw_translation(model, vocabulary, sentences[0], show, config, partial(echo, err=True)))
        echo(tr("attention in {}", show), err=True)
        return
    ranks = Ranks()
    cut = too_long(partial(echo, err=True) if ranks.leads else quiet, model.config.context)
    made = translate(model, vocabulary, sentences, config, each=ranks.each, cut=cut)
    if not ranks.leads:
        return
    for line in made:
        click.echo(line)
    if references is not None:
        for name, count in (("BLEU", bleu), ("chrF", chrf)):
            score, signature = count(made, references, translator.lowercase)
            click.echo(f"{name} {score:.2f}   {signature}", err=True)


def sentences_of(texts: tuple[str, ...], file: str | None) -> list[str]:
    """The sentences of the command line, or the lines of a file, or of what is piped in."""
    if texts and file is not None:
        raise ArgumentError("sentences are given twice, on the command line and by --in", "leave out the one or the other")
    if texts:
        return list(texts)
    if file is not None:
        return read_lines(Path(file))
    if sys.stdin is None or sys.stdin.isatty():
        raise ArgumentError("no sentence", "badak translate RUN 'a sentence', --in FILE, or lines through a pipe")
    try:
        text = sys.stdin.buffer.read().decode()
        return [line.strip() for line in text.removesuffix("\n").split("\n")] if text else []
    except UnicodeDecodeError as error:
        where = tr("byte {} is {:#04x}", error.start, error.object[error.start])
        raise ArgumentError(tr("what is piped in is not UTF-8 text: {}", where), "iconv -t utf-8 before the pipe") from None


command = SectionedCommand(
    "translate",
    params=[
        click.Argument(["run"], type=PLACE),
        click.Argument(["texts"], nargs=-1, metavar="[TEXT]..."),
        click.Option(["--in", "file"], type=PLACE, metavar="FILE", help="translate the lines of FILE [default: standard input]"),
        click.Option(["--reference"], type=PLACE, metavar="FILE", help="compute BLEU (sacrebleu) against the lines of this file"),
        click.Option(
            ["--show"], type=PLACE, is_flag=False, flag_value="attention.png", metavar="[PNG]",
            help="draw the attention between source and target words  [attention.png]",
        ),
        click.Option(
            ["--precision"], type=click.Choice(list(PRECISIONS)), default="float32", show_default=True,
            help="precision of the weights",
        ),
        *options_of(DEFAULTS, "Search"),
    ],
    callback=run_translate,
    help="Translate each TEXT with the model in RUN: a run of badak train translate, a Marian folder, or a Hub name.",
)  # fmt: skip
