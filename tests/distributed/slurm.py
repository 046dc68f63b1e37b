"""A Slurm of one node for tests: Debian's programs, started by hand in a folder of their own, at loopback addresses."""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PROGRAMS = ("munged", "slurmctld", "slurmd", "srun", "sbatch", "scontrol", "squeue", "sinfo")
ENDED = ("BOOT_FAIL", "CANCELLED", "COMPLETED", "DEADLINE", "FAILED", "NODE_FAIL", "OUT_OF_MEMORY", "PREEMPTED", "TIMEOUT")
CONF = """
ClusterName=badak
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
MailProg=/bin/true
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
MpiDefault=none
FirstJobId={first}
ReturnToService=2
NodeName=localhost NodeHostname=localhost NodeAddr=127.0.0.1 CPUs={cpus} State=UNKNOWN
PartitionName=main Nodes=localhost Default=YES MaxTime=INFINITE State=UP OverSubscribe=FORCE:8
"""


def why_absent() -> str:
    """Why there can be no Slurm here, or ""."""
    missing = [name for name in PROGRAMS if found(name) is None]
    if missing:
        return f"Slurm's programs are not installed: {', '.join(missing)} (apt-get install slurm-wlm munge)"
    if os.geteuid() != 0:
        return "slurmd needs root"
    return "two cores are needed for two tasks" if (os.cpu_count() or 1) < 2 else ""


def found(name: str) -> str | None:
    return shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")


class Slurm:
    """Its three daemons, until `stop()`."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="badak-slurm-", dir="/tmp"))  # a socket's path may have 107 bytes
        for name in ("state", "spool"):
            (self.folder / name).mkdir()
        (self.folder / "munge.key").write_bytes(os.urandom(1024))
        (self.folder / "munge.key").chmod(0o400)
        with socket.create_server(("127.0.0.1", 0)) as a, socket.create_server(("127.0.0.1", 0)) as b:
            ports = [a.getsockname()[1], b.getsockname()[1]]
        conf = self.folder / "slurm.conf"
        host = socket.gethostname().partition(".")[0]
        first = 1 + os.getpid() * 8 % 60_000_000  # MPICH names its shared memory by the job: two Slurms here would meet in it
        conf.write_text(CONF.format(host=host, ports=ports, folder=self.folder, cpus=os.cpu_count(), first=first))
        self.env = {**os.environ, "SLURM_CONF": str(conf)}
        names = ("socket", "key-file", "log-file", "pid-file")
        munge = [f"--{name}={self.folder}/munge.{name.partition('-')[0]}" for name in names]
        self.daemons = [
            self._start("munged", "--foreground", "--force", f"--seed-file={self.folder}/munge.seed", *munge),
            self._start("slurmctld", "-D", "-c", "-f", str(conf)),
            self._start("slurmd", "-D", "-c", "-N", "localhost", "-f", str(conf)),
        ]
        self._until_it_is_there()

    def _start(self, name: str, *arguments: str) -> subprocess.Popen:
        program = found(name)
        assert program is not None
        quiet = subprocess.DEVNULL
        return subprocess.Popen([program, *arguments], env=self.env, stdin=quiet, stdout=quiet, stderr=quiet)

    def _until_it_is_there(self) -> None:
        until = time.monotonic() + 60
        while time.monotonic() < until:
            state = subprocess.run(["sinfo", "-h", "-o", "%t"], env=self.env, capture_output=True, text=True).stdout
            if state.strip() == "idle":
                return
            time.sleep(0.2)
        said = (self.folder / "slurmctld.log").read_text()[-2000:]
        self.stop()
        raise AssertionError(f"Slurm did not come up:\n{said}")

    def stop(self) -> None:
        """End the daemons, and leave nothing."""
        for daemon in reversed(self.daemons):
            daemon.terminate()
            try:
                daemon.wait(20)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def srun(self, *words: object, cwd: Path, env: dict[str, str]) -> subprocess.CompletedProcess:
        """srun with two tasks."""
        line = ["srun", "-n", "2", *map(str, words)]
        return subprocess.run(line, cwd=cwd, env={**env, **self._own()}, capture_output=True, text=True, timeout=150)

    def sbatch(self, script: str, cwd: Path, env: dict[str, str]) -> tuple[int, str]:
        """Run the script to its end: its exit code, and what it printed."""
        path = cwd / "job.sh"
        path.write_text(script)
        line = ["sbatch", "--parsable", "-o", "job.out", str(path)]
        made = subprocess.run(line, cwd=cwd, env={**env, **self._own()}, capture_output=True, text=True, check=True)
        until = time.monotonic() + 240
        while time.monotonic() < until:
            shown = self._show(made.stdout.strip())
            if shown["JobState"] in ENDED:  # among the others is SIGNALING, for a moment
                return int(shown["ExitCode"].partition(":")[0]), (cwd / "job.out").read_text()
            time.sleep(0.3)
        raise AssertionError(f"the job did not end: {shown}\n{(cwd / 'job.out').read_text()}")

    def _show(self, job: str) -> dict[str, str]:
        said = subprocess.run(["scontrol", "show", "job", job], env=self.env, capture_output=True, text=True).stdout
        return dict(word.partition("=")[::2] for word in said.split() if "=" in word)

    def _own(self) -> dict[str, str]:
        return {"SLURM_CONF": self.env["SLURM_CONF"], "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
