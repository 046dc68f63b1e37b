"""The guide and the course as notebooks: they run in Jupyter's kernel, from beginning to end."""

import os
import subprocess
import sys

import pytest

from badak.cli import main
from badak.cli.course.course import COURSE, Folder
from badak.cli.course.exercise import Both
from tests.tiers import few

for name in ("nbformat", "nbclient", "ipykernel", "matplotlib_inline"):
    if not os.environ.get("CI"):  # where they must be there
        pytest.importorskip(name, reason='the libraries of notebooks are not installed: pip install -e ".[test]"')

import nbformat  # noqa: E402
from nbclient import NotebookClient  # noqa: E402

from badak.cli.course import notebook  # noqa: E402
from tools import learn, notebooks  # noqa: E402

PAGES = [page for language in learn.LANGUAGES for page in learn.pages(language)]
each_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: f"{learn.language_of(page)}-{page.stem}")


def ran(made, folder):
    """The notebook with its outputs."""
    NotebookClient(made, timeout=600, resources={"metadata": {"path": str(folder)}}).execute()
    return made


def outputs(made) -> list:
    return [output for cell in made.cells for output in cell.get("outputs", [])]


@each_page
def test_a_chapter_keeps_its_programs_and_has_no_outputs(page):
    made = notebooks.chapter(page)
    nbformat.validate(made)
    code = [cell.source for cell in made.cells if cell.cell_type == "code"]
    assert [block.code.rstrip() for block in learn.blocks(page)] == [one for one in code if not one.startswith(("%", "def draw("))]
    assert not outputs(made) and made == notebooks.chapter(page)
    assert sum(one.startswith("def draw(") for one in code) >= 1
    assert "](../" not in "".join(cell.source for cell in made.cells)


@pytest.mark.slow
@pytest.mark.parametrize("page", few(PAGES, 1), ids=lambda page: f"{learn.language_of(page)}-{page.stem}")
def test_a_chapter_runs_with_its_plots_and_the_microscope(page):
    made = ran(notebooks.chapter(page), learn.ROOT)
    kinds = [kind for output in outputs(made) for kind in output.get("data", {})]
    assert "text/html" in kinds and ("image/png" in kinds or page.stem.startswith("10"))


@pytest.mark.slow
@pytest.mark.parametrize("exercise", few(COURSE.values(), 1), ids=lambda exercise: exercise.name)
@pytest.mark.parametrize("language", ["en", "ko"])
def test_the_notebook_of_an_exercise_tells_right_from_a_hole(exercise, language, tmp_path, monkeypatch):
    monkeypatch.setenv("BADAK_LANG", language)
    made = notebook.notebook(exercise)
    nbformat.validate(made)
    said = "".join(output.get("text", "") for output in outputs(ran(made, tmp_path)))
    assert str(exercise.hints[0]) in said
    if not exercise.start:
        assert str(Both("a hole is still open", "빈칸이 남아 있습니다")) in said
    right = notebook.notebook(exercise)
    cell = next(cell for cell in right.cells if cell.source.startswith("%%writefile"))
    cell.source = f"%%writefile {exercise.file}\n{exercise.program().__source__}"
    said = "".join(output.get("text", "") for output in outputs(ran(right, tmp_path)))
    assert str(Both("right: ", "맞았습니다: ")) in said
    assert Folder(tmp_path).is_done(exercise)


def test_the_command_writes_a_notebook_once(tmp_path, capsys):
    assert main(["learn", "--dir", str(tmp_path), "notebook", "03"]) == 0
    file = tmp_path / "03_attention.ipynb"
    assert nbformat.read(file, 4).cells and str(file) in capsys.readouterr().out
    assert main(["learn", "--dir", str(tmp_path), "notebook", "03"]) == 2
    assert capsys.readouterr().err.splitlines() == [
        f"error: {file} is there already",
        "fix: open it in Jupyter, or --force to begin again",
    ]
    assert main(["learn", "--dir", str(tmp_path), "notebook", "--force", "03"]) == 0


def test_a_notebook_starts_with_what_the_learner_has_written(tmp_path, capsys):
    assert main(["learn", "--dir", str(tmp_path), "start", "03"]) == 0
    (tmp_path / "03_attention.py").write_text("def mine():\n    return '주의'\n", encoding="utf-8")
    assert main(["learn", "--dir", str(tmp_path), "notebook", "03"]) == 0
    cells = nbformat.read(tmp_path / "03_attention.ipynb", 4).cells
    assert "%%writefile 03_attention.py\ndef mine():\n    return '주의'" in [cell.source for cell in cells]


@pytest.mark.slow
def test_without_nbformat_a_sentence_says_what_to_install(tmp_path):
    program = (
        "import sys; sys.modules['nbformat.v4'] = None; from badak.cli import main; sys.exit(main(['learn', 'notebook', '03']))"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.splitlines() == ["error: nbformat is not installed", 'fix: pip install "badak[notebooks]"']
    assert not list(tmp_path.iterdir())
