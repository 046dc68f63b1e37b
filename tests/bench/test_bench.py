"""The bench: the same work in every library, and a table that says what was measured. Nothing here is timed."""

import json
import re
from dataclasses import asdict

import numpy as np
import pytest
import torch

from badak.inspect.profiling.peer import Peer
from bench import __main__ as main
from bench import bounds, places, products, rates, table
from bench.peers import LIBRARIES, chosen, command, missing
from bench.steps import build
from bench.workloads import WORKLOADS, Workload, data, parameter_count, shapes, shrunk, weights
from bench.writing import FullCacheAttention, Writer, transpose_linears, write
from tools import performance_page

TRAIN = [name for name, work in WORKLOADS.items() if work.trains]


def values(label: str, names: list[str]) -> dict[str, list[float]]:
    """What two steps of shrunk workloads return in the process of one peer."""
    (library,) = [each for each in LIBRARIES if each.label == label]
    found = {}
    with Peer(command(library), threads=1, timeout=120) as peer:
        for name in names:
            if name in library.workloads:
                work = shrunk(WORKLOADS[name])
                assert peer.ask("build", work=asdict(work))["parameters"] == parameter_count(work)
                found[name] = peer.ask("steps", count=2)["values"]
    return found


@pytest.mark.slow
def test_badak_and_pytorch_do_the_same_work():
    ours, theirs = values("badak blocks", list(WORKLOADS)), values("torch blocks", list(WORKLOADS))
    assert ours.keys() == theirs.keys() == WORKLOADS.keys()
    for name in WORKLOADS:
        np.testing.assert_allclose(ours[name], theirs[name], rtol=0, atol=1e-5, err_msg=name)
    assert all(ours[name][1] < ours[name][0] for name in TRAIN)


@pytest.mark.nightly
@pytest.mark.parametrize("label", ["badak layers", "torch layers", "torch products", "torch transposed", "jax", "ctranslate2"])
def test_every_way_and_every_other_peer_does_the_same_work(label):
    if any(missing(each) for each in chosen([label])):
        pytest.skip(f"{label} is not installed")
    found = values(label, list(WORKLOADS))
    for name, losses in found.items():
        expected = build(shrunk(WORKLOADS[name]), "blocks")
        np.testing.assert_allclose(losses, [expected.step() for _ in losses], rtol=0, atol=1e-4, err_msg=name)


@pytest.mark.nightly
@pytest.mark.parametrize("label", ["badak blocks bf16", "torch blocks bf16", "torch autocast bf16", "badak blocks int8"])
def test_fewer_bits_do_the_same_work_to_their_rounding(label):
    (library,) = chosen([label])
    for name, losses in values(label, [name for name in library.workloads if name not in ("I1", "I2")]).items():
        expected = build(shrunk(WORKLOADS[name]), "blocks")
        np.testing.assert_allclose(
            losses, [expected.step() for _ in losses], rtol=0, atol=table.AGREE[library.precision], err_msg=name
        )


@pytest.mark.thin(1)
@pytest.mark.slow
@pytest.mark.parametrize("label", ["badak blocks bf16", "badak blocks int8", "ctranslate2 int8"])
def test_fewer_bits_write(label):
    (library,) = chosen([label])
    if missing(library):
        pytest.skip(f"{library.package} is not installed")
    assert all(np.isfinite(found).all() for found in values(label, ["I1"]).values())


@pytest.mark.parametrize("way", ["blocks", "layers", "products"])
def test_every_weight_has_its_place_in_every_way(way):
    for name in [*TRAIN, "I3"]:
        work = shrunk(WORKLOADS[name])
        assert build(work, way).parameters == parameter_count(work) == sum(w.size for w in weights(work).values())


@pytest.mark.parametrize("attention", ["cached", "full", "transposed"])
def test_writing_with_a_cache_is_writing_without(attention):
    work = shrunk(WORKLOADS["I1"])
    model = Writer(work, FullCacheAttention) if attention == "full" else Writer(work)
    torch.nn.init.normal_(model.token.weight, std=1.0)  # texts with some variety
    prompt = torch.from_numpy(data(work)["x"])
    expected = prompt
    with torch.no_grad():
        for _ in range(4):
            expected = torch.cat([expected, model(expected, 0).argmax(-1, keepdim=True)], dim=1)
        if attention == "transposed":
            transpose_linears(model)
        assert write(model, prompt, 4).tolist() == expected[0, work.prompt :].tolist()


def test_the_bound_counts_products_and_bytes():
    work = Workload("tiny", "", "gpt", d=4, heads=1, layers=1, batch=1, T=2, vocab=8)
    linears = 2 * 2 * (12 * 4 * 4) + 2 * 2 * 4 * 8  # qkv, out, up, down for two tokens; the head
    attention = 4 * 4 * 3  # scores and values of one and of two visible keys
    assert bounds.flops(work) == 3 * (linears + attention)
    assert bounds.traffic(work) == ("update", 0.0)  # fits into the cache
    assert bounds.traffic(WORKLOADS["W7"]) == ("update", 28.0 * parameter_count(WORKLOADS["W7"]))
    reached = {"gflops": 2.0, "update_gb_s": 1.0, "read_gb_s": 4.0}
    assert bounds.bound_ms(work, reached) == bounds.flops(work) / 2e6
    writing = WORKLOADS["I2"]
    read = 4.0 * parameter_count(writing) * 128
    assert bounds.bound_ms(writing, reached) == pytest.approx(bounds.flops(writing) / 2e6 + read / 4e6)


def test_parameters_are_those_of_the_known_models():
    assert parameter_count(WORKLOADS["W7"]) == 124_439_808  # GPT-2
    assert shapes(WORKLOADS["I3"])["token.weight"] == (30522, 384)


def document() -> dict:
    """What a run writes, with made-up figures."""
    peer = {"p10": 1.0, "p90": 3.0, "spread": 0.1, "steps": 9, "foreign_cores": 0.0, "values": [1.0], "peak_mb": 500}
    peers = {
        "badak blocks": {**peer, "ms": 2.0, "apart": None},
        "badak compile": {**peer, "ms": 1.6, "apart": 0.0, "spread": 0.2, "peak_mb": 300},
        "badak layers": {**peer, "ms": 9.0, "apart": 0.0},
        "torch blocks": {**peer, "ms": 6.0, "apart": 1e-6},
        "torch compile": {**peer, "ms": 5.0, "apart": 1e-6, "peak_mb": 900},
        "jax": {**peer, "ms": 1.0, "apart": 1e-5},
    }
    row = {
        "title": "title",
        "parameters": 7,
        "peers": peers,
        "missing": {"ctranslate2": "not installed"},
        "bound_ms": 1.0,
        "rates": {},
    }
    return {
        "date": "today", "commit": "abc",
        "machine": {"cpu": "fast", "vectors": "AVX2", "cores": 2},
        "settings": {"rounds": 1, "seconds": 1, "tiny": False},
        "rates": {"gflops": 2, "numpy_gflops": 1, "badak_gflops": 2, "read_gb_s": 1, "update_gb_s": 1},
        "workloads": {"W2": row},
    }  # fmt: skip


def test_the_table_tells_ratio_bound_and_who_is_ahead():
    found = document()
    lines = table.markdown(json.loads(json.dumps(found))).splitlines()
    cells = [cell.strip() for cell in lines[4].strip("|").split("|")]
    assert lines[0] == "**float32**" and "**bfloat16**" not in lines
    assert cells[:8] == ["W2", WORKLOADS["W2"].title, "2.00", "1.60", "6.00", "5.00", "1.00", "-"]
    assert cells[8:] == ["3.12", "0.62", "20%", "1e-05", "500", "300", "500"]
    text = "\n".join(lines)
    assert "badak is behind jax in W2." in text and "badak is behind torch" not in text
    assert "badak 2, numpy 1 GFLOP/s" in text
    assert "W2: no ctranslate2: not installed." in text and "Not valid" not in text
    assert "torch blocks" in table.details(found)


def test_fewer_bits_have_tables_of_their_own():
    found = document()
    peers = found["workloads"]["W2"]["peers"]
    made = {"ms": 0.5, "apart": 0.01, "spread": 0.3}
    peers |= {
        "badak blocks bf16": {**peers["badak blocks"], **made},
        "torch blocks bf16": {**peers["torch blocks"], "ms": 7.0, "apart": 0.02},
        "badak compile int8": {**peers["badak blocks"], **made, "ms": 0.4, "apart": None},
        "ctranslate2 int8": {**peers["jax"], "ms": 0.3, "apart": None},
    }
    text = table.markdown(found)
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line.startswith("| W2")]
    assert [row[2:8] for row in rows] == [
        ["2.00", "1.60", "6.00", "5.00", "1.00", "-"],  # float32, as before
        ["0.50", "-", "7.00", "-", "14.00", "5.00"],  # bf16: the best of PyTorch in any precision is torch compile's 5
        ["-", "0.40", "0.30", "0.75", "-", "4.00"],
    ]
    assert rows[1][8:] == ["10.00", "3.20", "30%", "2e-02", "500", "-", "500"]
    assert "badak is behind ctranslate2 in W2 (int8)." in text and all(row.agrees for row in table.rows_of(found, "bf16"))
    peers["torch blocks bf16"]["apart"] = 0.5
    assert "NOT THE SAME" in table.markdown(found)
    assert table.details(found).count(" bf16") == 2


def test_a_label_tells_the_precision():
    assert {each.label for each in chosen([], ["int8"])} == {"badak blocks int8", "badak compile int8", "ctranslate2 int8"}
    assert [each.precision for each in chosen(["torch blocks"])] == ["float32", "float32", "bf16"]
    assert chosen(["jax"], ["bf16"]) == []


def test_the_table_tells_what_makes_it_invalid():
    found = document()
    found["workloads"]["W2"]["peers"]["jax"].update(apart=0.5, foreign_cores=0.9)
    text = table.markdown(found)
    assert "5e-01 NOT THE SAME" in text and "Not valid" in text and not table.rows_of(found)[0].agrees


def test_figures_lie_in_a_folder_for_each_processor(tmp_path, monkeypatch):
    monkeypatch.setattr(places, "RESULTS", tmp_path)
    monkeypatch.setattr(places, "processor", lambda: "Some(R) CPU @ 2.0GHz 6/85")
    assert places.place("bench") == tmp_path / "some-r-cpu-2-0ghz-6-85" / "bench.json"
    places.keep(places.place("bench"), document())
    places.keep(tmp_path / "another" / "bench.json", document())
    assert places.kept("bench") == [document(), document()] and places.kept("memory") == []
    page = performance_page.bench_tables(places.kept("bench"))
    assert page.count("### fast (AVX2; 2 cores)") == 2


def test_figures_under_limits_lie_in_files_of_their_own(tmp_path, monkeypatch):
    monkeypatch.setattr(places, "RESULTS", tmp_path)
    monkeypatch.setattr(places.os, "cpu_count", lambda: 2)
    names = [places.place("bench", *limits).name for limits in [(None, 2), ("avx2", 2), ("avx2", 1), (None, 4)]]
    assert names == ["bench.json", "bench-avx2.json", "bench-avx2-1-thread.json", "bench-4-threads.json"]
    places.keep(places.place("bench"), document())
    held = document()
    held["settings"]["features"], held["machine"]["threads"] = "avx2", 1
    places.keep(places.place("bench", "avx2", 1), held)
    page = performance_page.bench_tables(places.kept("bench"))
    assert re.findall("### (.*)", page) == ["fast (AVX2; 2 cores)", "fast (AVX2; 2 cores; held to AVX2; 1 thread)"]


def test_a_run_goes_on_with_one_that_was_measured_alike_and_with_no_other():
    earlier, new = document(), document()
    new["date"], new["commit"] = "2026-01-02", "def"
    new["workloads"] = {}
    both = main.continued(new, earlier)
    assert both["workloads"] == earlier["workloads"]
    assert (both["date"], both["commit"]) == (f"{earlier['date']}, 2026-01-02", f"{earlier['commit']}, def")
    assert main.continued(new, both)["commit"] == both["commit"]
    new["settings"] = {**new["settings"], "rounds": 9}
    with pytest.raises(SystemExit, match="--add: the file was measured with other settings: "):
        main.continued(new, earlier)


@pytest.mark.nightly
def test_the_rates_are_the_best_that_any_library_reaches():
    found = rates.measure(1, 1, 1 << 16)
    assert found["gflops"] == max(rate for name, rate in found.items() if name.endswith("_gflops"))
    assert {"numpy_gflops", "torch_gflops", "badak_gflops", "read_gb_s", "update_gb_s"} < set(found)
    assert all(rate > 0 for rate in found.values())


def test_the_page_of_performance_holds_the_measured_figures():
    assert performance_page.PAGE.read_text(encoding="utf-8") == performance_page.page(), "run tools/performance_page.py"


@pytest.mark.slow
def test_the_rates_of_products_are_of_the_same_products_in_every_library(capsys):
    rows = products.measure(1, 1, "a head")
    assert [row["product"] for row in rows] == ["forward 512 x 128 -> 192"]
    assert all(rate >= upper > 0 for name in ("badak", "torch", "numpy") for rate, upper in [rows[0][name]])
    products.show(rows, 1)
    assert "512 x 128 -> 192" in capsys.readouterr().out
    for name in products.LIBRARIES:
        for what in ("forward", "dx", "dw"):
            m, n, k = 5, 7, 11
            made = products.calls(what, m, n, k)
            np.testing.assert_allclose(made[name](), made["numpy"](), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("what", ["forward", "dx", "dw"])
def test_products_of_fewer_bits_are_those_of_float32_to_their_rounding(what):
    m, n, k = 5, 7, 16
    expected = products.calls(what, m, n, k)["numpy"]()
    for kind in ("bfloat16", "int8")[: 2 if what == "forward" else 1]:
        for run in products.calls(what, m, n, k, kind).values():
            made = run()
            made = made.float().numpy() if isinstance(made, torch.Tensor) else made.astype(np.float32)
            np.testing.assert_allclose(made, expected, rtol=0, atol=0.1 * np.abs(expected).max(), err_msg=kind)


@pytest.mark.slow
@pytest.mark.parametrize("way", [name for name in products.WAYS if name != "float32"])
def test_every_way_prints_its_rate_and_its_share_of_the_peak(way, capsys):
    if products.WAYS[way].why_not():
        pytest.skip(f"{way}: {products.WAYS[way].why_not()}")
    products.show(products.measure(1, 1, "a head", way), 1, way)
    said = capsys.readouterr().out
    assert "of peak" in said and "512 x 128 -> 192" in said and "Gop/s at most" in said
