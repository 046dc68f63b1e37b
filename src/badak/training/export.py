"""A run as a model that others can load: a folder of Hugging Face, with all that badak knows of the model."""

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from badak.autograd import no_grad
from badak.compat.torch import onnx
from badak.compat.torch.export import Dim
from badak.core.errors import ArgumentError, tr
from badak.data.tokenizer_files import token_ids, tokenizer_files
from badak.generation.logit_filters import GenerationConfig
from badak.generation.settings import generation_config
from badak.generation.translate import TranslateConfig
from badak.io.atomic import as_path
from badak.io.whole import expect_free, whole_folder
from badak.models.card import card_of
from badak.models.hints import MARKS, OWN, Hints
from badak.models.pretrained import architecture_of
from badak.models.seq2seq import Seq2Seq
from badak.tensor import Tensor, arange, zeros
from badak.tensor.dtypes import bfloat16, float16, float32
from badak.training.build import Trained, open_model
from badak.training.describe import describe
from badak.training.metrics import row_line
from badak.training.run import Run

DTYPES = {"float32": float32, "float16": float16, "bfloat16": bfloat16}


def export(run: str | os.PathLike, out: str | os.PathLike, dtype: str = "float32") -> str:
    """Write the model of a run into the new folder `out`, wholly or not at all; the class of transformers that reads it.

    Raises FileError where there is something at `out` already, ArgumentError for a model that no family of transformers has.
    """
    expect_free(out)
    opened = Run.open(as_path(run))
    kind = opened.setup.experiment
    expect_family(run, kind)
    trained = open_model(opened.folder, kind)
    model: Any = trained.model
    model.hints = HINTS[kind](trained)
    architecture = architecture_of(model)
    model.hints = replace(model.hints, card=card(opened, architecture))
    with whole_folder(out) as stage:
        model.save_pretrained(stage, DTYPES[dtype])
    return architecture


def export_onnx(run: str | os.PathLike, out: str | os.PathLike) -> list[str]:
    """Write the model of a run as one ONNX file, for any batch and length up to its context; the names of its inputs.

    Raises FileError where there is something at `out` already, ArgumentError for a run of badak.training.fit.
    """
    expect_free(out)
    opened = Run.open(as_path(run))
    kind = opened.setup.experiment
    if kind not in HINTS and kind != "classify":
        expect_family(run, kind)
    trained = open_model(opened.folder, kind)
    model: Any = trained.model.eval()
    if kind in HINTS:
        HINTS[kind](trained)  # which puts a regressor back into its units
    inputs, shapes = _examples(kind, model.config)
    onnx.export(model, tuple(inputs.values()), out, input_names=list(inputs), output_names=["logits"], dynamic_shapes=tuple(shapes))
    return list(inputs)


def _examples(kind: str, config: Any) -> tuple[dict[str, Tensor], list[dict[int, Dim]]]:
    """Inputs of a model by their names in transformers, and the sizes of them that vary."""
    batch = Dim("batch")
    if kind == "classify":
        return {"pixel_values": zeros(5, config.rows, config.row_width)}, [{0: batch}]
    length = min(8, config.context)
    ids = (arange(5 * length) * 7 + 5).reshape(5, length) % config.vocab_size
    names = ("input_ids", "decoder_input_ids")[: 2 if kind == "translate" else 1]
    lengths = [Dim(name, max=config.context) for name in (("length",) if len(names) == 1 else ("source", "target"))]
    return dict.fromkeys(names, ids), [{0: batch, 1: each} for each in lengths]


def expect_family(run: str | os.PathLike, kind: str) -> None:
    """Refuse the kinds of runs that no family of transformers has, and say where they can be read."""
    if kind == "classify":
        cause = tr("{} is a run of badak train classify: no family of transformers reads pictures row by row with two stacks", run)
        fix = tr("badak predict reads it; its weights are in model.safetensors, for any program that reads safetensors")
        raise ArgumentError(cause, fix)
    if kind not in HINTS:
        cause = tr(
            "{} is a run of badak.training.fit: its model is the program's own, and no family of transformers is known for it", run
        )
        raise ArgumentError(cause, "model.save_pretrained(folder) in that program, where the model is one of badak.models")


def _writer(trained: Trained) -> Hints:
    """Of badak train gpt: it draws its tokens, and none that stands for no text; a line ends, a stream does not."""
    vocabulary, context = trained.vocabulary, trained.model.config.context
    ids: dict[str, Any] = dict(token_ids(vocabulary))
    suppress_tokens = [token for token in vocabulary.special if token != trained.eos]
    usual = GenerationConfig()
    writing = generation_config(usual, {name: ids.get(name) for name in MARKS} | {"eos_token_id": trained.eos}, suppress_tokens)
    if context <= 2 * usual.max_new_tokens:  # transformers stops with an error at the end of the context
        del writing["max_new_tokens"]
        writing["max_length"] = context
    if trained.eos is not None:
        ids["eos_token_id"] = trained.eos
    own = {OWN: {"lines": True}} if trained.setup.data.lines else {}
    return Hints({**ids, **own}, writing, tokenizer_files(vocabulary, length=context))


def _encoder(trained: Trained) -> Hints:
    """Of badak train bert and text: a text stands between its marks."""
    model: Any = trained.model
    labels = getattr(trained.setup, "labels", ())
    names = {"id2label": {str(number): name for number, name in enumerate(labels)},
             "label2id": {name: number for number, name in enumerate(labels)}} if labels else {}  # fmt: skip
    if trained.setup.experiment == "text" and not labels:
        _in_units(model, trained.setup.mean, trained.setup.deviation)
    files = tokenizer_files(trained.vocabulary, model.marks, model.config.context)
    return Hints({**token_ids(trained.vocabulary), **names}, files=files)


@no_grad()
def _in_units(model: Any, mean: float, deviation: float) -> None:
    """Let the head tell numbers as they were learned, and not in deviations from their mean."""
    model.head.weight.mul_(deviation)
    model.head.bias.mul_(deviation).add_(mean)


def _translator(trained: Trained) -> Hints:
    """Of badak train translate: beams, from the start mark on, which is not written again, nor is what fills up."""
    sizes: Any = trained.model.config
    usual = TranslateConfig()
    ids = {"bos_token_id": sizes.sos_id, "eos_token_id": sizes.eos_id, "pad_token_id": sizes.pad_id}
    how = GenerationConfig(num_beams=usual.num_beams, length_penalty=usual.length_penalty, temperature=0.0, top_k=0)
    writing = generation_config(how, {**ids, "decoder_start_token_id": sizes.sos_id}, sorted({sizes.pad_id, sizes.sos_id}))
    del writing["max_new_tokens"]
    writing["max_length"] = sizes.context
    own = {OWN: {"lowercase": True}} if trained.setup.data.lowercase else {}
    files = tokenizer_files(trained.vocabulary, Seq2Seq.marks, sizes.context, spaced=True)
    return Hints({**token_ids(trained.vocabulary), **own}, writing, files)


HINTS: dict[str, Callable[[Trained], Hints]] = {"gpt": _writer, "bert": _encoder, "text": _encoder, "translate": _translator}


def card(run: Run, architecture: str) -> str:
    """README.md: what the run knows of the model. Folders of this machine are left out."""
    facts, rows = describe(run.folder), run.rows()
    data = facts["data"]
    for name in ("path", "val_data", "tokenizer"):
        place = getattr(run.setup.data, name, "")
        data = data.replace(place, Path(place).name) if place else data
    if not getattr(run.setup.data, "path", ""):
        data = f"what comes with badak; {data}"
    start = getattr(getattr(run.setup, "start", None), "folder", "")
    learned = [f"Trained by `{run.made_by()}` on: {data}. Steps: {facts['steps']}."]
    learned += [f"It began with the weights of {Path(start).name}, whose licence applies, too."] if start else []
    results = [f"Best on what was held out: {facts['best']}."]
    results += ["", "    " + row_line(rows[-1], run.setup.metric, run.setup.counted)] if rows else []
    settings = [f"- {name}: {facts[name]}" for name in ("model", "train")]
    sections = {"Training": learned, "Results": results, "Settings": settings}
    return card_of(architecture, f"{run.folder.resolve().name}: a model of badak", sections)
