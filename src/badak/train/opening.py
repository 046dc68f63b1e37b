"""What writes text, wherever it comes from: a run of badak train gpt, or a folder of Hugging Face."""

from pathlib import Path

from badak.generate.folder import Writer, is_published, open_folder
from badak.nn.answering import quantize
from badak.tensor.dtypes import int8
from badak.train.session import PRECISIONS, open_model
from badak.train.setups import GPTSetup


def open_writer(folder: str | Path, precision: str = "float32") -> Writer:
    """The model of a folder, with weights of "float32", "bf16" or "int8"."""
    if not is_published(folder):
        trained = open_model(folder, "gpt", precision)
        by_lines = isinstance(trained.setup, GPTSetup) and trained.setup.data.lines
        return Writer(trained.model, trained.vocabulary, () if trained.eos is None else (trained.eos,), alone=by_lines)
    kind = PRECISIONS[precision]
    writer = open_folder(folder, kind if kind.is_floating_point else None)
    if kind is int8:
        quantize(writer.model, int8)
    return writer
