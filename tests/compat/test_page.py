"""docs/reference/coming-from-pytorch.md and docs/reference/placeholders.md say what is true."""

import pytest

from tools import coming_from_pytorch, placeholders


@pytest.mark.slow
def test_the_page_is_what_its_tool_writes():
    assert coming_from_pytorch.PAGE.read_text(encoding="utf-8") == coming_from_pytorch.page(), (
        "run python tools/coming_from_pytorch.py"
    )


def test_the_page_of_placeholders_is_what_its_tool_writes():
    assert placeholders.PAGE.read_text(encoding="utf-8") == placeholders.page(), "run python tools/placeholders.py"
