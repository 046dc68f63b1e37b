"""Faults, and how each is planted into a training that is sound: the judge of `badak.doctor`.

A plant changes a `Training` and gives the code that must be found, or None where the training has no place for the fault.
"""

from collections.abc import Callable

import numpy as np

import badak
from badak import nn, optim
from badak.nn import functional as F
from tests.inspect.audit.plants import patched, spoil, square
from tests.inspect.doctor.programs import Training, _next_token

PLANTS: dict[str, Callable[[Training], str | None]] = {}


def plant(function):
    PLANTS[function.__name__.replace("_", " ")] = function
    return function


@plant
def zero_grad_forgotten(t):
    t.clear = False
    return "BADAK-201"


@plant
def softmax_before_the_loss(t):
    if t.head is None:
        return None
    if t.name == "two_classes":
        spoil(t.head, badak.sigmoid)
    else:
        spoil(t.head, lambda y: F.softmax(y, dim=-1))
    return "BADAK-202"


@plant
def log_softmax_before_the_loss(t):
    if t.head is None or t.name == "two_classes":
        return None
    spoil(t.head, lambda y: F.log_softmax(y, dim=-1))
    return "BADAK-203"


@plant
def cleared_before_the_step(t):
    t.clear_late = True
    return "BADAK-208"


@plant
def step_before_backward(t):
    t.step_first = True
    return "BADAK-208"


@plant
def last_layer_too_large(t):
    if t.head is None or t.name == "two_classes":
        return None
    with badak.no_grad():
        t.head.weight.mul_(60.0)
    return "BADAK-210"


def layers_of(t, kind=nn.Linear):
    """(name, module) of the layers of one kind, the head apart."""
    return [(name, m) for name, m in t.model.named_modules() if isinstance(m, kind) and m is not t.head]


def is_text(t) -> bool:
    return t.loss is _next_token


@plant
def labels_not_shifted(t):
    if not is_text(t):
        return None
    t.loss = lambda m, b: F.cross_entropy(m(b[0][:, :-1]).flatten(0, 1), b[0][:, :-1].flatten())
    return "BADAK-204"


@plant
def decoder_input_not_shifted(t):
    if t.name != "translator":
        return None
    t.loss = lambda m, b: F.cross_entropy(m(b[0], b[1]).flatten(0, 1), b[1].flatten(), ignore_index=0)
    return "BADAK-204"


@plant
def labels_shifted_twice(t):
    if not is_text(t):
        return None
    t.loss = lambda m, b: F.cross_entropy(m(b[0][:, :-1])[:, :-1].flatten(0, 1), b[0][:, 2:].flatten())
    return "BADAK-205"


@plant
def labels_shifted_back(t):
    if not is_text(t):
        return None
    t.loss = lambda m, b: F.cross_entropy(m(b[0][:, 1:]).flatten(0, 1), b[0][:, :-1].flatten())
    return "BADAK-205"


@plant
def eval_forgotten(t):
    t.to_eval = False
    return "BADAK-206"


@plant
def train_forgotten(t):
    t.to_train = False
    return "BADAK-207"


@plant
def detached_layer(t):
    _, layer = layers_of(t, (nn.Linear, nn.Conv2d))[0] if layers_of(t, (nn.Linear, nn.Conv2d)) else (None, None)
    if layer is None or t.name in ("translator", "encoder"):  # whose attention reads the weights of its layers itself
        return None
    spoil(layer, lambda y: y.detach())
    return "BADAK-209"


@plant
def data_of_a_table(t):
    tables = layers_of(t, nn.Embedding)
    if not tables:
        return None
    spoil(tables[-1][1], lambda y: y.data)
    return "BADAK-209" if t.name != "gpt" else None  # whose positions are read as a weight


@plant
def a_part_under_no_grad(t):
    tables = layers_of(t, nn.Embedding) or layers_of(t)
    module = tables[-1][1]
    if t.name == "gpt" or module is t.head:
        return None
    plain = module.forward
    module.__dict__["forward"] = lambda *a: badak.no_grad()(plain)(*a)
    return "BADAK-209"


@plant
def list_of_layers(t):
    return _hide(t, lambda layers: layers)


@plant
def nested_list_of_layers(t):
    return _hide(t, lambda layers: [{"all": layers}])


def _hide(t, packed):
    """Move a layer into a plain list, from where the model goes on to call it."""
    names = [name for name, m in layers_of(t) if "." not in name]
    if not names or isinstance(t.model, nn.Sequential):
        return None
    layer = t.model._modules.pop(names[0])
    t.model.hidden = packed([layer])
    object.__setattr__(t.model, names[0], lambda *a: layer(*a))
    t.optimizer = optim.AdamW(t.model.parameters(), lr=1e-3)
    return "BADAK-211"


@plant
def head_replaced_after_the_optimizer(t):
    if t.head is None:
        return None
    t.optimizer = optim.AdamW(t.model.parameters(), lr=1e-3)
    new = type(t.head)(t.head.in_features, t.head.out_features)
    name = next(name for name, m in t.model.named_modules() if m is t.head)
    setattr(t.model, name, new)
    return "BADAK-212"


@plant
def rate_far_too_high(t):
    t.optimizer = optim.AdamW(t.model.parameters(), lr=1.0)
    return "BADAK-213"


@plant
def rate_far_too_low(t):
    t.optimizer = optim.AdamW(t.model.parameters(), lr=1e-10)
    return "BADAK-214"


@plant
def biases_that_kill_a_relu(t):
    if not layers_of(t, nn.ReLU) and t.name != "encoder":
        return None
    last = None
    for _, m in t.model.named_modules():
        if isinstance(m, nn.ReLU) and isinstance(last, (nn.Linear, nn.Conv2d)):
            break
        last = m
    else:
        return None
    with badak.no_grad():
        last.bias.fill_(-1000.0)
    return "BADAK-215"


@plant
def scores_too_large(t):
    if t.name != "by_hand":
        return None
    with badak.no_grad():
        t.model.q.weight.mul_(40.0)
        t.model.k.weight.mul_(40.0)
    return "BADAK-216"


@plant
def output_times_zero(t):
    layers = layers_of(t, (nn.Linear, nn.Conv2d))
    if not layers or t.name in ("translator", "encoder", "convolutions"):  # where it kills a ReLU, which is said
        return None
    spoil(layers[0][1], lambda y: y * 0.0)
    return "BADAK-217"


@plant
def nan_in_a_layer(t):
    layers = layers_of(t, (nn.Linear, nn.Conv2d))
    if not layers or t.name in ("translator", "encoder"):
        return None
    spoil(layers[0][1], lambda y: (y - y.max()).log())
    return "BADAK-220"


@plant
def ids_all_the_same(t):
    batch = t.batch
    if not is_text(t):
        return None
    t.batch = lambda rng: (badak.full_like(batch(rng)[0], 3),)
    return "BADAK-221"


@plant
def rows_all_the_same(t):
    batch = t.batch
    if not is_text(t):
        return None
    t.batch = lambda rng: (batch(rng)[0][:1].repeat(8, 1),)
    return "BADAK-221"


@plant
def seed_set_in_the_loop(t):
    batch = t.batch
    t.batch = lambda rng: tuple(x.clone() for x in batch(np.random.default_rng(1)))
    return "BADAK-222"


@plant
def pictures_of_0_to_255(t):
    batch = t.batch
    if t.name not in ("convolutions", "two_classes"):
        return None
    t.batch = lambda rng: (lambda x, y: (x * 64 + 128, y))(*batch(rng))
    return "BADAK-223"


@plant
def parts_not_divided(t):
    t.parts, t.part_scale = 4, 1.0
    return "BADAK-224"


@plant
def parts_divided_twice(t):
    t.parts, t.part_scale = 4, 1 / 16
    return "BADAK-224"


@plant
def parts_cleared(t):
    t.parts, t.clear_parts = 4, True
    return "BADAK-225"


@plant
def all_under_no_grad(t):
    loss = t.loss

    def without(m, b):
        with badak.no_grad():
            return loss(m, b)

    t.loss = without
    return "BADAK-226"


@plant
def causal_mask_inverted(t):
    if t.name not in ("gpt", "by_hand", "translator"):
        return None
    plain = t.model.forward

    def forward(*args, **kwargs):
        with patched(lambda hide: ~hide if square(hide) else hide):
            return plain(*args, **kwargs)

    t.model.__dict__["forward"] = forward
    return "BADAK-227"


@plant
def padding_mask_inverted(t):
    if t.name != "encoder":
        return None
    t.model.__dict__["forward"] = lambda ids: t.model.head(
        t.model.encoder(t.model.table(ids), src_key_padding_mask=ids != 0).mean(1)
    )
    return "BADAK-227"


@plant
def padding_mask_of_floats(t):
    if t.name != "encoder":
        return None
    t.model.__dict__["forward"] = lambda ids: t.model.head(
        t.model.encoder(t.model.table(ids), src_key_padding_mask=(ids == 0).float()).mean(1)
    )
    return "BADAK-228"
