"""Messages, warnings and help in the person's language."""

import os
import pickle
import subprocess
import sys
import warnings

import pytest

from badak.core import errors
from badak.core.i18n import key_of, language, message, say, tr
from badak.core.i18n.catalogue import Catalogue
from badak.core.i18n.particles import PAIRS, Hole

ENTRIES = {
    "fix:": "해결:",
    "labels from 0": "라벨은 0부터 셉니다",
    "target[{0}] = {1} but logits have {2} classes": "target[{0}]{0:이가} {1}인데 logits의 클래스는 {2}개입니다",
    "{0}: expected {1}; got {2}": "{0}: {1:이가} 와야 하는데 {2:을를} 받았습니다",
    "a list of {0}": "{0}의 리스트",
    "names": "이름",
    " and {0}": " 그리고 {0}",
    "{0} of {1}; none left": "{1} 중 {0}. 남은 것이 없습니다",
    "use {{}} as it is": "{{}} 그대로 쓰십시오",
    "{0} of {1} row{2} are empty": "{1}행 중 {0}행이 비어 있습니다",
}


@pytest.fixture
def korean():
    return Catalogue(ENTRIES)


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({}, "en"),
        ({"LANG": "ko_KR.UTF-8"}, "ko"),
        ({"LANG": "ko_KR.UTF-8", "LC_MESSAGES": "en_US.UTF-8"}, "en"),
        ({"LANG": "en_US.UTF-8", "LC_ALL": "ko_KR"}, "ko"),
        ({"LANG": "ko_KR.UTF-8", "BADAK_LANG": "en"}, "en"),
        ({"LC_ALL": "C", "BADAK_LANG": "KO"}, "ko"),
        ({"LANG": "kok_IN"}, "en"),
        ({"LANG": "fr_FR.UTF-8"}, "en"),
    ],
)
def test_badak_lang_decides_then_the_locale(monkeypatch, variables, expected):
    for name in ("BADAK_LANG", "LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert language() == expected


@pytest.mark.parametrize(
    ("made", "english", "told"),
    [
        ("labels from 0", "labels from 0", "라벨은 0부터 셉니다"),
        (tr("target[{}] = {} but logits have {} classes", 3, 3, 3), "target[3] = 3 but logits have 3 classes",
         "target[3]3이 3인데 logits의 클래스는 3개입니다"),
        (tr("{}: expected {}; got {}", "F", tr("a list of {}", tr("names")), 3), "F: expected a list of names; got 3",
         "F: 이름의 리스트가 와야 하는데 3을 받았습니다"),
        (tr("{}: expected {}; got {}", "F", "names", "names"), "F: expected names; got names",
         "F: names가 와야 하는데 names를 받았습니다"),  # a single word that is no message is somebody's name
        (tr("{}: expected {:.2f}; got {!r}", "F", 1 / 3, "a"), "F: expected 0.33; got 'a'",
         "F: 0.33이 와야 하는데 'a'를 받았습니다"),
        (tr("{} of {}", 1, 2) + "; none left", "1 of 2; none left", "2 중 1. 남은 것이 없습니다"),  # one text
        (tr("a list of {}", 1) + tr(" and {}", 2) + "", "a list of 1 and 2", "1의 리스트 그리고 2"),  # two
        ("1" + tr(" and {}", 2), "1 and 2", "1 그리고 2"),
        (tr(", ").join(["x", tr("names"), "y"]), "x, names, y", "x, 이름, y"),
        (tr("{}: no such text of {}", 1, tr("names")), "1: no such text of names", "1: no such text of 이름"),
        ("labels from 0\nmine\n\tlabels from 0", None, "라벨은 0부터 셉니다\nmine\n\t라벨은 0부터 셉니다"),
        ("use {} as it is", None, "{} 그대로 쓰십시오"),
        (tr("use {} as it is"), "use {} as it is", "{} 그대로 쓰십시오"),
        (tr("something else {{{}}}", 0), "something else {0}", "something else {0}"),
        ("", "", ""),
    ],
)  # fmt: skip
def test_a_text_is_said_again_by_its_template(korean, made, english, told):
    assert made == (made if english is None else english) and korean.said(made) == told


def test_a_hole_may_hold_anything(korean):
    value = "{x} of {0}\nfix: got; got"
    assert korean.said(tr("{}: expected {}; got {}", "f", value, value)).startswith("f: {x} of {0}")


def test_a_message_is_a_text_that_goes_through_pickle():
    made = tr("{} of {}", 1, tr("names")) + " left"
    again = pickle.loads(pickle.dumps(made))
    assert again == "1 of names left" and str(again) is again and {made: 1}["1 of names left"]
    assert again.flat() == made.flat() == ("", "1", " of ", "names", " left") and key_of(made.flat()) == "{0} of {1} left"
    assert message(made) is made and message("a").parts == ("a",)
    error = pickle.loads(pickle.dumps(errors.ShapeError(made, "fix it")))
    assert error.cause.flat() == made.flat() and error.args[0].parts[1] == made


@pytest.mark.parametrize(
    ("word", "said"),
    [("마스크", "를"), ("텐서", "를"), ("그림", "을"), ("3", "을"), ("2", "를"), ("(2, 10)", "을"), ("mask", "를"), ("dim", "을"),
     ("'token'", "을"), ("GPT", "를"), ("RNN", "을"), ("module", "을"), ("step", "을"), ("float32", "를"), ("", "를")],
)  # fmt: skip
def test_a_particle_follows_the_last_sound(word, said):
    assert f"{Hole(word):을를}" == word + said


def test_after_rieul_stands_ro():
    assert [f"{Hole(word):으로로}" for word in ("모델", "7", "값", "3", "0")] == ["모델로", "7로", "값으로", "3으로", "0으로"]
    assert set(PAIRS) >= {"은는", "이가", "을를", "과와", "으로로"}


def test_cause_fix_and_args_stay_english_and_str_speaks_korean(monkeypatch):
    monkeypatch.setattr(errors, "say", Catalogue(ENTRIES).said)
    error = errors.IndexOutOfRangeError(tr("target[{}] = {} but logits have {} classes", 3, 3, 3), "labels from 0")
    assert str(error) == "target[3]3이 3인데 logits의 클래스는 3개입니다\n해결: 라벨은 0부터 셉니다" and type(str(error)) is str
    assert error.args == ("target[3] = 3 but logits have 3 classes\nfix: labels from 0",)
    assert (error.cause, error.fix) == ("target[3] = 3 but logits have 3 classes", "labels from 0")
    error.mend(tr("use {} as it is"))
    assert str(error).endswith("\n해결: {} 그대로 쓰십시오")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        errors.warn_once("here", tr("{} of {} row{} are empty", 1, 2, "s"))
    assert str(caught[0].message) == "2행 중 1행이 비어 있습니다" and caught[0].message.args == ("1 of 2 rows are empty",)


def test_what_an_error_changes_of_a_text_is_changed_in_korean_too(monkeypatch):
    monkeypatch.setattr(errors, "say", Catalogue(ENTRIES).said)
    assert str(errors.ShapeError(tr("a list of {}", "\x1b[2J"))) == "\\u001b[2J의 리스트"
    assert len(str(errors.ShapeError(tr("a list of {}", "x" * 999)))) < 400
    monkeypatch.setattr(errors, "package", lambda: "torch")
    error = errors.ShapeError(tr("a list of {}", "badak.x"), "labels from 0")
    assert error.cause == "a list of torch.x" and str(error) == "torch.x의 리스트\n해결: 라벨은 0부터 셉니다"


def test_english_reads_no_catalogue(monkeypatch):
    monkeypatch.setenv("BADAK_LANG", "en")
    monkeypatch.delitem(sys.modules, "badak.core.i18n.catalogue", raising=False)
    assert say("fix:") == "fix:" and "badak.core.i18n.catalogue" not in sys.modules


def test_of_a_long_list_what_an_error_shows_is_written_and_no_more():
    written = []

    class Each(int):
        def __repr__(self):
            written.append(self)
            return str(int(self))

    for kind in (list, tuple):
        values = kind(map(Each, range(3000)))
        said = errors.ArgumentError(tr("expected ints; got {} and {!r}", values, values))
        assert len(written) == 4000
        assert str(said) == str(errors.ArgumentError(f"expected ints; got {values} and {values!r}"))
        written.clear()


@pytest.mark.slow
def test_a_program_speaks_the_language_of_its_locale():
    program = "import badak; badak.zeros(2, 3) @ badak.zeros(2, 3)"
    told = {}
    for lang in ("ko", "en"):
        environment = {**os.environ, "BADAK_LANG": lang, "PYTHONIOENCODING": "utf-8"}
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, env=environment, check=False)
        told[lang] = done.stderr.decode().splitlines()[-1]
    assert told["en"].startswith("fix: ") and told["ko"].startswith("해결: ")
