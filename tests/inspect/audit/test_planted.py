"""What is planted is found, where it was planted; in sound programs nothing is found. `measure.py` asks others' programs, too."""

import random

import pytest

from tests.inspect.audit.measure import audited, rows
from tests.inspect.audit.plants import PLANTS, Map, judge
from tests.inspect.audit.programs import OWN, built
from tests.tiers import few

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("make", OWN, ids=lambda make: make.__name__)
def test_nothing_is_found_in_a_sound_program(make):
    program = built(make)
    found, report, text = audited(program)
    assert not found, text
    assert report.ok and report.kind == program.kind


@pytest.mark.thin(2)
@pytest.mark.parametrize("make", few(OWN, 3), ids=lambda make: make.__name__)
def test_planted_faults_are_found_where_they_were_planted(make):
    _, *planted = rows(make, make.__name__)
    assert len(planted) >= 5
    assert [(row["fault"], row["where"], row["found"]) for row in planted if not row["right"]] == []


def test_the_judge_itself_can_say_no():
    """A plant that plants nothing is not found, and one that is found elsewhere is not in the right module."""
    program = built(OWN[0])
    found, _, _ = audited(program)
    planted = PLANTS["mask forgotten"](program, Map(program), random.Random(0))
    assert judge(planted, found) == (False, False)
    assert judge(planted, [("future", "norm")]) == (True, False)
