"""The way of a parameter through the house stays short: `tools/way.py`."""

import json
import subprocess
import sys

import pytest

# Who calls what was handed over from above: the door what it guards, the walk operations and leaves, a plain kernel an update
HANDED_OVER = {"core/events.py", "autograd/engine.py", "kernels/reference/optimizer.py"}


@pytest.mark.slow
def test_a_parameter_crosses_few_files_and_turns_back_nowhere():
    # in a process of its own: what other tests left (listeners, a first warning, garbage) would be on the way too
    program = "import json; from tools import way; print(json.dumps(way.trace()))"
    found, turns = json.loads(subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout)
    assert set(found) == {"made", "forward", "backward", "stepped", "saved"} and all(found.values())
    assert {turn.partition(",")[0] for turn in turns} <= HANDED_OVER, turns
    files = {file for part in found.values() for file in part}
    assert {"nn/linear.py", "ops/linear.py", "autograd/engine.py", "optim/adam.py", "io/safetensors.py"} <= files
    # another file on the way needs a reason; the last one was core/errors.py, which says what kind an argument is to be of
    assert len(files) <= 49, "\n".join(sorted(files))
