"""Where a replay keeps what it makes."""

import os
import platform
import subprocess
import sys

import numpy as np
import pytest

import badak
from badak import nn, optim
from badak.errors import BadakWarning
from badak.nn import functional as F
from badak.replay import memory


def test_places_overlap_in_memory_only_where_they_do_not_in_time():
    rng = np.random.default_rng(0)
    spans = {}
    for name in range(300):
        first = int(rng.integers(0, 100))
        spans[name] = first, first + int(rng.integers(0, 30)), int(rng.integers(1, 5000))
    places, size = memory._places(spans)
    for one, (first, last, bytes_) in spans.items():
        assert places[one] % 64 == 0 and places[one] + bytes_ <= size
        for other, (start, end, more) in spans.items():
            if one < other and first <= end and start <= last:
                assert places[one] + bytes_ <= places[other] or places[other] + more <= places[one]
    assert size < sum(bytes_ for *_, bytes_ in spans.values()) / 2


def losses(compiled, steps=8):
    badak.manual_seed(0)
    model = nn.Sequential(*[nn.Sequential(nn.Linear(32, 64), nn.GELU(), nn.LayerNorm(64), nn.Linear(64, 32)) for _ in range(6)])
    optimizer = optim.AdamW(model.parameters(), lr=0.01)

    def step(x):
        optimizer.zero_grad()
        loss = F.mse_loss(model(x), x)
        loss.backward()
        optimizer.step()
        return loss

    step = badak.compile(step) if compiled else step
    return [step(badak.randn(40, 32)).item() for _ in range(steps)], step


def test_a_step_in_shared_memory_gives_the_same_bits(monkeypatch):
    sizes = []
    places = memory._places

    def watched(spans):
        made = places(spans)
        sizes.append((sum(size for *_, size in spans.values()), made[1]))
        return made

    expected, _ = losses(compiled=False)
    monkeypatch.setattr(memory, "_places", watched)
    found, step = losses(compiled=True)
    assert found == expected and step.why == ""
    ((apart, together),) = sizes
    assert together < 0.6 * apart
    (plan,) = step.recordings
    assert all(entry.calls is not None or not hasattr(entry, "op") or entry.op.name == "mse" for entry in plan.entries)


def test_a_recording_may_make_a_part_of_the_memory_that_is_free(monkeypatch):
    step = badak.compile(lambda x: ((x * 2).relu() + x).sum(), fullgraph=False)
    monkeypatch.setattr("badak.replay.recorder.room_to_record", lambda: 3 << 20)
    with pytest.warns(BadakWarning, match="its results take more than 3 MiB"):
        for _ in range(4):
            step(badak.ones(1 << 18))  # 1 MiB each
    assert step.why == "its results take more than 3 MiB, which a recording keeps until it is over" and not step.recordings
    assert 1 << 29 <= memory.room_to_record() <= memory.most_bytes()


def test_what_a_recording_is_said_to_hold_is_what_it_holds_after_it_has_moved():
    step = losses(compiled=True)[1]
    (plan,) = step.recordings
    made = sum(array.nbytes for entry in plan.entries for array in entry.touched())
    assert 0 < plan.bytes < made / 2


HELD = """
from pathlib import Path
import badak
from badak.nn import functional as F
held = lambda: int(Path("/proc/self/statm").read_text().split()[1]) * 4096 >> 20
def step(x):
    for _ in range(8):
        x = F.gelu(x)
    return x.sum()
recorded = badak.compile(step)
for _ in range(5):
    recorded(badak.ones(100))
x, before = badak.ones(8_000_000), held()
for _ in range(6):
    recorded(x)
print(recorded.why == "", held() - before)
"""


@pytest.mark.slow
@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="memory that is free is given back through glibc")
def test_what_only_the_recording_needed_is_given_back():
    alone = {name: value for name, value in os.environ.items() if name != "BADAK_COMPILE_CHECK"}  # which runs it beside, too
    done = subprocess.run([sys.executable, "-c", HELD], env=alone, capture_output=True, text=True, check=True)
    recorded, mib = done.stdout.split()
    assert recorded == "True" and int(mib) < 150, mib  # eight results are 244 MiB; two stay, and a copy of the argument
