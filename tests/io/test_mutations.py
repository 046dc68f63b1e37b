"""Files changed at random end in a value or in badak's error: ten thousand of them, others every day."""

import datetime

import pytest

from tests.io.mutations.__main__ import run, summary
from tests.io.mutations.readers import READERS

pytestmark = pytest.mark.slow

COUNT = 10_000 // len(READERS) + 1
SEED = datetime.date.today().isoformat()


@pytest.mark.parametrize("reader", READERS)
def test_no_changed_file_ends_in_anything_but_a_value_or_a_complaint(reader):
    counts, wrong = run(reader, SEED, 0, COUNT)
    again = f"python -m tests.io.mutations --seed {SEED} --reader {reader} --first NUMBER --count 1"
    assert not wrong, "\n".join([*summary(wrong), again])
    assert counts["right"] and counts["refused"] and counts.total() == COUNT
