"""What a model needs, asked before a machine is filled with it."""

from decimal import Decimal

from badak.errors import ArgumentError
from badak.models.classifier import ClassifierConfig
from badak.replay.memory import machine_memory
from badak.train.setups import Setup

COPIES = 4  # weights, gradients, and Adam's two moments
OBJECTS = 20_000  # bytes of Python objects that a layer has, at least


def expect_memory(setup: Setup, copies: int = COPIES) -> None:
    """Raise ArgumentError where the model of `setup` alone is larger than this machine's memory."""
    there, needed = machine_memory(), copies * 4 * weights_of(setup) + OBJECTS * layers_of(setup)
    if there is not None and needed > there:
        model = setup.model
        raise ArgumentError(
            f"a model of d_model={model.d_model} and {layers_of(setup)} layers has {weights_of(setup):,} parameters and needs "
            f"{gigabytes(needed)}, weights, gradients and moments together; there are {gigabytes(there)}",
            "a smaller --d-model, fewer layers, or a smaller --feedforward-ratio",
        )


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
