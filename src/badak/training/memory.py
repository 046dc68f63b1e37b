"""What a model needs, asked before a machine is filled with it."""

from decimal import Decimal
from typing import Any

from badak.core.errors import ArgumentError, tr
from badak.core.machine import machine_memory
from badak.models.classifier import ClassifierConfig
from badak.models.llama import LlamaConfig
from badak.models.seq2seq import Seq2SeqConfig
from badak.training.presets import GPTSetup, Setup, TextSetup

COPIES = 4  # weights, gradients, and Adam's two moments
OBJECTS = 20_000  # bytes of Python objects that a layer has, at least


def expect_memory(setup: Setup, copies: int = COPIES) -> None:
    """Raise ArgumentError where the model of `setup`, or in training its answer to one batch, is larger than this machine's memory.

    copies: of the weights; 1 for a model that only answers.
    """
    there, answers = machine_memory(), answers_of(setup) if copies > 1 else 0
    best = saved_of(setup) if copies > 1 and setup.train.keep == "best" else 0
    needed = 4 * (weights_of(setup) + (copies - 1) * learned_of(setup) + best) + OBJECTS * layers_of(setup)
    if there is not None and needed <= there < needed + 8 * answers:
        train = setup.train
        raise ArgumentError(
            tr("the answers to a batch of {} examples are {:,} numbers and need {} with "
               "their gradient; there are {}, {} of them for the model", train.batch_size, answers, gigabytes(8 * answers),
               gigabytes(there), gigabytes(needed)),
            "a smaller --batch-size, with --grad-accum-steps for the same update, a shorter --seq-len, or a smaller vocabulary",
        )  # fmt: skip
    if there is not None and needed > there:
        model = setup.model
        cause = tr("a model of d_model={} and {} layers has {:,} parameters and needs "
                   "{}, weights, gradients and moments together; there are {}", model.d_model, layers_of(setup), weights_of(setup),
                   gigabytes(needed), gigabytes(there))  # fmt: skip
        raise ArgumentError(cause, "a smaller --d-model, fewer layers, or a smaller --feedforward-ratio")


def answers_of(setup: Setup) -> int:
    """Logits of one batch of a GPT: a number for each token of the vocabulary at each position. The others have few."""
    if not isinstance(setup, GPTSetup):
        return 0
    return setup.train.batch_size * (setup.data.seq_len or setup.model.context) * setup.model.vocab_size


def layers_of(setup: Setup) -> int:
    """Layers of the model, those of a decoder included."""
    model = setup.model
    if isinstance(model, (ClassifierConfig, Seq2SeqConfig)):
        return model.encoder_layers + model.decoder_layers
    return model.layers


def weights_of(setup: Setup) -> int:
    """Numbers in the matrices of the model; biases and norms, about a percent more, are left out."""
    return layers_of(setup) * _layer(setup.model) + _tables(setup.model)


def learned_of(setup: Setup) -> int:
    """Those of them that learn."""
    if not isinstance(setup, GPTSetup | TextSetup):
        return weights_of(setup)
    if isinstance(setup, GPTSetup) and setup.start.lora:
        return saved_of(setup)
    still = setup.start.freeze * _layer(setup.model) + _tables(setup.model) if setup.start.freeze else 0
    return max(weights_of(setup) - still, 0)


def saved_of(setup: Setup) -> int:
    """Numbers in the file of the weights: all of them, or those of the adapters alone."""
    if not isinstance(setup, GPTSetup) or not setup.start.lora:
        return weights_of(setup)
    return setup.start.lora * layers_of(setup) * sum(rows + columns for rows, columns in _shapes(setup.model))


def _layer(model: Any) -> int:
    """Numbers in one layer."""
    if isinstance(model, LlamaConfig):
        return sum(rows * columns for rows, columns in _shapes(model))
    if isinstance(model, Seq2SeqConfig):
        return (4 * model.d_model + 2 * model.feedforward) * model.d_model
    return (4 + 2 * model.feedforward_ratio) * model.d_model**2


def _tables(model: Any) -> int:
    """Numbers in what stands before and behind the layers, and in the second attention of decoders."""
    C = model.d_model
    if isinstance(model, ClassifierConfig):
        return model.decoder_layers * 4 * C * C + model.row_width * C
    if isinstance(model, Seq2SeqConfig):
        return model.decoder_layers * 4 * C * C + model.vocab_size * C
    if isinstance(model, LlamaConfig):
        return model.vocab_size * C * (1 if model.tied else 2)
    return (model.vocab_size + model.context) * C


def _shapes(model: Any) -> list[tuple[int, int]]:
    """The matrices of a layer that LoRA stands next to, (outputs, inputs)."""
    C = model.d_model
    if isinstance(model, LlamaConfig):
        H, G, D, wide = model.heads, model.num_key_value_heads, model.width, model.feedforward
        return [((H + 2 * G) * D, C), (C, H * D), (2 * wide, C), (C, wide)]
    wide = model.feedforward_ratio * C
    return [(3 * C, C), (C, C), (wide, C), (C, wide)]


def gigabytes(size: int) -> str:
    """A number of bytes to read."""
    return f"{size / 1e9:,.1f} GB" if size < 1e15 else f"{Decimal(size) / 10**9:.1e} GB"  # more than a float holds, maybe
