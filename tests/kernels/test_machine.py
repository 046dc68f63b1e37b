"""What a process may have of the machine, as its control groups say: the files of Linux are laid out in a folder."""

import os

import pytest

from badak.core import machine

V1 = "4:memory:/box/inner\n3:cpuset:/\n2:cpu,cpuacct:/box/inner\n"
QUOTA = {"cpu,cpuacct/box/cpu.cfs_quota_us": "250000", "cpu,cpuacct/box/cpu.cfs_period_us": "100000"}


@pytest.fixture
def grouped(monkeypatch, tmp_path):
    def lay(process, files, allowed=16):
        for name, text in files.items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(text + "\n")
        (tmp_path / "process").write_text(process)
        monkeypatch.setattr(machine, "_GROUPS", tmp_path)
        monkeypatch.setattr(machine, "_OF_PROCESS", tmp_path / "process")
        monkeypatch.setattr(os, "sched_getaffinity", lambda process: set(range(allowed)), raising=False)
        machine._granted.cache_clear()
        machine.machine_memory.cache_clear()

    yield lay
    machine._granted.cache_clear()
    machine.machine_memory.cache_clear()


@pytest.mark.parametrize(
    "process, files, cores",
    [
        ("0::/\n", {"cpu.max": "150000 100000"}, 2),  # a container sees its own group as the root
        ("0::/\n", {"cpu.max": "10000 100000"}, 1),
        ("0::/\n", {"cpu.max": "max 100000"}, 16),
        ("0::/\n", {"cpu.max": "3200000 100000"}, 16),  # more than it may run on
        ("0::/a/b\n", {"cpu.max": "max 100000", "a/cpu.max": "400000 100000", "a/b/cpu.max": "max 100000"}, 4),
        ("0::/elsewhere\n", {"cpu.max": "300000 100000"}, 3),  # the path of the host, which a container does not see
        ("0::/a\n", {"a/cpu.max": "what"}, 16),
        ("0::/a\n", {"a/cpu.max": "100000 0"}, 16),
        (V1, QUOTA, 3),
        (V1, {**QUOTA, "cpu,cpuacct/box/inner/cpu.cfs_quota_us": "-1", "cpu,cpuacct/box/inner/cpu.cfs_period_us": "100000"}, 3),
        (V1 + "0::/\n", QUOTA, 3),
        ("", {}, 16),
        ("nonsense\n", {"cpu.max": "100000 100000"}, 16),
    ],
)
def test_the_quota_of_a_container_bounds_the_threads(grouped, process, files, cores):
    grouped(process, files)
    assert machine.cores() == cores
    assert machine.quota() == (cores if cores < 16 else None)


@pytest.mark.parametrize(
    "process, name", [("0::/\n", "memory.max"), ("0::/a/b\n", "a/memory.max"), (V1, "memory/box/memory.limit_in_bytes")]
)
def test_the_memory_of_a_container_is_what_there_is(grouped, process, name):
    grouped(process, {name: "1048576"})
    assert machine.machine_memory() == 1 << 20
    grouped(process, {name: "max"})
    assert machine.machine_memory() is None or machine.machine_memory() > 1 << 26
