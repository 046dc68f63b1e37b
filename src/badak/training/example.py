"""A run's model at work: with the weights that it has, the batch that comes next, and its optimizer."""

from pathlib import Path
from typing import NamedTuple

from badak.io.checkpoint import read_step
from badak.nn import Module
from badak.optim import Optimizer
from badak.tensor import Tensor
from badak.training.build import resume
from badak.training.train_state import TrainState

KINDS = {  # what the model of each experiment is
    "gpt": "causal",
    "bert": "bidirectional",
    "text": "bidirectional",
    "classify": "image",
    "translate": "encoder-decoder",
}


class Example(NamedTuple):
    """model(*inputs), what it is to answer, and who updates it."""

    model: Module
    inputs: tuple[Tensor, ...]
    labels: Tensor
    optimizer: Optimizer
    kind: str | None


def example(folder: str | Path) -> Example:
    """The model of a run folder and the next batch of its training; nothing in the folder is changed."""
    run, experiment = resume(folder)
    learner = TrainState(experiment, run.setup.train)
    if read_step(run.folder):
        run.load_weights(experiment.model)
    inputs, labels = experiment.prepare(learner.next_batch())
    return Example(experiment.model, inputs, labels, learner.optimizer, KINDS.get(run.setup.experiment))
