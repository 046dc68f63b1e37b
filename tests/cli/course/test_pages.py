"""docs/tutorials/guide: every program of the guide runs and prints what its page shows, in both languages alike."""

import re

import pytest

from badak.cli import main
from tools import learn

pytestmark = pytest.mark.slow

PAGES = [page for language in learn.LANGUAGES for page in learn.pages(language)]
each_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: f"{learn.language_of(page)}-{page.stem}")


def _own(page) -> bool:
    """Whether the outputs are not, letter by letter, those of the English page, whose test has run the same programs."""
    english = learn.blocks(learn.GUIDE["en"] / page.name)
    return learn.language_of(page) == "en" or [b.text for b in learn.blocks(page)] != [b.text for b in english]


@pytest.mark.thin(4)
@pytest.mark.parametrize("page", [page for page in PAGES if _own(page)], ids=lambda page: f"{learn.language_of(page)}-{page.stem}")
def test_the_programs_of_a_page_print_what_it_shows(page):
    shown = [block.text for block in learn.blocks(page)]
    now = learn.printed(page)
    wrong = [f"shown:\n{a}\nprinted:\n{b}" for a, b in zip(shown, now, strict=True) if not learn.same(a, b)]
    assert not wrong, "run python tools/learn.py\n\n" + "\n".join(wrong)


def test_both_languages_have_the_same_chapters():
    english, korean = ([page.name for page in learn.pages(language)] for language in learn.LANGUAGES)
    assert english == korean and english


@pytest.mark.parametrize("page", learn.pages("en"), ids=lambda page: page.stem)
def test_both_languages_show_the_same_programs(page):
    english, korean = (learn.blocks(learn.GUIDE[language] / page.name) for language in learn.LANGUAGES)
    assert [block.meaning() for block in english] == [block.meaning() for block in korean]


@each_page
def test_a_program_fits_on_one_screen(page):
    programs = [block.code.splitlines() for block in learn.blocks(page)]
    assert max(map(len, programs)) <= 45, "a program of more than 45 lines"
    assert not [line for lines in programs for line in lines if len(line) > 110]


@each_page
def test_a_page_leads_to_its_neighbours_and_to_its_other_language(page):
    text, chapters = page.read_text(encoding="utf-8"), learn.pages(learn.language_of(page))
    place = chapters.index(page)
    beside = [chapters[i].name for i in (place - 1, place + 1) if 0 <= i < len(chapters)]
    other = "ko" if learn.language_of(page) == "en" else "en"
    wanted = {*(page.parent / name for name in (*beside, "README.md")), learn.GUIDE[other] / page.name}
    assert wanted <= {(page.parent / link).resolve() for link in re.findall(r"\]\(([^)#]+)\)", text)}


@pytest.mark.parametrize(
    "shown, now, equal",
    [
        ("loss 1.234", "loss 1.235", True),
        ("loss 1.234", "loss 1.236", False),
        ("3 of 4", "3 of 5", False),
        ("2 rows, 1.44 s", "2 rows, 0.90 s", True),
        ("a  b", "a b", True),
        ("-0.50", "0.50", False),
    ],
)
def test_outputs_are_compared_by_their_words_and_numbers(shown, now, equal):
    assert learn.same(shown, now) is equal


@pytest.mark.parametrize(
    ("words", "cause"),
    [
        (["learn", "verify", "none.json"], "none.json: no such file"),
        (["learn", "verify", "file.json"], "file.json: not a report of badak learn"),
        (["learn", "--dir", "file.json"], "file.json: not a folder"),
        (["learn", "start", "99"], "learn: no exercise is called 99"),
    ],
)
def test_what_is_no_report_no_folder_or_no_exercise(words, cause, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file.json").write_text("{")
    assert main(words) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 2 and lines[0] == f"error: {cause}" and lines[1].startswith("fix: ")
