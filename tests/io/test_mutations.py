"""Files changed at random end in a value or in badak's error: ten thousand of them, others every day."""

import datetime

import pytest

from tests.io.mutations.__main__ import run, summary
from tests.io.mutations.folders import FOLDERS
from tests.io.mutations.readers import READERS
from tests.io.mutations.runs import RUNS

pytestmark = pytest.mark.slow

COUNT = 10_000 // len(READERS) + 1
OF_RUNS = COUNT // 4  # each of these is a folder, and a model
SEED = datetime.date.today().isoformat()


@pytest.mark.thin(3)
@pytest.mark.parametrize("reader", READERS)
def test_no_changed_file_ends_in_anything_but_a_value_or_a_complaint(reader):
    count = OF_RUNS if reader in RUNS or reader in FOLDERS else COUNT
    counts, wrong = run(reader, SEED, 0, count)
    again = f"python -m tests.io.mutations --seed {SEED} --reader {reader} --first NUMBER --count 1"
    assert not wrong, "\n".join([*summary(wrong), again])
    assert counts["right"] and counts["refused"] and counts.total() == count
