"""Under `badak run`, classes and objects say of themselves what PyTorch's say; with `import badak` alone they say badak."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch  # noqa: F401  (what the comparison is with)

import badak

SCRIPT = str(Path(__file__).with_name("shown.py"))


@pytest.fixture(scope="module")
def told():
    """What the script says with badak and with PyTorch."""
    said = []
    for runner in (["-m", "badak", "run"], []):
        done = subprocess.run([sys.executable, *runner, SCRIPT], capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
        said.append(json.loads(done.stdout.splitlines()[-1]))
    return said


@pytest.mark.slow
def test_public_classes_show_the_modules_of_pytorch(told):
    ours, theirs = (one["classes"] for one in told)
    both = set(ours) & set(theirs)
    assert len(both) > 250
    assert {name: ours[name] for name in both} == {name: theirs[name] for name in both}
    assert all(there for _, _, there in ours.values())
    later = "torch.fx", "torch.nn.utils", "torch.utils.checkpoint", "torch.utils.hooks"  # which import others' classes, too
    assert {module.split(".")[0] for name, (module, _, _) in ours.items() if not name.startswith(later)} == {"torch"}


@pytest.mark.slow
def test_objects_read_as_those_of_pytorch(told):
    ours, theirs = (one["texts"] for one in told)
    assert len(ours) == len(theirs) > 70
    assert [pair for pair in zip(ours, theirs) if pair[0] != pair[1]] == []


@pytest.mark.slow
def test_copies_keep_what_those_of_pytorch_keep(told):
    assert told[0]["copies"] == told[1]["copies"]


def test_badak_alone_says_badak():
    assert str(type(badak.zeros(1))) == "<class 'badak.tensor.tensor.Tensor'>"
    assert type(badak.nn.Linear(1, 1)).__module__ == "badak.nn.linear"
    assert repr(badak.float32) == "badak.float32" and repr(badak.zeros(2).shape) == "badak.Size([2])"
