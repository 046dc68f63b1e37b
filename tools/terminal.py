"""Draws docs/img/world.svg: the README's commands for Hugging Face's libraries, run now, as a terminal shows them.

PYTHONPATH=src python tools/terminal.py        (needs rich, and what the commands need, without torch)
"""

import subprocess
import sys
from importlib.util import find_spec
from io import StringIO
from pathlib import Path

from rich.console import Console
from rich.syntax import Syntax
from rich.text import Text

PLACE = Path(__file__).parent.parent
EXAMPLE = Path("examples/similar.py")
WIDTH = 116  # columns
# As it is typed, and as this interpreter runs it
COMMANDS = {
    'python -c "import torch"': [sys.executable, "-c", "import torch"],
    f"cat {EXAMPLE}": None,
    f"badak run {EXAMPLE}": [sys.executable, "-m", "badak", "run", str(EXAMPLE)],
}


def main() -> None:
    if find_spec("torch") is not None:
        sys.exit("terminal: torch is installed here\nfix: draw the picture in an environment without it, which is what it shows")
    console = Console(record=True, width=WIDTH, file=StringIO())
    for typed, command in COMMANDS.items():
        console.print(Text("$ ", style="bold green") + Text(typed, style="bold"))
        if command is None:
            code = (PLACE / EXAMPLE).read_text().split('"""')[2].strip()
            console.print(Syntax(code, "python", theme="ansi_dark", background_color="default", word_wrap=True))
        else:
            console.print(Text(said(command)))
    console.save_svg(str(PLACE / "docs/img/world.svg"), title="Hugging Face's libraries on badak")


def said(command: list[str]) -> str:
    """What the command prints; of an error its last line, progress bars left out."""
    done = subprocess.run(command, cwd=PLACE, capture_output=True, text=True)
    return done.stdout.rstrip() if done.returncode == 0 else done.stderr.strip().splitlines()[-1]


if __name__ == "__main__":
    main()
