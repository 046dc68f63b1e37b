"""Run folders, changed under right checksums, so that what is in the files is looked at: config.json, state.json, the weights, the
moments, the rows. They are read as the commands read them: generate, predict, fill-mask, train --resume and info."""

import csv
import hashlib
import io
import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from huggingface_hub import snapshot_download  # noqa: F401  (a run may name the Hub's weights; it reads files of the system first)

from badak import kernels
from badak.generation.logit_filters import GenerationConfig
from badak.generation.picture import rank_classes
from badak.generation.text import fill_sentence, generate_text
from badak.io import sealed
from badak.io.checkpoint import INDEX, MODEL, OPTIMIZER, Checkpoint
from badak.models.classifier import build_classifier
from badak.tensor.random import get_rng_state
from badak.training.build import open_model, resume, start
from badak.training.describe import describe
from badak.training.loop import train, update
from badak.training.presets import PRESETS, change
from badak.training.run import CONFIG, METRICS, Run, settings_hash
from badak.training.train_state import TrainState
from tests.io.mutations.changes import as_json, damaged, edited

FILES = (CONFIG, INDEX, MODEL, OPTIMIZER, METRICS)
SMALL = {"d_model": 8, "heads": 1, "layers": 1, "dropout": 0.1}
SPEED = {"epochs": 1, "steps": 2, "eval_every": 1, "batch_size": 4}


def packed(files: dict[str, bytes]) -> bytes:
    """A folder as one file, as the mutations keep it."""
    return json.dumps({name: data.decode("latin-1") for name, data in files.items()}).encode()


def unpacked(data: bytes) -> dict[str, bytes]:
    """The files of a folder."""
    return {name: text.encode("latin-1") for name, text in json.loads(data).items()}


def _trained(kind: str, preset: str, model: dict, more: dict) -> bytes:
    """A run that is to go on: two steps of four."""
    setup = change(change(PRESETS[kind][preset], "model", model), "train", {**SPEED, **more})
    with tempfile.TemporaryDirectory() as place, kernels.use("reference"):
        run, experiment = start(Path(place) / "r", setup)
        assert train(experiment, setup.train, run)
        run.change(change(setup, "train", {"steps": 4}))
        return packed({name: (run.folder / name).read_bytes() for name in FILES})


def texts() -> list[bytes]:
    """Runs of badak train gpt, by lines and as one stream."""
    return [
        _trained("gpt", "sentences", SMALL, {}),
        _trained("gpt", "sentences", {**SMALL, "context": 16}, {"optimizer": "sgd", "schedule": "cosine", "max_grad_norm": 1.0}),
    ]


def holes() -> list[bytes]:
    """A run of badak train bert."""
    return [_trained("bert", "proverbs", SMALL, {"optimizer": "adamw"})]


def pictures() -> list[bytes]:
    """A run of badak train classify, that has learned nothing."""
    setup = change(PRESETS["classify"]["digits"], "model", {"d_model": 8, "heads": 1, "encoder_layers": 1, "decoder_layers": 1})
    with tempfile.TemporaryDirectory() as place:
        run = Run.create(Path(place) / "r", setup)
        (run.folder / METRICS).write_bytes(b"")
        state = Checkpoint(step=1, model=build_classifier(setup.model).state_dict(), generator=get_rng_state())
        run.save(state, "")
        return [packed({name: (run.folder / name).read_bytes() for name in FILES})]


# what is changed


def sealed_again(text: bytes) -> bytes:
    """JSON text with the checksum that belongs to it."""
    body = text.rstrip().removesuffix(b"}").rstrip() + sealed._MARK
    return body + hashlib.sha256(body).hexdigest().encode() + sealed._END


def table_of(data: bytes) -> Any:
    """What a sealed file holds, its checksum left out."""
    found = json.loads(data)
    del found["sha256"]
    return found


def changed(data: bytes, chance: Random) -> bytes:
    """A folder in which one file is another one, and all that speaks of it too."""
    files, how = unpacked(data), chance.random()
    if how < 0.08:
        name = chance.choice(FILES)
        files[name] = damaged(files[name], chance)
    elif how < 0.4:
        _change_settings(files, chance)
    elif how < 0.7:
        files[INDEX] = sealed_again(_rewritten(table_of(files[INDEX]), chance))
    else:
        name = chance.choice((MODEL, MODEL, OPTIMIZER, METRICS))
        files[name] = (_change_rows if name == METRICS else _change_tensors)(files[name], chance)
        _tell(files, name)
    return packed(files)


def _rewritten(table: Any, chance: Random) -> bytes:
    text = as_json(edited(table, chance), chance)
    return damaged(text, chance) if chance.random() < 0.05 else text


def _change_settings(files: dict[str, bytes], chance: Random) -> None:
    whole = table_of(files[CONFIG])
    kept = {"vocabulary": whole.pop("vocabulary")} if "vocabulary" in whole and chance.random() < 0.7 else {}
    table = edited(whole, chance)
    if isinstance(table, dict):
        table = {**kept, **table}
    if isinstance(table, dict) and isinstance(table.get("data"), dict):
        for name in ("path", "tokenizer"):  # a run may name any file of its user
            if isinstance(table["data"].get(name), str):
                table["data"][name] = ""
    files[CONFIG] = sealed_again(as_json(table, chance))
    try:
        known = settings_hash(table)
    except Exception:  # no settings at all
        return
    index = table_of(files[INDEX])
    index["state"]["origin"]["settings"] = known
    files[INDEX] = sealed.seal(index)


def _tell(files: dict[str, bytes], name: str) -> None:
    """Let state.json say what this file is now."""
    index, data = table_of(files[INDEX]), files[name]
    said = {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    if name == METRICS:
        index["state"]["origin"]["history"] = said
    else:
        index["files"][name] = said
    files[INDEX] = sealed.seal(index)


def _change_tensors(data: bytes, chance: Random) -> bytes:
    from tests.io.mutations.readers import _change_tensors as change_tensors  # which lists these readers

    return change_tensors(data, chance)


def _change_rows(data: bytes, chance: Random) -> bytes:
    if chance.random() < 0.3 or not data:
        return damaged(data, chance)
    rows = list(csv.reader(io.StringIO(data.decode(), newline="")))
    for _ in range(chance.choice((1, 1, 3))):
        row = chance.choice(rows)
        if row:
            odd = ("", "nan", "inf", "-inf", "1e999", "-1", "x", "9" * 5000, "0x10", "1_0", " 3 ", '"', "\0", "é", "1.5")
            row[chance.randrange(len(row))] = chance.choice(odd)
        if chance.random() < 0.2:
            chance.choice((rows.append, rows.remove))(row)
        rows = rows or [[]]
    text = io.StringIO()
    csv.writer(text).writerows(rows)
    return text.getvalue().encode()


# how it is read


def _reader(use: Callable[[Path], Any]) -> Callable[[Path], Any]:
    def read(path: Path) -> Any:
        folder = path.parent / "r"
        folder.mkdir(exist_ok=True)
        for old in folder.iterdir():
            old.unlink()
        for name, data in unpacked(path.read_bytes()).items():
            (folder / name).write_bytes(data)
        with kernels.use("reference"):
            return use(folder)

    return read


def _generate(folder: Path) -> Any:
    trained = open_model(folder, "gpt")
    return list(
        generate_text(trained.model, trained.vocabulary, "The", GenerationConfig(max_new_tokens=3), trained.eos)
    ), trained.model


def _predict(folder: Path) -> Any:
    model = open_model(folder, "classify").model
    return rank_classes(model, np.zeros((28, 28), np.float32)), model


def _fill_mask(folder: Path) -> Any:
    trained = open_model(folder, "bert")
    return fill_sentence(trained.model, trained.vocabulary, "Great minds [MASK] alike,"), trained.model


def _resume(folder: Path) -> Any:
    run, experiment = resume(folder)
    learner = TrainState(experiment, run.setup.train)
    run.rewind(learner.restore(run))
    if learner.step < learner.last_step:
        update(learner)
    return experiment.model, learner.optimizer.state_dict()


RUNS = {
    "generate": (texts, changed, _reader(_generate)),
    "predict": (pictures, changed, _reader(_predict)),
    "fill-mask": (holes, changed, _reader(_fill_mask)),
    "resume": (lambda: texts() + holes(), changed, _reader(_resume)),
    "info": (lambda: texts() + pictures(), changed, _reader(describe)),
}
