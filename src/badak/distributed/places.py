"""Where a starter has put this process: which rank of how many. It tells so by environment variables.

MPI's own starters tell what MPI will say. Others tell of tasks that they have started, of which MPI may know nothing: then each
would be alone, and do the work of all. That is an error, unless BADAK_ALONE=1 says that it is meant.
"""

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from badak.core import config
from badak.core.errors import StateError, tr

_MPI = (  # who speaks, and its variables for rank, size, local rank, local size
    ("PMI", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS"),
    ("Open MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE"),
    ("MVAPICH", "MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_LOCAL_RANK", "MV2_COMM_WORLD_LOCAL_SIZE"),
)
_OTHERS = (  # those that start tasks whether or not they speak MPI
    ("Slurm", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID", ""),
    ("PMIx", "PMIX_RANK", "PMIX_SIZE", "PMIX_LOCAL_RANK", "PMIX_LOCAL_SIZE"),
    ("jsrun", "JSM_NAMESPACE_RANK", "JSM_NAMESPACE_SIZE", "JSM_NAMESPACE_LOCAL_RANK", "JSM_NAMESPACE_LOCAL_SIZE"),
    ("Flux", "FLUX_TASK_RANK", "FLUX_JOB_SIZE", "FLUX_TASK_LOCAL_ID", ""),
    ("PALS", "PALS_RANKID", "PALS_SIZE", "PALS_LOCAL_RANKID", "PALS_LOCAL_SIZE"),
    ("torchrun", "RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE"),
)
_ALONE = tr("; BADAK_ALONE=1 where each is to work by itself")
_HOSTS = ("HYDRA_HOST_FILE", "OMPI_MCA_orte_default_hostfile", "PRTE_MCA_prte_default_hostfile", "I_MPI_HYDRA_HOST_FILE")


class Place(NamedTuple):
    """Which rank this process is, of how many; and which of those on its machine."""

    rank: int
    size: int
    local_rank: int
    local_size: int


class Claim(NamedTuple):
    """What a starter says of this process: a size of 0 where it does not say, None for what it does not say of this machine."""

    who: str
    variable: str
    rank: int
    size: int
    local_rank: int | None
    local_size: int | None

    @property
    def names_several(self) -> bool:
        """Whether there are others."""
        return self.size > 1 or self.rank > 0

    def place(self, size: int) -> Place:
        """Where that is, among so many; on one machine where nothing else is said."""
        return Place(self.rank, size, self.rank if self.local_rank is None else self.local_rank, self.local_size or size)

    def refused(self) -> StateError:
        """What is wrong where MPI knows nothing of it."""
        tasks = tr("one of {} tasks", self.size) if self.size else tr("one of several tasks")
        return StateError(
            tr("{} has started this process as {} ({}={}), but for MPI it is alone, and would do the work of all", self.who, tasks,
               self.variable, os.environ.get(self.variable, "")[:20]),
            way_to_start(self.who, self.size or "N") + _ALONE,
        )  # fmt: skip


def place() -> Place | None:
    """Where this process is among the ranks; None where it is alone. Raises StateError where a starter says otherwise than MPI."""
    known = among_many()
    if known is not None:
        return known.place(known.size)
    if _is_alone_on_purpose():
        return None
    said = claims(_OTHERS, os.environ)
    several = [one for one in said if one.names_several]
    if not several:  # PMIX_RANK=0 may be one of many, if nobody says how many there are
        several = [one for one in said if one.who == "PMIx" and not any(c.size for c in said + claims(_MPI, os.environ))]
    if not several:
        return None
    chosen = max(several, key=lambda one: one.size > 1)
    if chosen.size and "PMIX_RANK" in os.environ and _speaks_pmix():
        return chosen.place(chosen.size)
    raise chosen.refused()


def check_library() -> None:
    """Raise StateError where the ranks were started by words that the installed MPI does not know, and at which it would abort."""
    if "PMIX_RANK" in os.environ and "PMI_FD" not in os.environ and not _speaks_pmix():
        cause = tr("PMIx has started this process as one of several ranks (PMIX_RANK={}), "
                   "and the MPI that is installed here does not speak it", os.environ["PMIX_RANK"][:20])  # fmt: skip
        fix = tr("the mpirun of that MPI (badak launch finds it); srun --mpi=pmi2; or an MPI that speaks PMIx, as Open MPI does")
        raise StateError(cause, fix)


def among_many() -> Claim | None:
    """What MPI's own starter says, if there are several ranks."""
    return next((one for one in claims(_MPI, os.environ) if one.size > 1), None)


def _is_alone_on_purpose() -> bool:
    """Whether a guard has found the one rank of a launch, or the user says so."""
    return "BADAK_BOARD" in os.environ or config.switch("ALONE")


def way_to_start(who: str, tasks: object) -> str:
    """How so many tasks become one world under this starter."""
    if who == "Slurm":
        return tr("srun --mpi=pmi2 badak ..., or badak launch -n {} ... in the script that sbatch runs", tasks)
    if who == "PMIx":
        return tr("srun --mpi=pmi2 badak ..., or an MPI that speaks PMIx, as Open MPI does")
    return tr("badak launch -n {} ..., or mpirun -n {} badak run SCRIPT", tasks, tasks)


def refuse_one_of_many(what: str) -> None:
    """Raise StateError where a group of one is asked for in a job that was given more tasks, none of which was started yet."""
    if _is_alone_on_purpose():
        return
    tasks = os.environ.get("SLURM_NTASKS", "")
    if "SLURM_STEP_ID" not in os.environ and tasks.isdigit() and int(tasks) > 1:
        cause = tr("{}: a world of one, but Slurm has {} tasks for this job (SLURM_NTASKS={})", what, tasks, tasks)
        raise StateError(cause, way_to_start("Slurm", tasks) + _ALONE)
    hosts = next((os.environ[name] for name in _HOSTS if name in os.environ), "")
    if os.environ.get("K_MPI_JOB_ROLE") == "launcher" and hosts:  # Kubernetes' MPI operator
        cause = tr("{}: a world of one, in the launcher of an MPIJob whose workers stand in {}", what, hosts[:200])
        raise StateError(cause, tr("badak launch -n N --hosts {} SCRIPT, or mpirun -n N badak run SCRIPT", hosts[:200]) + _ALONE)


def claims(starters: tuple[tuple[str, ...], ...], env: Mapping[str, str]) -> list[Claim]:
    """What each of the starters says that has set its variables."""
    found = []
    for who, *names in starters:
        rank, size, local_rank, local_size = (_number(env.get(name)) for name in names)
        if rank is None and size is None or who == "torchrun" and None in (rank, size):  # each is a word for other things, too
            continue
        if who in ("PMI", "Slurm"):  # Slurm's PMI does not say it
            beside = _on_this_node(env)
            local_rank, local_size = (beside[0] if local_rank is None else local_rank), local_size or beside[1]
        found.append(Claim(who, names[1] if size else names[0], rank or 0, size or 0, local_rank, local_size))
    return found


def _on_this_node(env: Mapping[str, str]) -> tuple[int | None, int | None]:
    """(rank, ranks) of a step of Slurm's on this machine: SLURM_STEP_TASKS_PER_NODE is "4(x2),1"."""
    each: list[int] = []
    for tasks, _, times in re.findall(r"(\d+)(\(x(\d+)\))?", env.get("SLURM_STEP_TASKS_PER_NODE", "")[:4000]):
        each += [int(tasks)] * min(int(times or 1), 100_000)
    node = _number(env.get("SLURM_NODEID")) or 0
    return _number(env.get("SLURM_LOCALID")), each[node] if node < len(each) else None


def _number(text: str | None) -> int | None:
    return int(text) if text is not None and text.isascii() and text.isdigit() and len(text) < 10 else None


@cache
def _speaks_pmix() -> bool:
    """Whether the MPI that is installed here learns its ranks from PMIx. In another process: MPICH would end this one."""
    ask = "import mpi4py; mpi4py.rc.initialize = False; from mpi4py import MPI; print(MPI.Get_library_version())"
    try:
        said = subprocess.run([sys.executable, "-P", "-c", ask], capture_output=True, text=True, timeout=60).stdout
    except (OSError, subprocess.SubprocessError):
        return False
    return said.startswith("Open MPI")
