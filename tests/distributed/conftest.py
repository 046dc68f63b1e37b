"""What several files here train: a small text, and the run of one rank that the others are compared with."""

import pytest

from tests.distributed.ranks import launch
from tests.distributed.small import arguments, state, write_text


@pytest.fixture(scope="session")
def text(tmp_path_factory):
    """The text of all training runs here."""
    return write_text(tmp_path_factory.mktemp("data"))


@pytest.fixture(scope="session")
def alone(text, tmp_path_factory):
    """The run of one rank, to its eighth step."""
    run = tmp_path_factory.mktemp("alone") / "run"
    done = launch(1, *arguments(text, run, 8), "--deterministic-reduce")
    assert done.code == 0, done.err
    return state(run)
