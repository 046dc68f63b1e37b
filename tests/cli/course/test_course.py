"""The course: solutions pass, mistakes are refused and named, programs that misbehave are told with their line."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import badak
from badak import nn
from badak.autograd import gradcheck
from badak.cli import main
from badak.cli.course.compare import difference
from badak.cli.course.course import COURSE, Folder, exercise_of
from badak.cli.course.exercise import HEAD, Both
from badak.cli.course.report import read, report, sealed
from badak.cli.course.run import run
from badak.core.errors import ArgumentError, FileError
from tests.cli.course.held_out import RIGHT, WRONG
from tests.cli.course.mutate import accepted, verdict
from tests.tiers import thinned

ALL = list(COURSE.values())
FAST = {"masks", "lora", "int8", "bpe", "kv_cache"}
each = pytest.mark.parametrize("exercise", ALL, ids=lambda exercise: exercise.name)


def softmax(x, dim):
    e = (x - x.amax(dim, keepdim=True)).exp()
    return e / e.sum(dim, keepdim=True)


def matmul_backward(dy, a, b):
    return 2 * dy @ b.mT, a.mT @ dy


def test_use_replaces_an_operation_everywhere_and_puts_it_back():
    x = badak.randn(2, 3, requires_grad=True)
    with badak.use(softmax) as mine:
        for call in (
            lambda: badak.softmax(x, -1),
            lambda: nn.functional.softmax(x, -1),
            lambda: x.softmax(-1),
            lambda: nn.Softmax(-1)(x),
        ):
            assert badak.allclose(call().sum(-1), badak.ones(2))
        assert gradcheck(lambda x: badak.softmax(x, -1), badak.randn(3, dtype=badak.float64, requires_grad=True))
        assert mine.calls > 4
    before = mine.calls
    badak.softmax(x, -1)
    assert mine.calls == before


def test_use_replaces_a_backward_alone_and_is_a_decorator():
    a, b = badak.ones(2, 3, requires_grad=True), badak.ones(3, 2, requires_grad=True)

    @badak.use(matmul_backward)
    def slopes():
        return badak.autograd.grad((a @ b).sum(), (a, b))

    assert [g.flatten()[0].item() for g in slopes()] == [4.0, 2.0]
    assert badak.autograd.grad((a @ b).sum(), a)[0].flatten()[0].item() == 2.0


def test_use_restores_after_an_error_and_within_the_function_badaks_own_is_back():
    def wrong(x, dim):
        assert badak.softmax(x, dim).sum().item() == pytest.approx(1.0)
        raise KeyError("mine")

    with pytest.raises(KeyError), badak.use(wrong, "softmax"):
        badak.softmax(badak.zeros(2), 0)
    assert badak.softmax(badak.zeros(2), 0).tolist() == [0.5, 0.5]


def test_use_refuses_what_it_cannot_replace():
    with pytest.raises(ArgumentError, match="no operation of badak that can be replaced is called 'nothing'\nfix: "):
        badak.use(softmax, "nothing")
    with pytest.raises(ArgumentError, match="layer_norm is called with w"), badak.use(lambda x, eps: x, "layer_norm"):
        nn.LayerNorm(3)(badak.ones(2, 3))


def test_a_compiled_step_sees_the_replacement():
    step = badak.compile(lambda x: badak.softmax(x, -1))
    x = badak.zeros(2)
    for _ in range(4):
        step(x)
    with badak.use(lambda x, dim: x + 7, "softmax"):
        assert step(x).tolist() == [7.0, 7.0]
    assert step(x).tolist() == [0.5, 0.5]


def test_there_are_enough_exercises_and_each_is_whole():
    assert len(ALL) >= 25
    for exercise in ALL:
        assert len(exercise.mistakes) >= 6, exercise.name
        compile(exercise.template(), exercise.file, "exec")
        for text in [exercise.title, exercise.text, exercise.derivation, *exercise.hints, *(m.what for m in exercise.mistakes)]:
            assert text.en and text.ko
        assert exercise.start or "NotImplementedError" in exercise.template()


def test_an_exercise_is_found_by_number_and_name():
    assert exercise_of("03") is exercise_of("3") is exercise_of("attention") is exercise_of("Attention")
    with pytest.raises(ArgumentError, match="no exercise is called atention\nfix: did you mean attention?"):
        exercise_of("atention")
    with pytest.raises(ArgumentError, match="no exercise is called nothing\nfix: badak learn lists them"):
        exercise_of("nothing")


@pytest.mark.thin(15)
@pytest.mark.slow
@each
def test_the_solution_passes_and_what_the_learner_begins_with_does_not(exercise):
    found = verdict(exercise, exercise.solution)
    assert found.ok, found
    start = verdict(exercise, exercise.template().split(HEAD)[-1])
    assert not start.ok and start.cause and start.fix
    assert exercise.start or start.cause == "a hole is still open"


@pytest.mark.thin(15)
@pytest.mark.slow
@each
def test_each_mistake_is_refused_and_named(exercise):
    mistakes = thinned(exercise.mistakes, 3)
    named = [verdict(exercise, m.source(exercise.solution)) for m in mistakes]
    assert not [v for v in named if v.ok]
    wrong = [(v.mistake_id, m.what.en) for v, m in zip(named, mistakes, strict=True) if v.mistake_id != m.what.en]
    assert not wrong


@pytest.mark.thin(8)
@pytest.mark.slow
@pytest.mark.parametrize("name", RIGHT)
def test_right_programs_of_another_form_pass(name):
    refused = [
        (source, v.cause, v.case, v.rows) for source in RIGHT[name] for v in [verdict(exercise_of(name), source)] if not v.ok
    ]
    assert not refused


@pytest.mark.slow
def test_mistakes_that_were_kept_back_are_refused_and_most_are_named():
    rows = [(verdict(exercise_of(name), source), reason, name) for name, each in WRONG.items() for source, reason in each]
    assert not [(name, reason) for v, reason, name in rows if v.ok]
    missed = [(name, reason, v.mistake_id) for v, reason, name in rows if reason not in v.mistake_id]
    assert len(missed) <= 0.3 * len(rows), missed


@pytest.mark.nightly
@pytest.mark.parametrize("name", sorted(FAST))
def test_mutants_are_refused(name):
    made, passed = accepted(exercise_of(name), 30)
    assert len(passed) <= max(1, 0.3 * made), passed  # dim=-2 for dim=2 and the like are right


BAD = {  # what a program does: (source, line, words of the cause)
    "loops": ("def softmax(x, dim):\n    while True:\n        pass\n", (2, 3), "not done after 3 seconds"),
    "exits": ("import sys\ndef softmax(x, dim):\n    sys.exit(0)\n", (3,), "sys.exit"),
    "exits at once": ("import sys\nsys.exit(1)\n", (2,), "sys.exit"),
    "kills itself": ("import os\nos._exit(3)\n", (0,), "code 3"),
    "raises": ("def softmax(x, dim):\n    y = x + 1\n    return y[100]\n", (3,), "100"),
    "assigns it": ("softmax = 3\n", (0,), "softmax is not a function"),
    "renamed": ("def soft_max(x, dim):\n    return x\n", (0,), "defines no softmax"),
    "empty": ("", (0,), "defines no softmax"),
    "own exception": ("class E(BaseException): pass\ndef softmax(x, dim):\n    raise E\n", (3,), "E"),
    "interrupts": ("def softmax(x, dim):\n    raise KeyboardInterrupt\n", (2,), "KeyboardInterrupt"),
    "one argument more": ("def softmax(x, dim, more):\n    return x\n", (0, 1), "argument: 'more'"),
    "pair": ("def softmax(x, dim):\n    return x - x.max(dim, keepdim=True)\n", (2,), "'Tensor' and 'max'"),
    "attribute": ("def softmax(x, dim):\n    return x.summ(dim)\n", (2,), "AttributeError: 'Tensor' object has no attribute 'summ'"),
    "module": ("import torchh\n", (1,), "No module named 'torchh'"),
    "asserts": ("def softmax(x, dim):\n    assert False\n", (2,), "AssertionError"),
    "asks": ("def softmax(x, dim):\n    return input()\n", (2,), "EOFError"),
    "tuple": ("def softmax(x, dim):\n    return x, x\n", (1,), "is a tuple of 2 values, expected one tensor"),
    "tabs": ("def softmax(x, dim):\n\treturn x\n        return x\n", (3,), "TabError"),
    "signature": ("def softmax(x):\n    return x\n", (0, 1), "argument"),
    "absent": ("x = 1\n", (0,), "defines no softmax"),
    "syntax": ("def softmax(x, dim):\n    return (x\n", (2,), "SyntaxError"),
    "nan": ("def softmax(x, dim):\n    return x / 0 * 0\n", (1,), "NaN"),
    "shape": ("def softmax(x, dim):\n    return x.sum(dim)\n", (1,), "has shape"),
    "dtype": ("def softmax(x, dim):\n    return x.double()\n", (1,), "dtype float64"),
    "integers": ("def softmax(x, dim):\n    return x.long()\n", (1,), "dtype int64"),
    "none": ("def softmax(x, dim):\n    x.exp()\n", (1,), "is None"),
    "text": ("def softmax(x, dim):\n    return 'one'\n", (1,), "is a str"),
    "own": ("import badak\ndef softmax(x, dim):\n    return badak.softmax(x, dim)\n", (2,), "badak's own softmax"),
    "no graph": ("import badak\ndef softmax(x, dim):\n    e = (x - x.amax(dim, True)).exp().detach()\n    return e / e.sum(dim, True)\n", (2,), "no gradient"),
    "writes": ("def softmax(x, dim):\n    d = x.data\n    d -= d.amax(dim, True)\n    e = x.exp()\n    return e / e.sum(dim, True)\n", (1,), "argument x is changed"),
    "prints": ("def softmax(x, dim):\n    print('here')\n    return x\n", (1,), "wrong in"),
}  # fmt: skip


@pytest.mark.thin(9)
@pytest.mark.slow
@pytest.mark.parametrize("what", BAD)
def test_a_program_that_misbehaves_is_told_with_its_line(tmp_path, what):
    source, lines, words = BAD[what]
    file = tmp_path / "01_softmax.py"
    file.write_text(source)
    found = run(COURSE[1], file, 3.0 if what == "loops" else 30.0)
    assert not found.ok and words in found.cause, found
    assert found.fix and "\n" not in found.cause + found.fix
    assert found.line in lines, found
    assert what != "prints" or found.printed[0] == [2, "here"]
    assert FIXES.get(what, "") in found.fix


FIXES = {
    "renamed": "now it is called soft_max",
    "pair": "x.max(dim) gives values and indices",
    "attribute": "did you mean 'sum'?",
    "one argument more": "keep the names and the order",
    "tabs": "four spaces",
    "asks": "take input() out",
}


@pytest.mark.parametrize("how", ["utf-8-sig", "crlf", "utf-16", "utf-16-le", "latin-1"])
@pytest.mark.slow
def test_how_an_editor_saves_a_file_is_right_or_told(tmp_path, how):
    file = tmp_path / "20_bpe.py"
    text = HEAD + "# Prüfung\n" + COURSE[20].solution
    file.write_bytes(text.replace("\n", "\r\n").encode() if how == "crlf" else text.encode(how))
    found = run(COURSE[20], file)
    assert found.ok if how in ("utf-8-sig", "crlf") else found.cause == "the file is not UTF-8", found


@pytest.mark.slow
def test_a_print_is_one_row_and_is_not_shown_again_for_the_look_at_mistakes(tmp_path):
    file = tmp_path / "01_softmax.py"
    file.write_text("import warnings\ndef softmax(x, dim):\n    print('dim', dim)\n    warnings.warn('odd')\n    return x\n")
    found = run(COURSE[1], file)
    assert found.printed == [[3, "dim -1"]] and found.warned == [[4, "odd"]]


def test_a_wrong_value_is_called_by_its_name():
    swapped = "def matmul_backward(dy, a, b):\n    return dy @ b.mT, 0\n"
    assert verdict(COURSE[2], swapped).cause == "value 2 of 2 has shape (), expected (3, 4)"
    cut = COURSE[3].solution.replace("= q @ k", "= q.detach() @ k")
    assert verdict(COURSE[3], cut).cause.startswith("the gradient of q is wrong in ")
    untied = COURSE[16].solution.replace("self.head.weight = self.embedding.weight", "pass")
    assert verdict(COURSE[16], untied).cause == '"number of parameters" is wrong in 1 of 1 numbers'
    few = COURSE[17].solution.replace("return w, m, v", "return w")
    assert verdict(COURSE[17], few).fix.startswith("return what the text asks for")
    mask = COURSE[12].solution.replace("return ", "return 1.0 * (").rstrip() + ")\n"
    assert verdict(COURSE[12], mask).fix == "convert it at the end: x.bool()"


def test_case_labels_speak_both_languages():
    for exercise in ALL:
        for case in exercise.cases():
            text = str(case.label)
            words = re.findall(r"(?<![\w.'])[a-z]{5,}(?![\w('(]| ?=)", text)
            known = {"audit", "doctor", "badak", "count", "causal", "heads", "length"}
            assert isinstance(case.label, Both) or not set(words) - known or exercise.name == "bpe", (exercise.name, text)


def test_a_folder_keeps_files_and_progress(tmp_path):
    own = Folder(tmp_path / "course")
    file = own.start(COURSE[3])
    assert file.name == "03_attention.py"
    with pytest.raises(FileError, match="is there already\nfix: badak learn check 03"):
        own.start(COURSE[3])
    own.note(COURSE[3], hints=2)
    assert Folder(tmp_path / "course").of(COURSE[3]) == {"hints": 2}
    for text in ("[]", '{"03": {"attempts": "x"}}', '{"03": {"hints": -5}}', '{"03": {"passed": 7}}', '{"x": {}}', '{"03": 1}'):
        (tmp_path / "course" / "progress.json").write_text(text)
        with pytest.raises(FileError, match="not the progress of a course"):
            Folder(tmp_path / "course")
    with pytest.raises(FileError, match="no such file\nfix: badak learn start 04"):
        own.started(COURSE[4])
    own.file(COURSE[4]).mkdir()
    with pytest.raises(FileError, match="a folder\nfix: remove it or give it another name"):
        own.started(COURSE[4])


def test_a_report_that_was_changed_is_refused(tmp_path):
    own = Folder(tmp_path / "course")
    own.start(COURSE[3])
    made, file = report(own, "Kim"), tmp_path / "report.json"
    file.write_text(json.dumps(made))
    assert read(file)["name"] == "Kim" and made["sha256"] == sealed(made)
    file.write_text(json.dumps(made | {"done": 30}))
    with pytest.raises(FileError, match="changed after it was written"):
        read(file)
    file.write_text("{}")
    with pytest.raises(FileError, match="not a report of badak learn"):
        read(file)
    file.write_bytes(b"\xef\xbb\xbf" + json.dumps(made).encode())
    assert read(file)["name"] == "Kim"


FORGED = {
    "another format": (lambda m: m.update(format="badak learn report 2"), "badak learn report 2, and this badak reads"),
    "sum": (lambda m: m.update(done=30), "its sum is not that of its rows"),
    "no name": (lambda m: m.pop("name"), "fields are missing"),
    "row": (lambda m: m.update(rows=["x"]), "a row lacks fields"),
    "no counts": (lambda m: m["rows"][0].pop("attempts"), "a row lacks fields"),
    "program": (lambda m: m["rows"][0].update(program=5), "a row lacks fields"),
    "never checked": (lambda m: m["rows"][0].update(done=True), "exercise 03 has counts that cannot be"),
    "number": (lambda m: m["rows"][0].update(exercise="99"), "not those of the course"),
    "word": (lambda m: m["rows"][0].update(exercise="abc"), "not those of the course"),
    "twice": (lambda m: m["rows"].append(m["rows"][0]), "not those of the course"),
}


@pytest.mark.parametrize("what", FORGED)
def test_a_report_with_a_right_hash_that_badak_cannot_have_written_is_refused(tmp_path, what):
    change, words = FORGED[what]
    own = Folder(tmp_path / "course")
    own.start(COURSE[3])
    made, file = report(own, "Kim"), tmp_path / "report.json"
    change(made)
    file.write_text(json.dumps(made | {"sha256": sealed(made)}))
    with pytest.raises(FileError, match=words) as told:
        read(file)
    assert len(str(told.value).split("\n")) == 2


def test_a_report_of_another_version_is_read_and_its_version_told(tmp_path, capsys):
    own = Folder(tmp_path / "course")
    own.start(COURSE[3])
    made, file = report(own, "\x1b[31mKim\nright"), tmp_path / "report.json"
    made |= {"badak": "0.0.9"}
    file.write_text(json.dumps(made | {"sha256": sealed(made)}))
    assert main(["learn", "verify", str(file)]) == 0
    out = capsys.readouterr().out
    assert "written by badak 0.0.9; this is " in out and "\\u001b[31mKim right: 0 of 30 done" in out


def test_one_tensor_in_the_place_of_two_is_told():
    found = difference(badak.ones(2), (badak.ones(2), badak.ones(2)), 1e-4)
    assert found is not None and found.cause == "the result has 1 values, expected 2" and not found.rows


@pytest.mark.nightly
def test_each_check_takes_less_than_ten_seconds():
    done = subprocess.run(
        [sys.executable, "tools/exercise_times.py"], capture_output=True, text=True, cwd=Path(__file__).parents[3]
    )
    assert done.returncode == 0 and done.stdout.count(" right ") == len(COURSE), done.stdout + done.stderr
