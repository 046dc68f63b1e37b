"""An exercise as a notebook: its text, a cell that writes the learner's file, and cells that check it and give hints."""

from pathlib import Path
from typing import Any

from badak.cli.course.course import Folder
from badak.cli.course.exercise import Both, Exercise
from badak.core.errors import FileError, NotSupportedError
from badak.core.i18n import language, tr
from badak.data.files import read_text
from badak.io.atomic import make_folder, write_file

WRITE = Both("Run the next cell after each change: it writes your file.", "고칠 때마다 다음 셀을 실행하세요. 파일을 새로 씁니다.")
CHECK = Both("Then check it:", "이제 검사하세요:")
HELP = Both("Each run shows one more of three hints:", "실행할 때마다 힌트 세 개 중 하나를 더 보여 줍니다:")


def notebook(exercise: Exercise, written: str = "") -> Any:
    """The notebook, in the person's language. It stands in the learner's folder, and runs there.

    Args:
        exercise: of the course
        written: what the learner's file holds so far; the cell that writes it starts with that, and running it loses nothing

    Returns: what nbformat writes
    """
    try:
        from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
    except ImportError:
        raise NotSupportedError("nbformat is not installed", 'pip install "badak[notebooks]"') from None
    number = f"{exercise.number:02}"
    command = "!{sys.executable} -m badak learn --dir ."
    cells = [
        new_markdown_cell(f"# {number} {exercise.title}\n\n```text\n{str(exercise.text).strip()}\n```\n\n{WRITE}"),
        new_code_cell(f"import sys\n\n%env BADAK_LANG={language()}"),
        new_code_cell(f"%%writefile {exercise.file}\n{(written or exercise.template()).rstrip()}"),
        new_markdown_cell(str(CHECK)),
        new_code_cell(f"{command} check {number}"),
        new_markdown_cell(str(HELP)),
        new_code_cell(f"{command} hint {number}"),
    ]
    for at, cell in enumerate(cells):
        cell["id"] = f"cell-{at}"
    return new_notebook(cells=cells, metadata={"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}})


def write(own: Folder, exercise: Exercise, force: bool = False) -> Path:
    """Write the notebook of an exercise into the learner's folder. One that is there stays, unless `force`.

    Args:
        own: the folder
        exercise: of the course
        force: whether to write over the one that is there

    Returns: its path

    Raises: FileError if it is there already, NotSupportedError without nbformat
    """
    mine = own.file(exercise)
    made = notebook(exercise, read_text(mine) if mine.is_file() else "")
    file = mine.with_suffix(".ipynb")
    if file.exists() and not force:
        raise FileError(tr("{} is there already", file), "open it in Jupyter, or --force to begin again")
    import nbformat

    make_folder(own.path)
    text = nbformat.writes(made).encode()
    write_file(file, lambda stream: stream.write(text))
    return file
