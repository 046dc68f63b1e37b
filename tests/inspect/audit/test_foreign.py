"""Programs in the styles of other people: nothing is found where nothing is wrong, and what is planted is found in its place."""

import pytest

from tests.inspect.audit.measure import FOREIGN, audited, rows
from tests.inspect.audit.programs import OWN, built, gpt
from tests.inspect.audit.unusual import UNUSUAL, one_row
from tests.tiers import few

pytestmark = pytest.mark.slow

KNOWN = {  # what is not found, and why
    ("remembers", "mask forgotten"),  # one module holds all: without any mask nothing shows what it is meant to be
    ("zeros_at_first", "residual left out"),  # an adaptor next to the attention is a way around it
    ("loss_only", "positions left out"),
    ("loss_only", "positions along the batch"),  # planted around the model that it holds, and found in that one's positions
}


@pytest.mark.parametrize("make", [*FOREIGN, *UNUSUAL, one_row], ids=lambda make: make.__name__)
def test_nothing_is_found_in_a_sound_program_and_the_main_questions_are_asked(make):
    program = built(make)
    found, report, text = audited(program)
    assert not found, text
    assert report.ok and report.code == 0 and report.kind == program.kind, text


NEW = {
    "residual left out": "nano own_names llama_like", "positions left out": "nano lecture own_names vit_like",
    "positions along the batch": "nano tutorial forecaster", "half rotary": "llama_like pairs_like",
    "wrong pairing": "llama_like pairs_like", "keys not turned": "llama_like", "grouped heads": "llama_like",
    "layer used twice": "nano library", "not a number": "lecture t5_like", "cache positions": "remembers",
    "mask forgotten": "loss_only nano_writing", "mean over batch": "nano_writing", "position lost": "shorter",
}  # fmt: skip


@pytest.mark.thin(10)
@pytest.mark.parametrize(("fault", "name"), [(fault, name) for fault, names in NEW.items() for name in names.split()])
def test_each_new_question_finds_its_fault_in_its_place(fault, name):
    make = next(each for each in FOREIGN if each.__name__ == name)
    row = rows(make, name, [fault])[-1]
    assert row["fault"] == fault and row["right"], (row["where"], row["found"], row["text"])


@pytest.mark.thin(2)
@pytest.mark.parametrize("make", few(FOREIGN, 6), ids=lambda make: make.__name__)
def test_planted_faults_are_found_where_they_were_planted(make):
    _, *planted = rows(make, make.__name__)
    assert len(planted) >= 5
    missed = {(row["program"], row["fault"]): (row["where"], row["found"]) for row in planted if not row["right"]}
    assert {key: value for key, value in missed.items() if key not in KNOWN} == {}


def test_the_programs_are_twenty_and_more_and_no_two_are_one():
    makes = [*OWN, *FOREIGN, *UNUSUAL]
    assert len({type(built(make).model) for make in makes}) >= 20 and gpt in makes
