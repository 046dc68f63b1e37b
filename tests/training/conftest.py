"""A picture of each training takes longer than most trainings here: where nobody asks for `pictures`, nightly alone draws them."""

import pytest

from badak.training.run import Run
from tests import tiers


@pytest.fixture
def pictures():
    """The test looks at curves.png."""


@pytest.fixture(autouse=True)
def no_pictures(request, monkeypatch):
    """Runs draw nothing."""
    if "pictures" not in request.fixturenames and tiers.chosen != "nightly":
        monkeypatch.setattr(Run, "draw", lambda run, log=None: True)
