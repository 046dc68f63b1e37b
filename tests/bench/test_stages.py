"""The stages of docs/explanation/matmul.md: every one is right, and so is what the page says of them. Nothing here is timed."""

import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from bench import peaks, places, product, stage_table
from bench.stages import STAGES, Running, Stage, going, in_arrays, why_not
from tools import performance_page

ROOT = Path(__file__).resolve().parent.parent.parent
PAGE = performance_page.PRODUCTS.read_text(encoding="utf-8")


@pytest.mark.thin(20)
@pytest.mark.slow
@pytest.mark.parametrize("stage", STAGES, ids=lambda stage: stage.name)
@pytest.mark.parametrize("shape", [(1, 1, 1), (7, 5, 3), (9, 401, 50), (13, 65, 129), (33, 131, 260)], ids=str)
def test_every_stage_is_right_where_sides_are_no_multiple_of_anything(stage, shape):
    if reason := why_not(stage):
        pytest.skip(reason)
    m, k, n = shape
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((m, k)).astype(np.float32), rng.standard_normal((k, n)).astype(np.float32)
    run, (exact, allowed) = stage.start(a, b)
    with going(stage.way):
        made = np.asarray(run(), np.float64)
        again = np.asarray(run(), np.float64)
    assert made.shape == (m, n) and (np.abs(made - exact) <= allowed).all()
    np.testing.assert_array_equal(made, again)
    exactly = a.astype(np.float64) @ b.astype(np.float64)
    rounding = {"int8": 2.0**-5, "bfloat16": 2.0**-7}.get(stage.way[0] if stage.way else "", 1e-5)
    assert (np.abs(made - exactly) <= rounding * np.sqrt(k) * np.abs(a).max() * np.abs(b).max()).all()


def test_a_stage_that_leaves_out_a_product_is_not_measured():
    wrong = in_arrays(lambda a, b, c: np.matmul(a[:, 1:], b[1:], out=c))
    with pytest.raises(AssertionError, match="wrong: 9 x 8 times 8 x 7 is wrong by"):
        Running(Stage("wrong", wrong), 9, 8, 7)


# The first lane of a float32 1.0 as what each unit takes it for: a product and its sum in each turn, for each of the sums.
@pytest.mark.parametrize("unit, each", [("float32", 1.0), ("avx512_bf16", 1.0), ("vnni", 0x80 * -0x80 + 0x3F * 0x3F)])
def test_a_peak_counts_the_operations_that_its_loop_does(unit, each):
    if reason := peaks.why_not(unit):
        pytest.skip(reason)
    sums = 3 * peaks.ROWS
    assert peaks.loop(unit)(1.0, 5) == 5 * sums * each
    lanes = {"float32": peaks.REGISTER // 4, "avx512_bf16": 32, "vnni": 64}[unit]
    assert peaks.UNITS[unit].operations == 2 * lanes * sums


@pytest.mark.nightly
def test_the_command_draws_what_was_measured(tmp_path):
    document = places.kept("stages")[0]
    kept = tmp_path / "stages.json"
    kept.write_text(json.dumps(document), encoding="utf-8")
    command = [sys.executable, "-m", "bench.stages", "--draw", "--out", kept, "--images", tmp_path]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and stage_table.markdown(document) in done.stdout, done.stderr
    for name in ("tiles", "rates", "roofline"):
        assert (tmp_path / f"product-{name}.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.nightly
def test_the_command_measures_and_draws(tmp_path):
    command = [sys.executable, "-m", "bench.stages", "--tiny", "--out", tmp_path / "stages.json", "--images", tmp_path]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    document = json.loads((tmp_path / "stages.json").read_text(encoding="utf-8"))
    assert [row["name"] for row in document["stages"]] == [stage.name for stage in STAGES if not why_not(stage)]
    assert set(document["left_out"]) == {stage.name for stage in STAGES if why_not(stage)}
    assert stage_table.markdown(document) in done.stdout
    for name in ("tiles", "rates", "roofline"):
        assert (tmp_path / f"product-{name}.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.slow
def test_the_command_says_what_is_wrong():
    for more, text in (["--size", "0"], "at least 1; got 0"), (["--draw", "--out", "nowhere.json"], "nowhere.json: no such file"):
        command = [sys.executable, "-m", "bench.stages", *more]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        assert done.returncode and text in done.stderr and "Traceback" not in done.stderr


def test_the_page_holds_the_measured_figures():
    assert performance_page.page(performance_page.PRODUCTS) == PAGE, "run tools/performance_page.py"
    for document in places.kept("stages"):
        assert document["machine"]["cpu"] in PAGE


def test_the_code_of_the_page_is_that_of_the_stages():
    source = [line.strip() for line in Path(product.__file__).read_text(encoding="utf-8").splitlines()]
    blocks = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    assert len(blocks) >= 3
    for block in blocks:
        lines = [line.strip() for line in block.splitlines()]
        places_of = [i for i in range(len(source)) if source[i : i + len(lines)] == lines]
        assert places_of, f"not in product.py: {block}"


@pytest.mark.slow
def test_the_names_and_commands_of_the_page_are_there():
    for name in ("DEEP", "WIDE", "ROWS", "TILE", "tile"):
        assert f"`{name}`" in PAGE and hasattr(product, name)
    known = subprocess.run([sys.executable, "-m", "bench.stages", "--help"], cwd=ROOT, capture_output=True, text=True, check=True)
    asked = {option for line in re.findall(r"python -m bench\.stages[^`\n]*", PAGE) for option in re.findall(r"--\w+", line)}
    assert asked and all(option in known.stdout for option in asked)
