"""The Slurm scripts of docs/how-to/distributed.md, run by Slurm: smaller, with two tasks on one node."""

import re
from pathlib import Path

import pytest

from tests.distributed.ranks import PROGRAMS, environment
from tests.distributed.slurm import Slurm, why_absent
from tests.distributed.small import SIZES, write_text

pytestmark = [pytest.mark.slow, pytest.mark.skipif(bool(why_absent()), reason=why_absent())]
PAGE = (Path(__file__).resolve().parents[2] / "docs" / "how-to" / "distributed.md").read_text(encoding="utf-8")
REFUSED = (
    "error: Slurm has started this process as one of 2 tasks (SLURM_STEP_NUM_TASKS=2), but for MPI it is alone, and would do the "
    "work of all\nfix: srun --mpi=pmi2 badak ..., or badak launch -n 2 ... in the script that sbatch runs; BADAK_ALONE=1 where "
    "each is to work by itself\n"
)
ENDLESS = " ".join([*SIZES, "--steps 1000000 --batch-size 4 --eval-every 20"])


@pytest.fixture(scope="module")
def slurm():
    made = Slurm()
    yield made
    made.stop()


def documented(first: str) -> str:
    """The block of the page's section on Slurm that has this in it, for two tasks of one core, and minutes."""
    section = PAGE[PAGE.index("### Slurm") : PAGE.index("### What listens")]
    blocks = re.findall(r"(?:^    .*\n)+", section, re.M)
    block = next(re.sub("^    ", "", block, flags=re.M) for block in blocks if first in block)
    for there, here in {
        "--nodes=2": "--nodes=1", "--ntasks-per-node=4": "--ntasks-per-node=2", "--cpus-per-task=8": "--cpus-per-task=1",
        "24:00:00": "00:03:00", "TERM@120": "TERM@140", "/:4/": "/:2/", "-n 8": "-n 2", "book.txt": "text.txt " + ENDLESS,
        "--grad-accum-steps 8": "--grad-accum-steps 4", " badak ": " python -m badak ",
    }.items():  # fmt: skip
        block = block.replace(there, here)
    return block


def last_step(run: Path) -> int:
    return int((run / "metrics.csv").read_text().splitlines()[-1].split(",")[0])


@pytest.mark.nightly
def test_the_training_of_the_page_saves_when_the_time_is_nearly_over_and_goes_on(slurm, tmp_path):
    write_text(tmp_path)
    script, goes_on = documented("exec badak launch -n 8 --hosts hosts --restarts"), documented("--resume")
    assert "--signal=B:TERM@" in script and "exec python -m badak launch -n 2 --hosts hosts --restarts 3 train gpt" in script
    code, out = slurm.sbatch(script, tmp_path, environment())
    assert code == 143, out
    assert "stopped and saved; go on with: badak train gpt --resume runs/gpt" in out
    assert out.endswith("badak launch: stopped by SIGTERM; all ranks have ended\n")
    assert (tmp_path / "hosts").read_text() == "localhost:2\n"
    before = last_step(tmp_path / "runs" / "gpt")
    head = "\n".join(script.splitlines()[:3]) + "\n"
    code, out = slurm.sbatch(head + goes_on, tmp_path, environment())
    assert code == 143 and "stopped and saved" in out, out
    assert last_step(tmp_path / "runs" / "gpt") > before > 0


def test_ranks_that_slurm_starts_save_at_its_signal(slurm, tmp_path):
    write_text(tmp_path)
    script = documented("srun --mpi=pmi2 --kill-on-bad-exit=1 badak train")
    assert "--signal=TERM@" in script
    _, out = slurm.sbatch(script, tmp_path, environment())
    assert out.count("stopped and saved; go on with: badak train gpt --resume runs/gpt") == 1, out
    assert last_step(tmp_path / "runs" / "gpt") > 0


def test_srun_with_pmi2_forms_one_world(slurm, tmp_path):
    words = ("--mpi=pmi2", "--kill-on-bad-exit=1", "python", "-m", "badak", "run", PROGRAMS / "fails.py", "none")
    done = slurm.srun(*words, cwd=tmp_path, env=environment())
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.splitlines()) == ["rank 0 of 2 done: 256.0", "rank 1 of 2 done: 256.0"]


@pytest.mark.parametrize("kind", ["none", "pmix"])
def test_srun_that_does_not_reach_mpi_is_refused(slurm, tmp_path, kind):
    words = ("python", "-m", "badak", "run", PROGRAMS / "fails.py", "none")
    done = slurm.srun(f"--mpi={kind}", *words, cwd=tmp_path, env=environment())
    if "Invalid MPI type" in done.stderr or "Couldn't find the specified plugin name" in done.stderr:
        pytest.skip(f"this Slurm has no {kind}")
    assert done.returncode == 2 and done.stdout == ""
    for line in REFUSED.splitlines():  # the lines of two ranks may come interleaved
        assert done.stderr.splitlines().count(line) == 2, done.stderr


def test_tasks_that_are_meant_to_be_apart(slurm, tmp_path):
    (tmp_path / "sweep.py").write_text("import os, torch\nprint(os.environ['SLURM_PROCID'])\n")
    env = environment(BADAK_ALONE="1")
    done = slurm.srun("--mpi=none", "python", "-m", "badak", "run", "sweep.py", cwd=tmp_path, env=env)
    assert (done.returncode, sorted(done.stdout.split())) == (0, ["0", "1"]), done.stderr


def test_a_training_alone_in_a_job_of_two_tasks_is_refused(slurm, tmp_path):
    script = "#!/bin/bash\n#SBATCH --ntasks=2 --time=2\nexec python -m badak train gpt\n"
    code, out = slurm.sbatch(script, tmp_path, environment())
    assert code == 2
    assert "error: badak train gpt: a world of one, but Slurm has 2 tasks for this job (SLURM_NTASKS=2)\nfix: srun " in out
