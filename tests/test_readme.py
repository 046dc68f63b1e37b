"""The READMEs: two commands, the same in both languages; their examples run; what they point at is there."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from bench import chart
from bench.table import rows_of
from tools.readme import commands

ROOT = Path(__file__).resolve().parent.parent
READMES = [ROOT / "README.md", ROOT / "README.ko.md"]
PAGES = [*READMES, *sorted((ROOT / "docs").rglob("*.md")), ROOT / "CONTRIBUTING.md"]
each_readme = pytest.mark.parametrize("path", READMES, ids=lambda path: path.name)


def test_both_readmes_give_the_same_two_commands():
    assert commands(READMES[0]) == commands(READMES[1])


def test_the_commands_use_extras_and_targets_that_exist():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    named = {e for line in commands(READMES[0]).values() for group in re.findall(r"\[([\w,]+)\]", line) for e in group.split(",")}
    targets = re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert named <= set(extras) and "make test" in commands(READMES[0])["test"] and "test" in targets


@pytest.mark.slow
@each_readme
def test_the_example_of_a_readme_runs_and_prints_what_it_says(path):
    code = re.search(r"```python\n(.*?)```", path.read_text(encoding="utf-8"), re.DOTALL).group(1)
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    promised = re.findall(r"^print\(.*?\)\s+# (.*)$", code, flags=re.MULTILINE)
    assert done.stdout.splitlines() == promised


@each_readme
def test_the_figures_of_speed_are_those_of_the_results(path):
    spans = {}
    for cpu, run in chart.runs().items():
        for precision in ("float32", "bf16"):
            ratios = [ratio for row in rows_of(run, precision) if (ratio := chart.ratio(row))]
            spans[precision, cpu] = f"{min(ratios):.2f}-{max(ratios):.2f}" if ratios else "-"
    table = re.findall(r"^\| (.*) \|$", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    heads, _, *rows = ([cell.strip() for cell in line.split("|")] for line in table)
    shown = {(precision, cpu): re.sub(" to |~", "-", cell)
             for precision, row in zip(("float32", "bf16"), rows) for cpu, cell in zip(heads[1:], row[1:])}  # fmt: skip
    assert shown == spans


def test_a_readme_is_short():
    assert all(len(path.read_text(encoding="utf-8").splitlines()) <= 120 for path in READMES)


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_of_a_page_lead_somewhere(path):
    links = re.findall(r"(?<!\\)\]\(([^)#:]+?)(?:#[^)]*)?\)", path.read_text(encoding="utf-8"))
    assert not [link for link in links if not (path.parent / link).exists()]
