"""What a model needs, asked before a machine is filled with it."""

from decimal import Decimal

from badak.errors import ArgumentError
from badak.models.classifier import ClassifierConfig
from badak.replay.memory import machine_memory
from badak.train.setups import GPTSetup, Setup

COPIES = 4  # weights, gradients, and Adam's two moments
OBJECTS = 20_000  # bytes of Python objects that a layer has, at least


def expect_memory(setup: Setup, copies: int = COPIES) -> None:
    """Raise ArgumentError where the model of `setup`, or in training its answer to one batch, is larger than this machine's memory.

    copies: of the weights; 1 for a model that only answers.
    """
    there, answers = machine_memory(), answers_of(setup) if copies > 1 else 0
    needed = copies * 4 * weights_of(setup) + OBJECTS * layers_of(setup)
    if there is not None and needed <= there < needed + 8 * answers:
        train = setup.train
        raise ArgumentError(
            f"the answers to a batch of {train.batch_size} examples are {answers:,} numbers and need {gigabytes(8 * answers)} with "
            f"their gradient; there are {gigabytes(there)}, {gigabytes(needed)} of them for the model",
            "a smaller --batch-size, with --accumulate for the same update, a shorter --context, or a smaller vocabulary",
        )
    if there is not None and needed > there:
        model = setup.model
        raise ArgumentError(
            f"a model of d_model={model.d_model} and {layers_of(setup)} layers has {weights_of(setup):,} parameters and needs "
            f"{gigabytes(needed)}, weights, gradients and moments together; there are {gigabytes(there)}",
            "a smaller --d-model, fewer layers, or a smaller --feedforward-ratio",
        )


def answers_of(setup: Setup) -> int:
    """Logits of one batch of a GPT: a number for each token of the vocabulary at each position. The others have few."""
    return setup.train.batch_size * setup.model.context * setup.model.vocab_size if isinstance(setup, GPTSetup) else 0


def layers_of(setup: Setup) -> int:
    """Layers of the model, those of a decoder included."""
    model = setup.model
    return model.encoder_layers + model.decoder_layers if isinstance(model, ClassifierConfig) else model.layers


def weights_of(setup: Setup) -> int:
    """Numbers in the matrices of the model; biases and norms, about a percent more, are left out."""
    model, C = setup.model, setup.model.d_model
    layer = (4 + 2 * model.feedforward_ratio) * C * C
    if isinstance(model, ClassifierConfig):
        return layers_of(setup) * layer + model.decoder_layers * 4 * C * C + model.row_width * C
    return layers_of(setup) * layer + (model.vocab_size + model.context) * C


def gigabytes(size: int) -> str:
    """A number of bytes to read."""
    return f"{size / 1e9:,.1f} GB" if size < 1e15 else f"{Decimal(size) / 10**9:.1e} GB"  # more than a float holds, maybe
