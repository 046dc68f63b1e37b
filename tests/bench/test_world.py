"""The bench of others' programs: its tables, and what it counts as installed. Nothing here is timed."""

import json
import subprocess
import sys
from copy import deepcopy

import pytest

from bench import world, world_setup, world_table

PEER = {"ms": 200.0, "spread": 0.1, "peak_mb": 300, "foreign_cores": 0.0, "values": [0.5]}
DOCUMENT = {
    "date": "today", "commit": "abc", "settings": {"rounds": 4, "seconds": 1.5, "tiny": False},
    "installed": {"torch": {"mib": 1068, "versions": {"torch": "2"}}, "badak": {"mib": 479, "versions": {"numpy": "2"}}},
    "workloads": {
        "bert": {"title": "BERT", "parameters": 1, "apart": 1e-6, "agrees": True, "peers": {
            "badak 1": PEER, "torch 1": PEER | {"ms": 400.0, "peak_mb": 500},
            "badak 2": PEER | {"ms": 100.0, "peak_mb": 310}, "torch 2": PEER | {"ms": 50.0},
        }},
    },
    "first": {"gpt2": {"title": "a token", "badak": {"seconds": 2.0, "peak_mb": 900}, "torch": {"seconds": 5.0, "peak_mb": 950}}},
}  # fmt: skip


def test_the_table_divides_pytorch_by_badak():
    assert world_table.ratios(DOCUMENT) == [2.0, 0.5]
    said = world_table.markdown(DOCUMENT)
    assert "| BERT | 200 | 400 | **2.00** | 100 | 50.0 | **0.50** | 10% | 310 | 500 | 1e-06 |" in said
    assert "| a token | 2.00 | 5.00 | **2.50** | 900 | 950 |" in said
    assert "mean of all: **1.00**" in said and "badak 479 MiB, PyTorch (for CPUs) 1068 MiB" in said
    assert "badak is behind in: BERT (2 threads)." in said and "Not valid" not in said and "NOT THE SAME" not in said


def test_a_run_that_does_not_count_says_so():
    document = deepcopy(DOCUMENT)
    document["workloads"]["bert"] |= {"agrees": False, "apart": 0.3}
    document["workloads"]["bert"]["peers"]["torch 1"]["foreign_cores"] = 0.4
    document["settings"]["tiny"] = True
    said = world_table.markdown(document)
    assert "3e-01 NOT THE SAME" in said
    assert "computing during: BERT." in said and "every program was shrunk" in said


@pytest.mark.nightly
def test_what_is_installed_counts_the_packages_that_the_library_needs():
    torch, badak = world_setup.installed("torch"), world_setup.installed("badak")
    assert {"torch", "sympy", "numpy", "transformers", "tokenizers"} <= torch["parts"].keys()
    assert {"badak", "numba", "llvmlite", "numpy", "ml-dtypes", "transformers"} <= badak["parts"].keys()
    assert "torch" not in badak["parts"] and "numba" not in torch["parts"]
    assert torch["mib"] > badak["mib"] > 100 and badak["parts"]["badak"] > 1


@pytest.mark.nightly
@pytest.mark.parametrize("name", ["bert", "gpt2", "vit", "llama", "lightning", "unet"])
def test_both_libraries_compute_the_same(name, tmp_path):
    """One step each of the shrunk program, one thread."""
    out = tmp_path / "world.json"
    wanted = ["--tiny", "--only", name, "--threads", "1", "--rounds", "1", "--secs", "0.01", "--starts", "0", "--out", str(out)]
    done = subprocess.run([sys.executable, "-m", "bench.world", *wanted], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads(out.read_text())["workloads"][name]
    assert found["agrees"] and found["apart"] <= world.SAME[name]
    assert found["peers"].keys() == {"badak 1", "torch 1"}
