"""PyTorch's own tests on badak: what tools/pytorch_tests.py counts, the page that it writes, and a part of the tests themselves.

The environment variable PYTORCH_SOURCE names the folder of PyTorch 1.13's source, which has a folder `test`.
"""

import json
import os
from pathlib import Path

import pytest

from tools.pytorch_tests import PAGE, RECORD, compared, counted, kind, page
from tools.their_tests import Outcome

SOURCE = os.environ.get("PYTORCH_SOURCE", "")


def test_what_passes_on_pytorch_counts_and_what_stops_the_others_is_grouped():
    fine, skipped = Outcome("passed"), Outcome("skipped")
    expected = {"a::one": fine, "a::two": fine, "a::three": fine, "a::four": skipped, "a::five": Outcome("failed", "x")}
    found = {"a::one": fine, "a::two": Outcome("failed", "MissingName: torch.x: badak does not have it"), "a::four": fine}
    asks = {"a::six": Outcome("skipped", "PyTorch is built without mkldnn support")}
    kept = counted(expected | dict.fromkeys(asks, fine), found | asks)
    assert (kept["torch"], kept["badak"], kept["apart"]) == (3, 1, 1)
    assert kept["kinds"] == {"other": 1, "missing": 1}
    assert kept["causes"] == {"other: missing: not collected": 1, "missing: MissingName: torch.x: badak does not have it": 1}


def test_kinds_of_errors():
    assert kind("AssertionError: Tensor-likes are not close!") == "number"
    assert kind("AttributeError: module 'torch' has no attribute 'x'") == "missing"
    assert kind("NotSupportedError: Adam: differentiable=True asks for") == "missing"
    assert kind("TypeError: got a str") == "other"


def test_the_page_says_what_is_recorded():
    assert PAGE.read_text(encoding="utf-8") == page()


@pytest.mark.nightly
@pytest.mark.skipif(not SOURCE, reason="PYTORCH_SOURCE is not set: it names the folder of PyTorch 1.13's source")
@pytest.mark.parametrize("file", ["test_indexing", "test_transformers"])
def test_as_many_pass_as_are_recorded(file):
    known = json.loads(RECORD.read_text(encoding="utf-8"))["files"][file]
    kept = compared(Path(SOURCE), file, limit=600, every=known["every"])
    assert kept["torch"] > 0 and kept["badak"] - kept["torch"] >= known["badak"] - known["torch"]
