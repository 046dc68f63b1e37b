"""Sound training runs stay without a word; what is planted into them is found."""

import io
from contextlib import suppress
from pathlib import Path

import pytest

import badak
from badak import nn, optim
from badak.core.errors import GraphError
from badak.core.modes import modes
from badak.inspect.doctor.diagnoses import DIAGNOSES, Exploding, Vanishing
from badak.nn import functional as F
from tests.inspect.doctor.plants import PLANTS
from tests.inspect.doctor.programs import OWN, built
from tests.tiers import few

# badak warns of some faults by itself; here the report counts
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::badak.core.errors.BadakWarning")]


def examined(training, steps: int = 20):
    visit = badak.doctor(steps, quiet=True)
    with suppress(GraphError), visit:  # a training under no_grad() fails
        training.run(steps + 1)
    return visit.checkup


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


@pytest.mark.thin(15)
@pytest.mark.parametrize("fault", PLANTS)
def test_a_planted_fault_is_found(fault):
    make = next(make for make in OWN if PLANTS[fault](built(make)) is not None)
    assert not missed(make, fault)


@pytest.mark.thin(1)
@pytest.mark.parametrize("make", few(OWN, 2), ids=lambda make: make.__name__)
def test_every_fault_is_found_in_every_training_that_has_a_place_for_it(make):
    assert not [text for text in (missed(make, fault) for fault in PLANTS) if text]


def test_every_diagnosis_is_planted_and_stands_on_its_page():
    codes = {code for make in OWN for fault in PLANTS if (code := PLANTS[fault](built(make)))}
    page = (Path(__file__).resolve().parents[3] / "docs" / "how-to" / "doctor.md").read_text(encoding="utf-8")
    here = Path(__file__).parent
    quiet = "".join(
        (here / name).read_text(encoding="utf-8")
        for name in (
            "test_quiet_faults.py",
            "test_classroom.py",
            "test_orders.py",
            "test_given.py",
            "test_answers.py",
            "test_odd.py",
            "test_classroom_programs.py",
        )
    )
    for diagnosis in DIAGNOSES:
        assert f"| {diagnosis.code} | {diagnosis.title} |" in page
        assert diagnosis.code in codes or diagnosis in (Vanishing, Exploding) or diagnosis.code in quiet
    assert len({diagnosis.code for diagnosis in DIAGNOSES}) == len(DIAGNOSES)


@pytest.mark.parametrize(("code", "wide", "between"), [("BADAK-218", 1.0, nn.Sigmoid), ("BADAK-219", 8.0, nn.Identity)])
def test_gradients_that_vanish_or_explode_from_layer_to_layer(code, wide, between):
    badak.manual_seed(0)
    layers = [nn.Linear(16, 16) for _ in range(14)]
    with badak.no_grad():
        for layer in layers:
            layer.weight.mul_(wide)
    model = nn.Sequential(*[each for layer in layers for each in (layer, between())], nn.Linear(16, 5))
    optimizer = optim.SGD(model.parameters(), lr=1e-6)
    with badak.doctor(10, quiet=True) as checkup:
        for _ in range(10):
            optimizer.zero_grad()
            F.cross_entropy(model(badak.randn(8, 16)), badak.randint(5, (8,))).backward()
            optimizer.step()
    assert code in [finding.code for finding in checkup.findings], checkup


def test_a_block_without_a_training_is_not_called_sound():
    with badak.doctor(quiet=True) as checkup:
        nn.Linear(2, 2)(badak.ones(1, 2))
    assert "note: no optimizer.step() was seen" in str(checkup)


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
