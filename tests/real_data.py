"""Where the real data for tests lies: ../shared/data next to the repository, never in it."""

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent / "shared" / "data"


def real_data(name: str) -> Path:
    """The folder or file ROOT/name. Where it is absent the test fails under CI, and is skipped elsewhere."""
    path = ROOT / name
    if not path.exists():
        reason = f"real data is absent: {path}; put it there to run this test"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    return path
