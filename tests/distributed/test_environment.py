"""A starter that has started several tasks: they form one world, or the program ends with two lines, and never in silence alone."""

import subprocess
import sys

import pytest

import badak
from badak.core.errors import StateError
from badak.distributed import places
from badak.distributed.places import Place, place, refuse_one_of_many
from tests.distributed.ranks import environment

NAMES = {name for group in (*places._MPI, *places._OTHERS) for name in group[1:] if name} | set(places._HOSTS)
NAMES |= {"SLURM_NTASKS", "SLURM_STEP_ID", "SLURM_STEP_TASKS_PER_NODE", "SLURM_NODEID"}
NAMES |= {"K_MPI_JOB_ROLE", "BADAK_BOARD", "BADAK_ALONE"}
PMIX = {"PMIX_RANK": "0", "PMIX_NAMESPACE": "x"}
OPEN_MPI = {"OMPI_COMM_WORLD_RANK": "0", "OMPI_COMM_WORLD_SIZE": "2"}
SLURM = {
    "SLURM_PROCID": "1", "SLURM_STEP_NUM_TASKS": "4", "SLURM_LOCALID": "1", "SLURM_STEP_TASKS_PER_NODE": "3,1",
    "SLURM_STEP_ID": "0",
}  # fmt: skip


@pytest.fixture
def surroundings(monkeypatch):
    """Set these variables of starters, and no others; the MPI that is installed speaks no PMIx, unless it is said."""
    for name in NAMES:
        monkeypatch.delenv(name, raising=False)

    def set_all(speaks_pmix: bool = False, **variables: str) -> None:
        monkeypatch.setattr(places, "_speaks_pmix", lambda: speaks_pmix)
        for name, value in variables.items():
            monkeypatch.setenv(name, value)

    return set_all


@pytest.mark.parametrize(
    "said, found",
    [
        ({}, None),
        ({"PMI_RANK": "0", "PMI_SIZE": "1"}, None),
        ({"PMI_RANK": "1", "PMI_SIZE": "2"}, Place(1, 2, 1, 2)),
        ({"PMI_RANK": "3", "PMI_SIZE": "4", "MPI_LOCALRANKID": "1", "MPI_LOCALNRANKS": "2"}, Place(3, 4, 1, 2)),
        ({"PMI_RANK": "1", "PMI_SIZE": "4", **SLURM}, Place(1, 4, 1, 3)),
        (
            {"PMI_RANK": "3", "PMI_SIZE": "4", **SLURM, "SLURM_PROCID": "3", "SLURM_LOCALID": "0", "SLURM_NODEID": "1"},
            Place(3, 4, 0, 1),
        ),
        ({"PMI_RANK": "1", "PMI_SIZE": "8", "SLURM_STEP_NUM_TASKS": "2", "SLURM_PROCID": "0"}, Place(1, 8, 1, 8)),  # Hydra, by srun
        ({"OMPI_COMM_WORLD_RANK": "2", "OMPI_COMM_WORLD_SIZE": "3", **PMIX}, Place(2, 3, 2, 3)),
        ({"MV2_COMM_WORLD_RANK": "0", "MV2_COMM_WORLD_SIZE": "3", "MV2_COMM_WORLD_LOCAL_RANK": "0"}, Place(0, 3, 0, 3)),
        ({"OMPI_COMM_WORLD_RANK": "0", "OMPI_COMM_WORLD_SIZE": "1", **PMIX}, None),
        ({"SLURM_PROCID": "0", "SLURM_STEP_NUM_TASKS": "1", "SLURM_NTASKS": "1", **PMIX}, None),
        ({"SLURM_PROCID": "0", "SLURM_NTASKS": "8"}, None),  # the script that sbatch runs
        ({"WORLD_SIZE": "1", "RANK": "0"}, None),
        ({"WORLD_SIZE": "4"}, None),  # init_process_group compares it
        ({"RANK": "7"}, None),
        ({"SLURM_STEP_NUM_TASKS": "many", "PMI_SIZE": "", "PMI_RANK": "x"}, None),
        ({**SLURM, "BADAK_ALONE": "1"}, None),
        ({**SLURM, "PMI_RANK": "0", "PMI_SIZE": "1", "BADAK_BOARD": "x"}, None),  # badak launch -n 1 has started it
    ],
)
def test_where_a_process_is(surroundings, said, found):
    surroundings(**said)
    assert place() == found


@pytest.mark.parametrize(
    "said, who",
    [
        (SLURM, "Slurm has started this process as one of 4 tasks (SLURM_STEP_NUM_TASKS=4)"),
        ({"SLURM_PROCID": "0", "SLURM_STEP_NUM_TASKS": "2"}, "Slurm has started this process as one of 2 tasks"),
        ({"SLURM_PROCID": "1", "SLURM_NTASKS": "2"}, "Slurm has started this process as one of several tasks (SLURM_PROCID=1)"),
        ({"PMI_RANK": "0", "PMI_SIZE": "1", **SLURM}, "Slurm has started this process as one of 4 tasks"),
        ({**SLURM, **PMIX}, "Slurm has started this process as one of 4 tasks"),
        (PMIX, "PMIx has started this process as one of several tasks (PMIX_RANK=0)"),
        ({"PMIX_RANK": "1", "PMIX_SIZE": "2"}, "PMIx has started this process as one of 2 tasks (PMIX_SIZE=2)"),
        ({"PMIX_RANK": "1", "OMPI_COMM_WORLD_SIZE": "1", "OMPI_COMM_WORLD_RANK": "0"}, "PMIx has started this process as one"),
        ({"WORLD_SIZE": "2", "RANK": "0", "LOCAL_RANK": "0"}, "torchrun has started this process as one of 2 tasks (WORLD_SIZE=2)"),
        ({"FLUX_TASK_RANK": "0", "FLUX_JOB_SIZE": "2"}, "Flux has started this process as one of 2 tasks"),
        ({"JSM_NAMESPACE_RANK": "1", "JSM_NAMESPACE_SIZE": "2"}, "jsrun has started this process as one of 2 tasks"),
        ({"PALS_RANKID": "1"}, "PALS has started this process as one of several tasks (PALS_RANKID=1)"),
    ],
)
def test_tasks_of_which_mpi_knows_nothing(surroundings, said, who):
    surroundings(**said)
    for question in (place, badak.distributed.is_mpi_available, badak.distributed.init_process_group):
        with pytest.raises(StateError) as error:
            question()
        assert str(error.value).startswith(who)
        assert ", but for MPI it is alone, and would do the work of all\nfix: " in str(error.value)
        assert str(error.value).endswith("; BADAK_ALONE=1 where each is to work by itself")
    assert not badak.distributed.is_initialized()


def test_an_mpi_that_speaks_pmix_forms_the_world_that_slurm_names(surroundings):
    surroundings(speaks_pmix=True, **SLURM, **PMIX)
    assert place() == Place(1, 4, 1, 3)


@pytest.mark.parametrize(
    "said, cause, fix",
    [
        (
            {"SLURM_NTASKS": "8", "SLURM_PROCID": "0"},
            "init_process_group: a world of one, but Slurm has 8 tasks for this job (SLURM_NTASKS=8)",
            "srun --mpi=pmi2 badak ..., or badak launch -n 8 ... in the script that sbatch runs; BADAK_ALONE=1 where",
        ),
        (
            {"K_MPI_JOB_ROLE": "launcher", "OMPI_MCA_orte_default_hostfile": "/etc/mpi/hostfile"},
            "init_process_group: a world of one, in the launcher of an MPIJob whose workers stand in /etc/mpi/hostfile",
            "badak launch -n N --hosts /etc/mpi/hostfile SCRIPT, or mpirun -n N badak run SCRIPT; BADAK_ALONE=1 where",
        ),
        (
            {"K_MPI_JOB_ROLE": "launcher", "HYDRA_HOST_FILE": "/etc/mpi/hostfile"},
            "init_process_group: a world of one, in the launcher of an MPIJob whose workers stand in /etc/mpi/hostfile",
            "badak launch -n N --hosts /etc/mpi/hostfile SCRIPT",
        ),
    ],
)
def test_a_group_of_one_in_a_job_of_several(surroundings, monkeypatch, said, cause, fix):
    surroundings(**said)
    assert place() is None and not badak.distributed.is_mpi_available()
    with pytest.raises(StateError) as error:
        badak.distributed.init_process_group("gloo")
    assert str(error.value).startswith(f"{cause}\nfix: {fix}")
    monkeypatch.setenv("BADAK_ALONE", "1")
    refuse_one_of_many("init_process_group")
    monkeypatch.delenv("BADAK_ALONE")
    badak.distributed.init_process_group("gloo", world_size=1, rank=0)  # the program says so itself
    badak.distributed.destroy_process_group()


@pytest.mark.slow
@pytest.mark.parametrize(
    "line",
    [["run", "program.py"], ["train", "gpt"], ["launch", "-n", "2", "program.py"], ["eval", "run"]],
)
def test_commands_in_one_of_several_tasks_end_with_two_lines(line, tmp_path):
    (tmp_path / "program.py").write_text("print('this ran')\n")
    env = environment(**SLURM)
    done = subprocess.run([sys.executable, "-m", "badak", *line], cwd=tmp_path, env=env, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    first, second = done.stderr.splitlines()
    assert first.startswith("error: Slurm has started this process as one of 4 tasks (SLURM_STEP_NUM_TASKS=4), but for MPI it is ")
    assert second.startswith("fix: srun --mpi=pmi2 badak ..., or badak launch -n 4 ... in the script that sbatch runs; BADAK_ALONE")


@pytest.mark.slow
def test_an_mpi_that_does_not_know_its_starter_ends_with_two_lines(tmp_path):
    (tmp_path / "program.py").write_text("print('this ran')\n")
    for said, cause in (
        (OPEN_MPI, "this process was started as rank 0 of 2, but for the MPI that"),
        ({**OPEN_MPI, **PMIX}, "PMIx has started this process as one of several ranks"),
    ):
        line = [sys.executable, "-m", "badak", "run", "program.py"]
        done = subprocess.run(line, cwd=tmp_path, env=environment(**said), capture_output=True, text=True)
        assert (done.returncode, done.stdout) == (2, ""), done.stderr
        assert f"error: {cause}" in done.stderr and "Traceback" not in done.stderr


@pytest.mark.slow
def test_alone_on_purpose(tmp_path):
    (tmp_path / "program.py").write_text("print('this ran')\n")
    line = [sys.executable, "-m", "badak", "run", "program.py"]
    done = subprocess.run(line, cwd=tmp_path, env=environment(**SLURM, BADAK_ALONE="1"), capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "this ran\n", "")


@pytest.mark.slow
def test_an_error_in_a_world_of_one_ends_nothing_else(tmp_path):
    program = (
        "import badak.as_torch, torch.distributed as dist; from badak.cli import main\n"
        "dist.init_process_group('gloo', init_method='tcp://127.0.0.1:0', rank=0, world_size=1)\n"
        "print(main(['embed', 'nowhere']), 'goes on')\nraise ValueError('the end')\n"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, env=environment(), capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (1, "2 goes on\n"), done.stderr
    assert done.stderr.count("error: no text\nfix: ") == 1 and done.stderr.endswith("ValueError: the end\n")
