"""What is planted is found, where it was planted; in sound programs nothing is found but what docs/audit.md explains."""

import random
import zlib

import pytest

from tests.audit import clients
from tests.audit.measure import audited, of_client
from tests.audit.plants import PLANTS, Map, judge
from tests.audit.programs import OWN, built

EXPLAINED = {  # of others' programs as they are; docs/audit.md says why
    "annotated": [["gradients", "generator"]],
    "cpm0722": [
        ["copies", "encoder.layers.0.self_attention.k_fc"],
        ["copies", "encoder.layers.0.self_attention.v_fc"],
        ["copies", "encoder.layers.1"],
        ["copies", "decoder"],
    ],
    "seed003": [["order", ""], ["copies", "mha.k_fc"], ["copies", "mha.v_fc"]],
}


@pytest.mark.parametrize("make", OWN, ids=lambda make: make.__name__)
def test_nothing_is_found_in_a_sound_program(make):
    program = built(make)
    found, report, text = audited(program)
    assert not found, text
    assert report.ok and report.kind == program.kind


@pytest.mark.many
@pytest.mark.parametrize("fault", PLANTS)
@pytest.mark.parametrize("make", OWN, ids=lambda make: make.__name__)
def test_a_planted_fault_is_found_where_it_was_planted(make, fault):
    program = built(make)
    planted = PLANTS[fault](program, Map(program), random.Random(zlib.crc32(f"{make.__name__} {fault}".encode())))
    if planted is None:
        pytest.skip(f"{make.__name__} has no place for: {fault}")
    found, _, text = audited(program)
    hit, right = judge(planted, found)
    assert hit, f"planted in {planted.modules}, not found:\n{text}"
    assert right, f"planted in {planted.modules}, found elsewhere:\n{text}"


@pytest.mark.slow
@pytest.mark.skipif(bool(clients.why_absent()), reason=clients.why_absent() or "they are here")
@pytest.mark.parametrize("name", clients.NAMES)
def test_faults_are_found_in_the_programs_of_others(name):
    rows = of_client(name, ["mask forgotten", "mean over batch", "padding seen", "detached", "left out"])
    assert rows[0]["found"] == EXPLAINED.get(name, []), rows[0]["text"]
    assert all(row["right"] for row in rows[1:]), [row for row in rows[1:] if not row["right"]]


def test_the_judge_itself_can_say_no():
    """A plant that plants nothing is not found, and one that is found elsewhere is not in the right module."""
    program = built(OWN[0])
    found, _, _ = audited(program)
    planted = PLANTS["mask forgotten"](program, Map(program), random.Random(0))
    assert judge(planted, found) == (False, False)
    assert judge(planted, [("future", "norm")]) == (True, False)
