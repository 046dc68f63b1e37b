"""Faults, and how each is planted into a training that is sound: the judge of `badak.doctor`.

A plant changes a `Training` and gives the code that must be found, or None where the training has no place for the fault.
"""

from collections.abc import Callable

import badak
from badak.nn import functional as F
from tests.audit.plants import spoil
from tests.doctor.programs import Training

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
