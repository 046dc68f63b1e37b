"""badak export RUN OUT"""

import click

from badak.cli.options import PLACE
from badak.cli.output import echo
from badak.core.errors import ArgumentError, tr
from badak.training.export import DTYPES, export, export_onnx


@click.command()
@click.argument("run", type=PLACE)
@click.argument("out", type=PLACE)
@click.option("--dtype", type=click.Choice(list(DTYPES)), default="float32", show_default=True, help="precision of the weights")
def command(run: str, out: str, dtype: str) -> None:
    """Export the model in RUN (from badak train) to the new folder OUT, in Hugging Face format, or to the new file OUT.onnx.

    A folder has weights, config, tokenizer, generation config and a README.md. An ONNX file takes any batch size, and any length
    up to the context; it needs the extra badak[onnx]. Existing files are never overwritten.
    """
    if out.endswith(".onnx"):
        if dtype != "float32":
            cause = tr("badak export: --dtype {} is for folders; an ONNX file has float32 weights", dtype)
            raise ArgumentError(cause, "leave --dtype out")
        echo(tr("{}: an ONNX model; inputs {}, output logits", out, ", ".join(export_onnx(run, out))))
        return
    architecture = export(run, out, dtype)
    echo(tr("{}: {}, for transformers and badak; README.md says what it is, its licence is yours to choose", out, architecture))
