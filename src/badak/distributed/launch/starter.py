"""MPI's own starter: its command line, and the machines that it is to use."""

import re
import shutil
import socket
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from badak.core.errors import FileError, NotSupportedError, tr

STARTER = "mpiexec"
LINE = re.compile(r"([A-Za-z0-9._-]+)(?::(\d+)|\s+slots\s*=\s*(\d+))?(?:\s.*)?$")  # MPICH's way, and Open MPI's


class Host(NamedTuple):
    """A machine and how many ranks it may have."""

    name: str
    ranks: int


def read_hosts(path: str) -> list[Host]:
    """The machines of a host file: lines "node1:2", "node1 slots=2" or "node1". Raises FileError for another line, or none."""
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        raise FileError(tr("badak launch: {}: there is no such host file", path), 'a file with lines like "node1:2"') from None
    except (OSError, UnicodeDecodeError) as error:
        raise FileError(tr("badak launch: {}: not a host file ({})", path, error), 'a file with lines like "node1:2"') from None
    hosts = []
    for number, line in enumerate(lines, 1):
        if words := line.partition("#")[0].strip():
            found = LINE.match(words)
            if found is None or found[2] == "0" or found[3] == "0":
                cause = tr("badak launch: {}, line {}: not a host: {!r}", path, number, words[:80])
                raise FileError(cause, 'a line like "node1:2"')
            hosts.append(Host(found[1], int(found[2] or found[3] or 1)))
    if not hosts:
        raise FileError(tr("badak launch: {}: this host file names no host", path), 'a file with lines like "node1:2"')
    return hosts


def address(hosts: list[Host]) -> str:
    """The address of this machine as the others reach it: the one from which it would speak to them. Raises FileError."""
    own = "127.0.0.1"
    for host in hosts:
        try:
            family, kind, _, _, there = socket.getaddrinfo(host.name, 22, socket.AF_INET, socket.SOCK_DGRAM)[0]
            with socket.socket(family, kind) as line:
                line.connect(there)  # sends nothing
                own = line.getsockname()[0]
        except OSError as error:
            cause = tr("badak launch: the host {!r} has no address here ({})", host.name, error.strerror or error)
            raise FileError(cause, tr("ssh {} must work", host.name)) from None
        if not own.startswith("127."):
            break
    return own


def starter(ranks: int, hosts: list[Host], folder: str) -> list[str]:
    """The command line of MPI's own starter, which may need a file in the folder; none where the ranks are started from here.

    Raises NotSupportedError without MPI.
    """
    if ranks == 1 and not hosts:
        return []
    beside = Path(sys.executable).parent / STARTER
    found = str(beside) if beside.exists() else shutil.which(STARTER)
    if found is None and (hosts or find_spec("mpi4py") is None):
        raise NotSupportedError("badak launch: MPI's starter mpiexec was not found", 'pip install "badak[mpi]"')
    said = subprocess.run([found, "--version"], capture_output=True, text=True, timeout=60).stdout if found else ""
    is_open = "Open" in said or "prte" in said.lower()
    if not hosts and not is_open:
        return []
    line = [str(found), "-n", str(ranks)]
    if is_open:
        line += ["--oversubscribe", "--allow-run-as-root"]
    if hosts:
        path = Path(folder) / "hosts"
        path.write_text(tr("").join(tr("{} slots={}\n", name, n) if is_open else f"{name}:{n}\n" for name, n in hosts))
        line += ["--hostfile" if is_open else "-f", str(path)]
    return line
