"""Nothing is said of badak's own experiments, and of programs that do what is unusual and right (tests/inspect/doctor/sound).

`python -m tests.inspect.doctor.measure` asks the programs of others, too.
"""

import json
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

import badak
from badak.cli import main
from tests.real_data import real_data
from tests.tiers import thinned

pytestmark = pytest.mark.slow

SOUND = [path.stem for path in sorted((Path(__file__).parent / "sound").glob("*.py")) if path.stem != "by_hand"]  # has no module
DRIVER = """
import json, sys
from pathlib import Path
from tests.inspect.doctor.held_out import examined, warm
warm()
texts = {name: Path("tests/inspect/doctor/sound", f"{name}.py").read_text(encoding="utf-8") for name in json.loads(sys.argv[1])}
print(json.dumps({name: examined(text, name) for name, text in texts.items()}))
"""


class Enough(Exception):
    """The report is complete."""


class Ends:
    """Where the report is written: ends the training then."""

    def write(self, text: str) -> None:
        raise Enough


@pytest.mark.parametrize("task", ["classify", "gpt", "bert"])
def test_nothing_is_said_of_the_experiments(task, tmp_path):
    small = ["--d-model", "16", "--heads", "2", "--epochs", "8" if task == "bert" else "1"]
    if task == "classify":
        small += ["--data", str(real_data("mnist")), "--encoder-layers", "1", "--decoder-layers", "1"]
    else:
        small += ["--layers", "1"]
    with suppress(Enough), badak.doctor(20, file=Ends()) as checkup:
        main(["train", task, "--run", str(tmp_path / "run"), *small])
    assert checkup.ok and checkup.steps == 20, checkup


def test_nothing_is_said_of_what_is_unusual_and_right():
    command = [sys.executable, "-c", DRIVER, json.dumps(thinned(SOUND, 5))]
    done = subprocess.run(command, capture_output=True, text=True, cwd=Path(__file__).parents[3], check=False)
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout.splitlines()[-1])
    assert not {name: each["text"] for name, each in said.items() if each.get("failed") or each["codes"]}
