"""Several machines: a host file, and an ssh that stays on this one but hands on none of our environment."""

import os
import signal
import subprocess
import sys

import pytest

from badak.core.errors import FileError
from badak.distributed.launch.starter import Host, address, read_hosts
from tests.distributed.ranks import LIMIT, PROGRAMS, environment
from tests.distributed.small import processes
from tests.waiting import until

FAILS = PROGRAMS / "fails.py"
SSH = """#!/bin/sh
echo "$@" >> "{calls}"
while [ "${{1#-}}" != "$1" ]; do shift; done
shift
exec env -i HOME=/tmp PATH=/usr/bin:/bin sh -c "$*"
"""


@pytest.fixture
def two_hosts(tmp_path):
    """(environment, host file): two names of this machine, each reached by "ssh"."""
    ssh = tmp_path / "bin" / "ssh"
    ssh.parent.mkdir()
    ssh.write_text(SSH.format(calls=tmp_path / "calls"))
    ssh.chmod(0o755)
    hosts = tmp_path / "hosts"
    hosts.write_text("# two names\nlocalhost:1\n127.0.0.1 slots=1\n")
    paths = os.pathsep.join([str(ssh.parent), os.environ["PATH"]])
    return environment(PATH=paths, HYDRA_LAUNCHER_AUTOFORK="0"), hosts


def start(two_hosts, how: str) -> subprocess.Popen:
    """badak launch over both."""
    env, hosts = two_hosts
    line = [sys.executable, "-m", "badak", "launch", "-n", "2", "--hosts", str(hosts), str(FAILS), how]
    return subprocess.Popen(line, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.mark.slow
def test_ranks_run_on_two_hosts(two_hosts, tmp_path):
    launcher = start(two_hosts, "none")
    out, err = launcher.communicate(timeout=LIMIT)
    assert launcher.returncode == 0, err
    assert sorted(out.splitlines()) == ["rank 0 of 2 done: 256.0", "rank 1 of 2 done: 256.0"]
    called = (tmp_path / "calls").read_text()
    assert "localhost" in called and "127.0.0.1" in called


@pytest.mark.slow
def test_a_host_that_is_gone_ends_all(two_hosts):
    launcher = start(two_hosts, "forever")
    for _ in range(2):
        launcher.stderr.readline()  # both ranks work
    with open(f"/proc/{processes(str(FAILS))[1]}/stat") as file:
        guard = int(file.read().rpartition(")")[2].split()[1])
    os.kill(guard, signal.SIGKILL)
    _, err = launcher.communicate(timeout=LIMIT)
    assert launcher.returncode == 1
    assert "badak launch: rank 1 on " in err
    assert "its guard is gone, and perhaps its machine; all ranks are ended\nfix: look at " in err
    until(lambda: not processes(str(FAILS)))


def test_host_files(tmp_path):
    path = tmp_path / "hosts"
    path.write_text("node1:2\n\n# and\nnode2 slots=4 max_slots=8\nnode-3.example  # one\n")
    assert read_hosts(str(path)) == [Host("node1", 2), Host("node2", 4), Host("node-3.example", 1)]
    for text, said in {
        "node1:two\n": "line 1: not a host: 'node1:two'\nfix: a line like \"node1:2\"",
        "a\nb:0\n": "line 2: not a host: 'b:0'",
        "# nobody\n": 'this host file names no host\nfix: a file with lines like "node1:2"',
    }.items():
        path.write_text(text)
        with pytest.raises(FileError) as error:
            read_hosts(str(path))
        assert said in str(error.value)


def test_the_address_that_other_hosts_reach():
    assert address([]) == "127.0.0.1" == address([Host("localhost", 1)])
    with pytest.raises(FileError, match=r"the host 'no\.such\.host\.invalid' has no address here \(.*\)\nfix: ssh no\.such"):
        address([Host("no.such.host.invalid", 1)])
