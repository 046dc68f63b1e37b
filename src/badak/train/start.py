"""What a GPT begins with: first weights, or those of a folder that somebody trained, some of them frozen or beside adapters."""

import hashlib
from dataclasses import replace

import numpy as np

from badak.errors import ArgumentError, StateError
from badak.models.gpt import GPT, GPTConfig
from badak.models.llama import Llama, LlamaConfig
from badak.models.pretrained import config_of, from_pretrained
from badak.nn import Module
from badak.nn.lora import add_lora
from badak.train.setups import GPTSetup

WRITERS = "a folder of GPT-2, Llama, Qwen or Mistral"


def make_writer(config: GPTConfig | LlamaConfig) -> GPT | Llama:
    """The model of this shape, with first weights."""
    return Llama(config) if isinstance(config, LlamaConfig) else GPT(config)


def sized(setup: GPTSetup) -> GPTSetup:
    """`setup` with the sizes of the folder that it begins with; dropout is the setup's own."""
    if not setup.start.folder or setup.start.sha256:
        return setup
    config = config_of(setup.start.folder)
    if not isinstance(config, (GPTConfig, LlamaConfig)):
        raise ArgumentError(f"{setup.start.folder}: its model does not write from left to right", WRITERS)
    if setup.data.tokens in ("bpe", "wordpiece"):
        raise ArgumentError(f"{setup.start.folder} has its own tokenizer; got --tokens {setup.data.tokens} too", "leave it out")
    data = replace(setup.data, tokens="tokenizer")
    return replace(setup, model=replace(config, dropout=setup.model.dropout), data=data)


def first_model(setup: GPTSetup) -> tuple[GPT | Llama, GPTSetup]:
    """The model that the training of `setup` begins with, and `setup` with the SHA-256 of the weights that were read.

    A run that goes on reads the folder again only where it keeps no more than adapters.
    """
    start = setup.start
    model = make_writer(setup.model)
    if start.folder and (start.lora or not start.sha256):
        model.load_state_dict(from_pretrained(start.folder).state_dict())
        found = hash_of(model)
        if start.sha256 not in ("", found):
            raise StateError(f"{start.folder}: not the weights that this run began with", "bring the old folder back")
        setup = replace(setup, start=replace(start, sha256=found))
    if start.lora:
        add_lora(model, start.lora, start.lora_alpha, [end for end in ENDS if end in dict(model.blocks[0].named_modules())])
    freeze(model, start.freeze)
    return model, setup


ENDS = ("attention.qkv", "attention.out", "feed_forward.up", "feed_forward.gate_up", "feed_forward.down")


def freeze(model: GPT | Llama, layers: int) -> None:
    """Let the tables and the lowest layers learn no more."""
    if layers > len(model.blocks):
        raise ArgumentError(f"--freeze {layers}: the model has {len(model.blocks)} layers", f"--freeze {len(model.blocks)}")
    still: list[Module] = [model.token, *([model.position] if isinstance(model, GPT) else []), *model.blocks[:layers]]
    for part in still if layers else ():
        part.requires_grad_(False)


def hash_of(model: Module) -> str:
    """SHA-256 of all weights, by name."""
    found = hashlib.sha256()
    for name, x in model.state_dict().items():
        found.update(name.encode())
        found.update(np.ascontiguousarray(x.detach().numpy()).data)
    return found.hexdigest()
