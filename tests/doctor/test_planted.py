"""Sound trainings stay without a word; what is planted into them is found."""

import io

import pytest

import badak
from badak.graph.modes import modes
from tests.doctor.plants import PLANTS
from tests.doctor.programs import OWN, built

# badak warns of some faults by itself; here the report counts
pytestmark = pytest.mark.filterwarnings("ignore::badak.errors.BadakWarning")


def examined(training, steps: int = 20):
    with badak.doctor(steps, quiet=True) as checkup:
        training.run(steps + 1)
    return checkup


@pytest.mark.parametrize("make", OWN, ids=lambda make: make.__name__)
def test_nothing_is_said_of_a_sound_training(make):
    checkup = examined(built(make))
    assert checkup.ok and checkup.steps == 20, checkup


def missed(make, fault: str) -> str:
    """What is wrong with what is found of a fault; "" where it is found and nothing else, or has no place here."""
    training = built(make)
    code = PLANTS[fault](training)
    if code is None:
        return ""
    checkup = examined(training)
    found = [finding.code for finding in checkup.findings]
    return "" if found == [code] else f"{make.__name__}, {fault}: {code} was planted, found {found}\n{checkup}"


@pytest.mark.parametrize("fault", PLANTS)
def test_a_planted_fault_is_found(fault):
    make = next(make for make in OWN if PLANTS[fault](built(make)) is not None)
    assert not missed(make, fault)


@pytest.mark.slow
@pytest.mark.parametrize("make", OWN, ids=lambda make: make.__name__)
def test_every_fault_is_found_in_every_training_that_has_a_place_for_it(make):
    assert not [text for text in (missed(make, fault) for fault in PLANTS) if text]


def test_the_report_is_written_when_the_steps_are_over_and_then_nobody_looks():
    training, file = built(OWN[0]), io.StringIO()
    call = badak.nn.Module.__call__
    with badak.doctor(3, file=file):
        training.run(2)
        assert not file.getvalue()
        training.run(1)
        assert file.getvalue().startswith("doctor of this training: 3 steps")
        assert badak.nn.Module.__call__ is call and not modes.observers
        training.run(5)
    assert file.getvalue().count("doctor of") == 1
