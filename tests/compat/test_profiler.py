"""torch.profiler: steps, events, sums and traces, by PyTorch's rules."""

import gzip
import itertools
import json
import threading

import pytest
import torch

import badak
from badak.core.errors import ArgumentError, NotSupportedError, StateError

both = pytest.mark.parametrize("lib", [badak, torch], ids=["badak", "pytorch"])


def step(model, optimizer, x):
    loss = model(x).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()


def training(lib):
    model = lib.nn.Sequential(lib.nn.Linear(4, 8), lib.nn.ReLU(), lib.nn.Linear(8, 2))
    return model, lib.optim.SGD(model.parameters(), lr=0.1), lib.ones(3, 4)


@pytest.mark.filterwarnings("ignore:Profiler won.t be using warmup")
def test_schedules_say_what_pytorchs_say():
    for wait, warmup, active, repeat, skip in itertools.product((0, 1, 2), (0, 2), (1, 3), (0, 2), (0, 1)):
        options = {"wait": wait, "warmup": warmup, "active": active, "repeat": repeat, "skip_first": skip}
        ours, theirs = badak.profiler.schedule(**options), torch.profiler.schedule(**options)
        assert [ours(n).name for n in range(20)] == [theirs(n).name for n in range(20)], options
    with pytest.raises(ArgumentError, match="Invalid profiler schedule arguments\nfix: "):
        badak.profiler.schedule(active=0)


@both
@pytest.mark.filterwarnings("ignore")  # PyTorch's profiler never ends where one of its warnings is an error
def test_traces_are_ready_when_the_schedule_says(lib):
    ready = []
    model, optimizer, x = training(lib)

    def keep(profiler):
        ready.append((profiler.step_num, sum(each.name.startswith("ProfilerStep") for each in profiler.events())))

    plan = lib.profiler.schedule(wait=1, warmup=1, active=2, repeat=2)
    activities = [lib.profiler.ProfilerActivity.CPU]
    with lib.profiler.profile(activities=activities, schedule=plan, on_trace_ready=keep) as profiler:
        for _ in range(9):
            step(model, optimizer, x)
            profiler.step()
    assert ready == [(4, 2), (8, 2)]
    ready = []
    plan = lib.profiler.schedule(wait=0, warmup=1, active=3)
    with lib.profiler.profile(schedule=plan, on_trace_ready=keep) as profiler:
        for _ in range(6):
            profiler.step()
    assert [number for number, _ in ready] == [4, 6]  # what was not complete is ready at the end


@both
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("kept", "warmup", "count"), [(True, 0, 12), (True, 1, 10), (False, 0, 0), (False, 1, 1)])
def test_events_of_all_parts_are_kept_where_that_is_asked(lib, kept, warmup, count):
    plan = lib.profiler.schedule(wait=0, warmup=warmup, active=3)
    with lib.profiler.profile(schedule=plan, acc_events=kept) as profiler:
        for _ in range(12 if warmup == 0 else 14):
            with lib.profiler.record_function("mine"):
                lib.relu(lib.ones(2))
            profiler.step()
    assert sum(each.count for each in profiler.key_averages() if each.key == "mine") == count


@both
@pytest.mark.filterwarnings("ignore")
def test_what_a_program_adds_stands_in_the_trace(lib, tmp_path):
    with lib.profiler.profile() as profiler:
        with lib.profiler.record_function("mine"):
            lib.relu(lib.ones(2))
        profiler.add_metadata("first", "a")
        profiler.add_metadata_json("second", "[1, 2]")
    profiler.export_chrome_trace(str(tmp_path / "trace.json"))
    written = json.loads((tmp_path / "trace.json").read_text())
    assert (written["first"], written["second"]) == ("a", [1, 2])
    assert {each.key: each.is_user_annotation for each in profiler.key_averages()}.items() >= {
        ("mine", True),
        ("aten::relu", False),
    }
    with pytest.raises(TypeError):
        lib.profiler.profile(record_shape=True)


@both
@pytest.mark.filterwarnings("ignore")
def test_blocks_with_names_are_events_and_hold_what_ran_in_them(lib):
    @lib.profiler.record_function("decorated")
    def twice(x):
        return x * 2

    with lib.profiler.profile() as profiler:
        with lib.profiler.record_function("outer"):
            twice(lib.ones(3))
    by_name = {each.name: each for each in profiler.events()}
    assert by_name["decorated"].cpu_parent is by_name["outer"] and by_name["outer"].cpu_parent is None
    assert 0 < by_name["decorated"].cpu_time_total <= by_name["outer"].cpu_time_total
    assert by_name["outer"].self_cpu_time_total <= by_name["outer"].cpu_time_total


def test_sums_of_a_training_step():
    model, optimizer, x = training(badak)
    with badak.profiler.profile(record_shapes=True, with_flops=True) as profiler:
        for _ in range(3):
            step(model, optimizer, x)
    sums = {each.key: each for each in profiler.key_averages()}
    assert sums["aten::linear"].count == sums["AddmmBackward0"].count == 6
    assert sums["aten::relu"].count == sums["ReluBackward0"].count == sums["Optimizer.step#SGD.step"].count == 3
    assert sums["aten::linear"].flops == 3 * 2 * 3 * (4 * 8 + 8 * 2)
    shapes = {
        str(each.input_shapes): each.count
        for each in profiler.key_averages(group_by_input_shape=True)
        if each.key == "aten::linear"
    }
    assert shapes == {"[[3, 4], [8, 4], [8]]": 3, "[[3, 8], [2, 8], [2]]": 3}
    top = [each for each in profiler.events() if each.cpu_parent is None]
    assert sum(each.cpu_time_total for each in top) == pytest.approx(profiler.self_cpu_time_total)
    assert profiler.total_average().count == len(profiler.events())


def test_a_compiled_step_is_measured_as_it_is_written():
    model, optimizer, x = training(badak)
    compiled = badak.compile(step)
    for _ in range(4):
        compiled(model, optimizer, x)
    with badak.profiler.profile() as profiler:
        compiled(model, optimizer, x)
    assert {each.key: each.count for each in profiler.key_averages()}["aten::linear"] == 2


def test_the_table():
    with badak.profiler.profile(record_shapes=True) as profiler:
        x = badak.ones(3, 4)
        for _ in range(3):
            x = (x @ badak.ones(4, 4)).relu()
    sums = profiler.key_averages(group_by_input_shape=True)
    lines = sums.table(sort_by="count", row_limit=1, header="three layers").splitlines()
    heads = [each.strip() for each in lines[2].split("  ") if each.strip()]
    assert lines[0] == "three layers"
    assert heads == "Name,Self CPU %,Self CPU,CPU total %,CPU total,CPU time avg,# of Calls,Input Shapes".split(",")
    assert lines[4].split()[0] in ("aten::matmul", "aten::relu") and "%" in lines[4] and len(lines) == 7
    assert lines[-1].startswith("Self CPU time total: ")
    assert len(sums.table(row_limit=-1).splitlines()) == 5 + len(sums)
    assert profiler.table(sort_by="cpu_time_total").count("\n") > 5
    with pytest.raises(ArgumentError, match="expected sort_by of cpu_time, .*; got 'speed'\nfix: "):
        sums.table(sort_by="speed")


@pytest.mark.parametrize("packed", [False, True])
def test_traces_that_a_browser_shows(tmp_path, packed):
    model, optimizer, x = training(badak)
    handler = badak.profiler.tensorboard_trace_handler(str(tmp_path / "log"), worker_name="me", use_gzip=packed)
    with badak.profiler.profile(on_trace_ready=handler, record_shapes=True):
        step(model, optimizer, x)
    (path,) = (tmp_path / "log").iterdir()
    assert path.name.startswith("me.") and path.name.endswith(".pt.trace.json" + (".gz" if packed else ""))
    data = path.read_bytes()
    rows = json.loads(gzip.decompress(data) if packed else data)["traceEvents"]
    assert {row["ph"] for row in rows} == {"X"} and all(row["dur"] >= 0 for row in rows)
    assert [row["args"] for row in rows if row["name"] == "aten::linear"][0] == {"Input Dims": [[3, 4], [8, 4], [8]]}
    assert [row["ts"] for row in rows] == sorted(row["ts"] for row in rows)


def test_the_older_profiler_is_the_same():
    with badak.autograd.profiler.profile(record_shapes=True) as profiler:
        badak.ones(2) + 1
    assert profiler.function_events and badak.autograd.profiler.kineto_available()
    with badak.autograd.profiler.profile(enabled=False) as off:
        badak.ones(2) + 1
    with pytest.raises(StateError, match="nothing was recorded yet\nfix: "):
        off.key_averages()


def test_another_thread_does_not_write_into_the_recording():
    def other():
        with badak.profiler.record_function("elsewhere"):
            badak.ones(3) * 2

    with badak.profiler.profile() as profiler:
        with badak.profiler.record_function("here"):
            thread = threading.Thread(target=other)
            thread.start()
            thread.join()
    assert [each.name for each in profiler.events()] == ["here"]


def test_an_error_ends_its_events():
    with pytest.raises(ValueError, match="stop"), badak.profiler.profile() as profiler:
        with badak.profiler.record_function("fails"):
            raise ValueError("stop")
    assert [each.name for each in profiler.events()] == ["fails"] and not badak.profiler._recording


def test_what_is_not_measured_says_so():
    with pytest.warns(UserWarning, match="profile: profile_memory is not measured\nfix: "):
        badak.profiler.profile(profile_memory=True)
    with badak.profiler.profile() as profiler:
        pass
    with pytest.raises(NotSupportedError, match="stacks are not recorded\nfix: "):
        profiler.export_stacks("x")
    assert badak.profiler.supported_activities() == {badak.profiler.ProfilerActivity.CPU}


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: badak.profiler.profile(activities=3), "profile: expected activities; got int"),
        (lambda: badak.profiler.profile(schedule=3), "profile: schedule: expected a function; got int"),
        (lambda: badak.profiler.schedule(wait="a"), "Invalid profiler schedule arguments"),
        (lambda: badak.utils.flop_counter.FlopCounterMode(depth="a"), "expected depth, how many levels; got str"),
    ],
)
def test_wrong_settings_are_named(call, said):
    with pytest.raises(ValueError, match=f"{said}\nfix: "):
        call()


@pytest.mark.parametrize("lib", [torch, badak])
def test_whether_a_profiler_runs_is_known(lib):
    assert not lib.autograd._profiler_enabled()
    with lib.autograd.profiler.profile():
        assert lib.autograd._profiler_enabled()
    assert not lib.autograd._profiler_enabled()
