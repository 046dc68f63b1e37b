"""badak quantize MODEL [OUT.gguf]"""

import click

from badak.cli.eval import show_table
from badak.cli.options import PLACE
from badak.cli.output import echo
from badak.core.errors import ArgumentError
from badak.core.i18n import say, tr
from badak.data.files import read_text
from badak.io.whole import expect_free
from badak.nn.quantization import KINDS
from badak.training.load import load_generator
from badak.training.quantizing import OnText, quantized, write


@click.command()
@click.argument("model", type=PLACE)
@click.argument("out", type=PLACE, required=False, metavar="[OUT.gguf]")
@click.option("--to", "form", type=click.Choice(list(KINDS)), default="q4_0", show_default=True, help="format of the weights")
@click.option("--data", type=PLACE, default="", metavar="FILE", help="compare perplexity and logits on the beginning of this text")
def command(model: str, out: str | None, form: str, data: str) -> None:
    """Quantize MODEL and report what it costs: bytes and error of each layer; with --data perplexity and logits, too.

    MODEL is a run of badak train gpt, a Hugging Face folder or a Hub name. OUT.gguf is a file for badak generate and
    llama.cpp; without it nothing is written.
    """
    if out is not None and not out.endswith(".gguf"):
        raise ArgumentError(tr("{}: the file must end in .gguf", out), tr("badak quantize {} {}.gguf", model, out))
    if out is not None:
        expect_free(out)
    text = read_text(data) if data else ""
    writer = load_generator(model)
    made, report = quantized(writer, form, text)
    rows = [
        [one.name, f"{one.shape[0]:,} x {one.shape[1]:,}", f"{one.before:,}", f"{one.after:,}", f"{one.error:.5f}"]
        for one in report.layers
    ]
    share = f"{report.after / report.before:.1%}"
    rows.append([say("all weights"), "", f"{report.before:,}", f"{report.after:,}", share])
    show_table([say("layer"), say("shape"), say("bytes before"), say("bytes after"), say("error")], rows)
    if report.text is not None:
        show_text(report.text)
    if out is not None:
        write(writer, made, out)
        echo(tr("{}: written; badak generate {} reads it, and so does llama.cpp", out, out))


def show_text(found: OnText) -> None:
    """Print what a text shows of both models."""
    click.echo()
    echo(
        tr("perplexity {:.6g} before, {:.6g} after, on {:,} tokens", found.before.perplexity, found.after.perplexity, found.tokens)
    )
    mean, least = found.cosines.mean(), found.cosines.min()
    echo(tr("cosine of the logits before and after: {:.6f} in the mean, {:.6f} at least", mean, least))
