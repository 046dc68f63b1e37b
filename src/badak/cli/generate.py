"""badak generate RUN --prompt TEXT"""

from dataclasses import replace
from itertools import islice
from typing import Any

import click

from badak.cli.options import PLACE, SectionedCommand, given, options_of, precision_option
from badak.cli.output import echo
from badak.core.errors import ArgumentError, FileError, tr
from badak.data.files import read_text
from badak.generation.explain import explain
from badak.generation.folder import TextGenerator
from badak.generation.logit_filters import GenerationConfig
from badak.generation.text import generate_text, prompt_ids, warn_of_a_loop
from badak.tensor import tensor
from badak.training.load import load_generator

DEFAULTS = GenerationConfig()


def run_generate(
    run: str, text: str, prompt: str, prompts: str | None, precision: str, stop: tuple[str, ...], reasons: bool, **values: Any
) -> None:
    """Print the prompt and what the model writes after it, as it comes; or each token with its reasons."""
    if bool(text) + bool(prompt) + (prompts is not None) > 1:
        raise ArgumentError("the prompt is given twice", "badak generate RUN 'a text'")
    writer = load_generator(run, precision)
    config = replace(writer.config, **given(DEFAULTS, values))
    if reasons:
        if prompts is not None:
            raise ArgumentError("--explain follows one text, --prompts several", "one of the two")
        show_reasons(writer, text or prompt, config)
        return
    if config.num_beams == 1:
        writer.model.compile()  # token after token is the same step
    if prompts is not None:
        write_on_each(writer, prompts_of(prompts), config, stop)
        return
    written: list[int] = []
    pieces = generate_text(writer.model, writer.vocabulary, text or prompt, config, writer.ends, stop, written)
    click.echo("".join(islice(pieces, 2)), nl=False)  # prompt and first token: what is said while kernels compile comes before
    for piece in pieces:
        click.echo(piece, nl=False)
    click.echo()
    warn_of_a_loop(writer.vocabulary, written)


def prompts_of(file: str) -> list[str]:
    """The lines of a file that are not empty."""
    lines = [line for line in read_text(file).splitlines() if line.strip()]
    if not lines:
        raise FileError(tr("{}: no line has a prompt", file), "a prompt in each line")
    return lines


def write_on_each(writer: TextGenerator, prompts: list[str], config: GenerationConfig, stop: tuple[str, ...]) -> None:
    """Print what is written after each prompt, in order, an empty line between two; several ranks share the prompts."""
    from badak.training.ranks import Ranks

    ranks = Ranks()

    def work(prompt: str) -> str:
        return "".join(generate_text(writer.model, writer.vocabulary, prompt, config, writer.ends, stop))

    texts = ranks.each(prompts, work)
    if ranks.leads:
        click.echo("\n\n".join(texts))


def show_reasons(writer: TextGenerator, prompt: str, config: GenerationConfig) -> None:
    """A line for each token: its probability and rank, what was likelier, what it looked at, what the filters removed."""
    if config.num_beams > 1:
        raise ArgumentError("--explain follows one text, --num-beams several", "one of the two")
    vocabulary, ids = writer.vocabulary, prompt_ids(writer.vocabulary, prompt).tolist()
    suppress_tokens = [token for token in vocabulary.special if token not in writer.ends]

    def shown(token: int) -> str:
        return repr(vocabulary.decode([token]))

    echo(tr("{:16}{:>8}{:>6}  {:42}{:50}removed", "token", "chance", "rank", "top", "looked at"))
    before = len(ids)
    for step in explain(writer.model, tensor([ids]), config, writer.ends, suppress_tokens):
        top = "  ".join(f"{shown(token)} {chance:.0%}" for token, chance in step.most_likely)
        sources = "  ".join(f"{shown(ids[place])}@{place} {share:.0%}" for place, share in step.sources)
        removed = ", ".join(f"{name} {count:,}" for name, count in step.removed.items())
        click.echo(f"{shown(step.token):16}{step.chance:8.1%}{step.rank + 1:6}  {top:41} {sources:49} {removed}".rstrip())
        ids.append(step.token)
    warn_of_a_loop(vocabulary, ids[before:])


command = SectionedCommand(
    "generate",
    params=[
        click.Argument(["run"], type=PLACE),
        click.Argument(["text"], default="", metavar="[PROMPT]"),
        click.Option(["--prompt"], default="", metavar="TEXT", help="the prompt, same as PROMPT"),
        click.Option(
            ["--prompts"],
            type=PLACE,
            metavar="FILE",
            help="use each line of this file as a prompt; badak launch -n 4 generate ... splits the lines over four ranks",
        ),
        click.Option(["--stop"], multiple=True, metavar="TEXT", help="stop before this text; repeatable"),
        click.Option(["--explain", "reasons"], is_flag=True, help="explain each generated token"),
        precision_option(),
        *options_of(DEFAULTS, "Sampling"),
    ],
    callback=run_generate,
    help="Generate text from PROMPT with the model in RUN: a run of badak train gpt, a Hugging Face folder, a Hub name, or a "
    "GGUF file.",
)
