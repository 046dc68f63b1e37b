"""Labels that are one integer are one class, however a table wrote them; words stay as they are."""

import pytest

from badak.data.csv import classes, one_spelling


@pytest.mark.parametrize(
    "labels, known, meant",
    [
        (["1", "1.0", "0", "0.0"], (), ["1", "1", "0", "0"]),
        (["1.0", "2.0", "1.00", "1."], (), ["1.", "2.0", "1.", "1."]),
        (["1.0", "0.0"], ["0", "1"], ["1", "0"]),
        (["-1.0", "-1", "1"], (), ["-1", "-1", "1"]),
        (["1.5", "1.50", "2"], (), ["1.5", "1.50", "2"]),
        (["01", "1"], (), ["01", "1"]),
        (["good", "bad", "1.0.0", "v1.0"], (), ["good", "bad", "1.0.0", "v1.0"]),
        ([], (), []),
    ],
)
def test_whole_numbers_have_one_spelling(labels, known, meant):
    assert one_spelling(labels, known) == meant


def test_two_spellings_are_one_class():
    assert classes(one_spelling(["1", "1.0", "0", "10", "2.0", "2"])) == ("0", "1", "2", "10")
