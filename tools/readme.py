"""Print one of the README's two set-up commands: `python tools/readme.py run|test`.

The README is the only place where they are written; `.ci/run` and the tests read them from there.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def commands(path: Path) -> dict[str, str]:
    """{"run": ..., "test": ...}: the two command lines of a README, which start with `pip install`."""
    found = re.findall(r"^(?:\$ )?(pip install .*)$", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    if len(found) != 2:
        raise SystemExit(f"{path.name}: expected exactly two lines that start with `pip install`; got {found}")
    run, test = found
    return {"run": run, "test": test}


if __name__ == "__main__":
    print(commands(ROOT / "README.md")[sys.argv[1]])
