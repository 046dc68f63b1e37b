"""Run the tests of another project, as they are, on badak, and on PyTorch where it is installed, and say which differ.

    git clone https://github.com/arogozhnikov/einops ../einops && python tools/their_tests.py einops ../einops
    python tools/their_tests.py einops ../einops --record        # and keep the counts for docs/huggingface-tests.md

The clone and what its tests need are the user's (`SUITES` says where the tests lie); nothing of it is kept but counts and names.
`--torch` and `--badak` name other Pythons than this one, such as that of an environment without PyTorch.
"""

import argparse
import datetime
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent
RECORD = HERE / "tests" / "world" / "their_tests.json"


@dataclass(frozen=True)
class Suite:
    """Where a project's tests lie, as patterns of paths seen from `folder`, and how they are run."""

    tests: str
    folder: str = "."
    apart: bool = False  # a process for each file, where files have one name or go to other folders
    path: str = ""  # of the project's modules, seen from the clone, where it is not the folder itself
    environment: dict[str, str] = field(default_factory=dict)


SUITES = {
    "einops": Suite("einops/tests", environment={"EINOPS_TEST_BACKENDS": "numpy,torch"}),
    "LLMs-from-scratch": Suite(
        "ch0*/*/tests.py ch0*/*/tests/test*.py pkg/llms_from_scratch/tests/test_*.py", apart=True, path="pkg"
    ),
    "micrograd": Suite("test"),
    "rotary-embedding-torch": Suite("tests"),
    "safetensors": Suite(" ".join(f"tests/test_{name}.py" for name in ("pt_comparison", "pt_model", "simple")), "bindings/python"),
    "timm": Suite(" ".join(f"tests/test_{name}.py" for name in "layers layers_drop layers_pool optim scheduler utils".split())),
    **{
        f"transformers-{name}": Suite(f"tests/models/{name}/test_modeling_{name}.py")
        for name in "bert clip gpt2 llama t5 vit wav2vec2 whisper".split()
    },
    "vit-pytorch": Suite("tests"),
    "x-transformers": Suite("tests"),
}


def outcomes(python: str, runner: tuple[str, ...], suite: Suite, source: Path, limit: float) -> dict[str, str]:
    """passed, failed or skipped for each test, by name."""
    kept: dict[str, str] = {}
    where = source / suite.folder
    files = [str(path.relative_to(where)) for pattern in suite.tests.split() for path in sorted(where.glob(pattern))]
    for names in [[file] for file in files] if suite.apart else [files]:
        with tempfile.TemporaryDirectory() as folder:
            report = Path(folder) / "report.xml"
            options = ["-q", "-p", "no:cacheprovider", "-o", "junit_family=xunit1", f"--junitxml={report}"]
            command = [python, *runner, "-m", "pytest", *names, *options]
            known = environment(python, suite, source)
            subprocess.run(command, cwd=where, env=known, stdout=sys.stderr, timeout=limit, check=False)
            kept |= dict(told(report))
    return kept


def environment(python: str, suite: Suite, source: Path) -> dict[str, str]:
    """The variables of a run: this badak, no downloads, and `python` is the Python that runs."""
    paths = [str(HERE / "src"), str(source / suite.path), *filter(None, [os.environ.get("PYTHONPATH")])]
    known = {
        "PYTHONPATH": os.pathsep.join(paths),
        "PATH": os.pathsep.join([str(Path(python).parent), os.environ["PATH"]]),
    }
    return os.environ | {"HF_HUB_OFFLINE": "1", "PYTHONDONTWRITEBYTECODE": "1"} | known | suite.environment


def told(report: Path) -> Iterator[tuple[str, str]]:
    """Name and outcome of each test of a report in JUnit's form."""
    if not report.exists():
        return
    for case in xml.parse(report).iter("testcase"):
        words = {child.tag for child in case}
        outcome = "failed" if words & {"failure", "error"} else "skipped" if "skipped" in words else "passed"
        yield f"{case.get('classname')}::{case.get('name')}", outcome


def commit(source: Path) -> str:
    """Which commit of the project was run."""
    done = subprocess.run(["git", "-C", source, "log", "-1", "--format=%h of %cs"], capture_output=True, text=True)
    return done.stdout.strip() or "no git repository"


def compared(name: str, source: Path, torch: str, badak: str, limit: float) -> dict:
    """Both counts, and the tests that pass with PyTorch alone."""
    suite = SUITES[name]
    found = outcomes(badak, ("-m", "badak", "run"), suite, source, limit)
    kept = {"commit": commit(source), "date": str(datetime.date.today()), "badak": passed(found)}
    if torch:
        expected = outcomes(torch, (), suite, source, limit)
        only = sorted(test for test, outcome in expected.items() if outcome == "passed" and found.get(test) != "passed")
        kept |= {"torch": passed(expected), "only torch": only}
    return kept


def passed(outcome: dict[str, str]) -> int:
    """How many tests passed."""
    return list(outcome.values()).count("passed")


def main() -> None:
    """Run what was asked for and print the counts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("suite", choices=SUITES)
    parser.add_argument("source", type=Path, help="the folder of the clone")
    here = sys.executable if importlib.util.find_spec("torch") else ""
    parser.add_argument("--torch", default=here, metavar="PYTHON", help="a Python with PyTorch (default: this one, if it has)")
    parser.add_argument("--badak", default=sys.executable, metavar="PYTHON", help="the Python that runs badak (default: this)")
    parser.add_argument("--limit", type=float, default=3600, help="seconds that one run of pytest may take")
    parser.add_argument("--record", action="store_true", help=f"keep the counts in {RECORD.relative_to(HERE)}")
    args = parser.parse_args()
    if not args.source.is_dir():
        parser.error(f"{args.source} is no folder\nfix: the folder of a clone of {args.suite}")
    kept = compared(args.suite, args.source.resolve(), args.torch, args.badak, args.limit)
    beside = f", {kept['torch']} on PyTorch" if "torch" in kept else ""
    print(f"{args.suite} ({kept['commit']}): {kept['badak']} tests pass on badak{beside}")
    for test in kept.get("only torch", ()):
        print(f"  only on PyTorch: {test}")
    if args.record:
        known = json.loads(RECORD.read_text(encoding="utf-8")) if RECORD.exists() else {}
        lines = [f"{json.dumps(name)}: {json.dumps(one)}" for name, one in sorted((known | {args.suite: kept}).items())]
        RECORD.write_text("{" + ",\n".join(lines) + "}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
