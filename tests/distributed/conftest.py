"""What several files here train: a small text, and the run without ranks that the others are compared with."""

import pytest

from tests.distributed.ranks import without_ranks
from tests.distributed.small import arguments, state, write_text


@pytest.fixture(scope="session")
def text(tmp_path_factory):
    """The text of all training runs here."""
    return write_text(tmp_path_factory.mktemp("data"))


@pytest.fixture(scope="session")
def alone(text, tmp_path_factory):
    """The run without ranks, to its eighth step."""
    run = tmp_path_factory.mktemp("alone") / "run"
    done = without_ranks(*arguments(text, run, 8), "--deterministic-reduce")
    assert done.code == 0, done.err
    return state(run)
