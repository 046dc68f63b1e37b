"""Nothing is said of badak's own experiments. `python -m tests.inspect.doctor.measure` asks the programs of others, too."""

from contextlib import suppress

import pytest

import badak
from badak.cli import main
from tests.real_data import real_data


class Enough(Exception):
    """The report is complete."""


class Ends:
    """Where the report is written: ends the training then."""

    def write(self, text: str) -> None:
        raise Enough


@pytest.mark.slow
@pytest.mark.parametrize("task", ["classify", "gpt", "bert"])
def test_nothing_is_said_of_the_experiments(task, tmp_path):
    small = ["--d-model", "16", "--heads", "2", "--epochs", "8" if task == "bert" else "1"]
    if task == "classify":
        small += ["--data", str(real_data("mnist")), "--encoder-layers", "1", "--decoder-layers", "1"]
    else:
        small += ["--layers", "1"]
    with suppress(Enough), badak.doctor(20, file=Ends()) as checkup:
        main(["train", task, "--run", str(tmp_path / "run"), *small])
    assert checkup.ok and checkup.steps == 20, checkup
