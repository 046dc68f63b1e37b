"""A line of cause and a line of fix for bad input that transformers finds, and no page of its inside."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.world.test_models import needs_transformers

pytestmark = pytest.mark.slow

PROGRAM = Path(__file__).resolve().parent / "bad_input.py"
TOLD = {
    "missing_shard": """\
from_pretrained: model-00002-of-00006.safetensors is missing in FOLDER (a part of the weights, which the index next to it names)
fix: copy it from where the others came, or save the model again""",
    "missing_pickled_shard": """\
FOLDER/pytorch_model-00001-of-00002.bin: no such file
fix: check the path; files are looked up from the folder that the program runs in""",
    "other_shape": """\
from_pretrained: lm_head.weight is (160, 32) in the checkpoint and (100, 32) in the model, and 1 more weights have other shapes
fix: the config.json that belongs to the checkpoint; ignore_mismatched_sizes=True draws them again""",
    "cut_file": """\
from_pretrained: FOLDER/model.safetensors is cut short or no safetensors file (incomplete metadata, file not fully covered)
fix: copy or download it again""",
    "no_weights": """\
from_pretrained: FOLDER holds none of model.safetensors, or pytorch_model.bin
fix: the folder that save_pretrained wrote, with its weights""",
    "bitsandbytes": """\
from_pretrained: the weights are to be quantised by bitsandbytes, and badak computes in float32, float16 and bfloat16
fix: weights that are not quantised, and no quantization_config (nor in config.json)""",
    "gptq": """\
from_pretrained: the weights are to be quantised by gptq, and badak computes in float32, float16 and bfloat16
fix: weights that are not quantised, and no quantization_config (nor in config.json)""",
    "own_code": """\
from_pretrained: FOLDER brings code of its own, which is run only where the program allows it
fix: read its .py files; then from_pretrained(..., trust_remote_code=True)""",
    "other_device": """\
badak computes on the CPU; device 'cuda' was asked for
fix: device='cpu' (or leave it out)""",
    "own_mistake": None,  # Python's traceback leads to the program's own line
}


def run(*arguments):
    command = [sys.executable, "-W", "ignore", "-m", "badak", "run", str(PROGRAM), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, stdin=subprocess.DEVNULL)


@needs_transformers
def test_each_bad_input_is_told_in_two_lines():
    done = run()
    assert done.returncode == 0, done.stderr
    found = [json.loads(line) for line in done.stdout.splitlines() if line.startswith('{"input"')]
    assert {each["input"]: each["told"] for each in found} == TOLD


@needs_transformers
def test_the_traceback_shows_the_program_alone():
    done = run("missing_shard")
    trace = done.stderr[done.stderr.index("Traceback") :].splitlines()
    assert done.returncode == 1 and "transformers" not in "".join(line for line in trace if line.startswith("  File"))
    shown = [line.strip() for line in trace if line.startswith("    ") and line.strip(" ~^")]  # Python underlines parts
    assert shown[-1] == "Llama.from_pretrained(folder)"
    assert trace[-2].startswith("badak.core.errors.FileError: from_pretrained: model-00002-of-00006.safetensors is missing in ")
    assert trace[-1] == "fix: copy it from where the others came, or save the model again"
